import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

extension StoredEntities {
    /// What the store has of a job's entities, by their names, for an import whose model is inferred.
    package static func continued(_ job: StoredJob, _ database: Database) throws -> [String: ExistingEntity] {
        var stored: [String: ExistingEntity] = [:]
        for name in Set(job.sources.flatMap(\.entities)) { stored[name] = try continued(name, database) }
        return stored
    }

    /// What the store has of an entity, for an import whose model is inferred.
    ///
    /// - Parameter name: the entity's, or its table's.
    /// - Returns: nil where there is no such table, or one that inference has made and that never had a row: of such a
    ///   table nothing is known.
    package static func continued(_ name: String, _ database: Database) throws -> ExistingEntity? {
        let all = try Self.described(database)
        let described =
            all.first { BytewiseString($0.entity.name) == BytewiseString(name) }
            ?? all.first { ExistingEntity.folded($0.entity.table) == ExistingEntity.folded(name) }
        var entity = described?.entity ?? EntityDescription(name: name, attributes: [])
        entity.identifier = described?.identifier ?? []
        let table = try StoredTable(entity.table, database, readsRows: true)
        guard !table.columns.isEmpty else { return nil }
        if described?.isGiven != true, try StoreSchema.isStillEmpty(entity.table, database) { return nil }
        let nesting = ExistingEntityLinks(of: entity, among: all.map(\.entity))
        var stored = try continued(entity, named: name, described, table.columns, nesting, all, database)
        stored.isForeign = try !StoreSchema.hasMade(entity.table, database)
        if stored.isForeign, described?.isGiven != true { stored.keys = table.rowKeys }
        stored.isGiven = described?.isGiven ?? false
        return stored
    }

    private static func continued(
        _ entity: EntityDescription,
        named name: String,
        _ described: DescribedEntity?,
        _ columns: [StoredColumn],
        _ nesting: ExistingEntityLinks,
        _ all: [DescribedEntity],
        _ database: Database
    ) throws -> ExistingEntity {
        let links = nesting.links(of: entity)
        let known = Set(entity.attributes.map { ExistingEntity.folded($0.column) } + links.map(ExistingEntity.folded))
        let writable = columns.filter { column in
            !column.isComputed && !links.contains { ExistingEntity.folded($0) == ExistingEntity.folded(column.name) }
        }
        let own = writable.filter { !known.contains(ExistingEntity.folded($0.name)) }
        var continued = ExistingEntity(entity: self.entity(entity, with: writable))
        continued.entity.name = name
        continued.required = described?.required ?? []
        continued.undescribed = Set(own.map { ExistingEntity.folded($0.name) })
        for attribute in continued.entity.attributes where attribute.type == .binary && attribute.formats.isEmpty {
            let column = ExistingEntity.folded(attribute.column)
            let values = columns.first { ExistingEntity.folded($0.name) == column }?.rows?.bytes ?? []
            // Nothing is decided yet of a column whose values were all null.
            let isOpen =
                try described?.isGiven != true && (values.isEmpty || !StoreSchema.hasMade(entity.table, database))
            guard continued.undescribed.contains(column) || isOpen else { continue }
            continued.bytes[column] = StoredBytes(values)
        }
        continued.computed = columns.filter(\.isComputed).map(\.name)
        continued.links = links
        continued.isKeyed = !entity.identifier.isEmpty || nesting.hasRowID(entity)
        continued.obstacle = nesting.obstacle
        guard continued.obstacle == nil else { return continued }
        for relationship in entity.relationships {
            let name = BytewiseString(relationship.destination)
            guard let child = all.first(where: { BytewiseString($0.entity.name) == name }) else { continue }
            let columns = try StoredTable(child.entity.table, database, readsRows: true).columns
            continued.children[name] =
                try columns.isEmpty
                ? ExistingEntity(entity: child.entity)
                : self.continued(
                    child.entity,
                    named: child.entity.name,
                    child,
                    columns,
                    nesting,
                    all,
                    database
                )
        }
        return continued
    }

    /// The attributes of a table that a model does not have, for an import that replaces objects as a whole.
    ///
    /// They read nothing: an object that is inserted or replaced gets their defaults, or NULL. A column whose default the
    /// table works out is left to it, and so are those of its primary key.
    package static func unread(besides entity: EntityDescription, _ database: Database) throws -> [AttributeDescription]
    {
        let own = Set(entity.attributes.map { ExistingEntity.folded($0.column) })
        let columns = try StoredTable(entity.table, database).columns.filter {
            !$0.isComputed && !$0.isKey && !own.contains(ExistingEntity.folded($0.name))
        }
        guard !columns.isEmpty else { return [] }
        let table = ExistingEntity.folded(entity.table)
        let described = try Self.described(database).first { ExistingEntity.folded($0.entity.table) == table }?.entity
        let known = Set(described?.attributes.map { ExistingEntity.folded($0.column) } ?? [])
        let stored = self.entity(described ?? EntityDescription(name: entity.name, attributes: []), with: columns)
        return zip(stored.attributes, columns).compactMap { attribute, column in
            var attribute = attribute
            attribute.isOptional = true
            attribute.isGenerated = false
            attribute.transformers = []
            attribute.validation = AttributeDescription.Validation()
            if known.contains(ExistingEntity.folded(column.name)) { return attribute }
            guard let text = column.defaultText else { return attribute }
            guard let value = DeclaredType.literal(text) else { return nil }
            if value == .null { return attribute }
            attribute.defaultValue = value
            // What is of another kind than the column is left to SQLite.
            return (try? attribute.coerce(value)) == nil ? nil : attribute
        }
    }
}

extension ColumnSample {
    /// The values of a column in the first and the last rows.
    init(of column: String, in table: String, order: String?, _ database: Database) throws {
        // Not more rows than these are read, also where there is nothing but nulls.
        func part(_ order: String) -> String {
            let rows = "SELECT \(column.quotedIdentifier) AS v FROM \(table.quotedIdentifier)\(order) LIMIT 1000"
            return "SELECT * FROM (SELECT v FROM (\(rows)) WHERE v IS NOT NULL LIMIT 100)"
        }
        let last = order.map { " UNION ALL " + part(" ORDER BY \($0) DESC") } ?? ""
        let values = try DatabaseValue.fetchAll(database, sql: part("") + last)
        self.init(values.map { CoercedJSON($0) })
    }
}
