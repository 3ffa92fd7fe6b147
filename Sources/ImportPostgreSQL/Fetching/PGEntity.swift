import ImportModel
import Importer

/// An entity of a schema as it is read: with an attribute for each column of its table, in the columns' order.
struct PGEntity: Sendable {
    let description: EntityDescription
    /// The column of each attribute.
    let columns: [PGTableColumn]
    /// What holds of the rows that are its own, in SQL; nil where all of its table are.
    let condition: String?

    /// The entities whose tables are there, as all jobs' models together have them, the last that was used first to count; in the
    /// order in which their tables were first described.
    ///
    /// - Throws: `ImportError` where what the schema keeps cannot be read; `PGError`.
    static func all(_ connection: PGConnection, label: String) throws -> [PGEntity] {
        let models = try BookkeepingSchema.isThere(connection) ? StoredJob.models(connection, label: label) : []
        var tables: [BytewiseString] = []
        var described: [BytewiseString: EntityDescription] = [:]
        for entity in models.flatMap(\.entities) {
            let table = BytewiseString(entity.table)
            if let earlier = described[table] {
                described[table] = entity.continuing(earlier)
            } else {
                tables.append(table)
                described[table] = entity
            }
        }
        let layout = models.last { !$0.isFlat }.flatMap { try? ModelLayout($0) }
        return try tables.compactMap { described[$0] }.flatMap { entity -> [PGEntity] in
            let columns = try PGTableColumn.all(of: entity.table, connection)
            if columns.isEmpty { return [] }
            guard let layout, let home = layout.inheritingHome(ofTable: entity.table) else {
                return [PGEntity(entity, columns)]
            }
            return inheriting(home, entity, columns, layout)
        }
    }

    /// The entities whose rows are in one table, its own first, with all that they inherit.
    private static func inheriting(
        _ home: Int,
        _ described: EntityDescription,
        _ stored: [PGTableColumn],
        _ layout: ModelLayout
    ) -> [PGEntity] {
        let name = BytewiseString(layout.table(of: home))
        guard let table = layout.tables.first(where: { BytewiseString($0.name) == name }) else {
            return [PGEntity(described, stored)]
        }
        var whole = described.completed(by: table)
        whole.identifier = layout.hierarchy.identifier(of: home)
        whole.relationships = layout.relationships(of: home).map { layout.relationships[$0].description }
        guard let column = layout.entityColumn(of: home) else { return [PGEntity(whole, stored)] }
        let names = zip(PGColumn.all(of: whole).map(\.name), whole.attributes)
        return layout.hierarchy.subentities(of: home).sorted { $0 == home && $1 != home }.map { index in
            if index == home { return PGEntity(whole, stored) }
            var entity = whole
            entity.name = layout.entities[index].name
            entity.relationships = layout.relationships(of: index).map { layout.relationships[$0].description }
            let subentities = layout.hierarchy.subentities(of: index)
            let own = Set(
                subentities.flatMap { layout.rows(of: $0).entity.attributes }.map { $0.column.asciiLowercased }
            )
            let others = names.filter { !own.contains($1.column.asciiLowercased) }.map { BytewiseString($0.0) }
            let literals = subentities.map { "'\(layout.entities[$0].name.replacing("'", with: "''"))'" }
            return PGEntity(
                entity,
                stored.filter { !others.contains(BytewiseString($0.name)) },
                where: "\(PGNames.quoted(PGNames.fitting(column))) IN (\(literals.joined(separator: ", ")))"
            )
        }
    }

    private init(_ described: EntityDescription, _ stored: [PGTableColumn], where condition: String? = nil) {
        self.condition = condition
        var known: [BytewiseString: AttributeDescription] = [:]
        for column in PGColumn.all(of: described) { known[BytewiseString(column.name)] = column.attribute }
        var names: Set<BytewiseString> = []
        var description = described
        var columns = stored
        description.attributes = stored.enumerated().map { index, column in
            var attribute = AttributeDescription(name: column.name, type: column.type.attribute, isOptional: true)
            if let found = known[BytewiseString(column.name)], column.type.holds(PGType(found)) {
                attribute = found
                columns[index].type = ReadType(PGType(found))
            }
            if column.type == .timestamp { attribute.isWallClock = true }
            // Two models may give one name to several columns.
            while !names.insert(BytewiseString(attribute.name)).inserted { attribute.name += "_" }
            return attribute
        }
        if !description.identifier.allSatisfy({ names.contains(BytewiseString($0)) }) { description.identifier = [] }
        description.indexes.removeAll { !$0.allSatisfy { names.contains(BytewiseString($0)) } }
        self.description = description
        self.columns = columns
    }

    /// The name of its table with the condition that its rows meet, as they stand behind `FROM`.
    ///
    /// - Parameter predicate: what else they meet; nil for nothing.
    func source(_ predicate: String? = nil) -> String {
        let conditions = [condition, predicate].compactMap(\.self)
        return PGTables.quoted(description.table)
            + (conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))")
    }

    /// The columns of the attributes with these names.
    ///
    /// - Throws: `ImportError` where there is no such attribute.
    func columns(named names: [String]?) throws -> [PGAttribute] {
        guard let names else {
            return zip(description.attributes, columns).map { PGAttribute(attribute: $0, column: $1) }
        }
        return try names.map { name in
            do throws(UnknownAttribute) {
                return try term(named: name)
            } catch {
                throw name == Self.rowID ? ImportError(error) : ImportError(noAttribute: name, in: description)
            }
        }
    }

    private static let rowID = "rowid"

    /// What a name means in a predicate or a sort.
    func term(named name: String) throws(UnknownAttribute) -> PGAttribute {
        if let place = description.attributes.firstIndex(where: { BytewiseString($0.name) == BytewiseString(name) }) {
            return PGAttribute(attribute: description.attributes[place], column: columns[place])
        }
        let names = description.attributes.map(\.name)
        let list = "It has: \(names.prefix(30).joined(separator: ", "))\(names.count > 30 ? ", …" : "")."
        guard name != Self.rowID else {
            throw UnknownAttribute("rows of a server have no row id", advice: "Use an attribute. \(list)")
        }
        let isPath = description.relationships.contains { name == $0.name || name.hasPrefix($0.name + ".") }
        guard !isPath else {
            throw UnknownAttribute(
                "relationships cannot be followed on a server yet",
                advice: "Use an attribute. \(list)"
            )
        }
        throw UnknownAttribute(
            "\(description.name) has no attribute \(name)\(NameSuggestion.question(for: name, among: names))",
            advice: list
        )
    }
}

extension ModelLayout {
    /// The entity whose table has a name, where it inherits or others that do have their rows there; nil for none.
    fileprivate func inheritingHome(ofTable name: String) -> Int? {
        entities.indices.first { index in
            home(of: index) == index && BytewiseString(entities[index].table) == BytewiseString(name) && hasTable(index)
                && (isShared(index) || hierarchy.chain(of: index).count > 1)
        }
    }
}

extension EntityDescription {
    /// The same with an attribute for each column of its table, but the one that numbers its rows.
    fileprivate func completed(by table: TableDescription) -> EntityDescription {
        var entity = self
        entity.attributes = table.columns.filter { $0.role != .rowID }.map { column in
            var attribute = column.attribute
            guard column.role != .attribute else { return attribute }
            (attribute.name, attribute.column) = (column.name, column.name)
            return attribute
        }
        return entity
    }
}
