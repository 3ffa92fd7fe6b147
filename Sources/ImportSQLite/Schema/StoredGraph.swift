import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The entities of a store as they are read, and how its models relate them to one another.
package struct StoredGraph: Sendable {
    /// An entity, and which rows of its table are its own.
    package struct Entity: Sendable {
        package let description: EntityDescription
        /// Its index in the layout; nil where it relates to no other entity.
        package let index: Int?
        /// The indexes of the attributes that hold nothing but links: references, positions, row ids as keys.
        package let links: Set<Int>
        /// Which rows are its own; nil for all rows of its table.
        package let subentities: Subentities?

        package init(
            _ description: EntityDescription,
            index: Int? = nil,
            links: Set<Int> = [],
            subentities: Subentities? = nil
        ) {
            self.description = description
            self.index = index
            self.links = links
            self.subentities = subentities
        }

        /// The attributes that are the record's own.
        package var ownAttributes: [AttributeDescription] {
            description.attributes.indices.filter { !links.contains($0) }.map { description.attributes[$0] }
        }
    }

    /// Some of the entities whose rows are in one table.
    package struct Subentities: Sendable {
        /// The column with the name of each row's entity.
        package let column: String
        package let names: [String]
    }

    /// In the order in which their tables were first described; those that share a table follow its own.
    package let entities: [Entity]
    /// Where the models keep their links; nil where no entity relates to another.
    package let layout: ModelLayout?
    /// The columns of each table of the layout, all in lower case.
    private let columns: [BytewiseString: Set<BytewiseString>]
    /// The entities of the layout among `entities`.
    private let places: [Int: Int]

    /// A graph of entities that do not relate to one another.
    package init(_ entities: [Entity] = []) {
        self.entities = entities
        layout = nil
        columns = [:]
        places = [:]
    }

    /// The tables of a database that no import has written.
    package init(ofTables database: Database) throws {
        self.init(
            try TrackedTable.names(database).map { name in
                let columns = try StoredTable(name, database, readsRows: true).columns
                return Entity(StoredEntities.entity(EntityDescription(name: name, attributes: []), with: columns))
            }
        )
    }

    /// Reads it, as one transaction sees the store.
    package init(_ database: Database) throws {
        let layout = try StoredEntities.layout(database)
        let tables = layout?.tables ?? []
        var columns: [BytewiseString: Set<BytewiseString>] = [:]
        for table in tables {
            let stored = try StoredTable(table.name, database).columns
            columns[ExistingEntity.folded(table.name)] = Set(stored.map { ExistingEntity.folded($0.name) })
        }
        var entities: [Entity] = []
        for described in try StoredEntities.described(database) {
            let stored = try StoredTable(described.entity.table, database, readsRows: true).columns
            guard !stored.isEmpty else { continue }
            let name = ExistingEntity.folded(described.entity.table)
            guard let layout, let table = tables.first(where: { ExistingEntity.folded($0.name) == name }),
                let home = layout.home(ofTable: name)
            else {
                entities.append(Entity(StoredEntities.entity(described.entity, with: stored)))
                continue
            }
            let whole = StoredEntities.entity(described.entity.completed(by: table), with: stored)
            entities.append(Self.entity(home, whole, table, layout))
            for index in layout.hierarchy.subentities(of: home) where index != home && layout.home(of: index) == home {
                entities.append(Self.entity(index, whole, table, layout))
            }
        }
        self.entities = entities
        self.layout = layout
        self.columns = columns
        var places: [Int: Int] = [:]
        for (place, entity) in entities.enumerated() {
            if let index = entity.index { places[index] = place }
        }
        self.places = places
    }

    /// An entity of a layout.
    package func entity(at index: Int) -> Entity? { places[index].map { entities[$0] } }

    /// True if the store has these columns of a table.
    package func has(_ names: [String], of table: String) -> Bool {
        guard let known = columns[ExistingEntity.folded(table)] else { return false }
        return names.allSatisfy { known.contains(ExistingEntity.folded($0)) }
    }

    /// An entity of a layout, out of all columns of the table that its rows are in.
    private static func entity(
        _ index: Int,
        _ whole: EntityDescription,
        _ table: TableDescription,
        _ layout: ModelLayout
    ) -> Entity {
        let subentities = layout.hierarchy.subentities(of: index)
        var entity = whole
        if layout.home(of: index) != index {
            let row = layout.rows(of: index)
            entity.name = layout.entities[index].name
            entity.userInfo = layout.entities[index].userInfo
            entity.records = layout.entities[index].records
            let own = Set(
                subentities.flatMap { layout.rows(of: $0).entity.attributes }.map { ExistingEntity.folded($0.column) }
                    + [layout.rowIDColumn(of: index)].compactMap { $0.map(ExistingEntity.folded) }
            )
            entity.attributes = whole.attributes.filter { attribute in
                let column = ExistingEntity.folded(attribute.column)
                return own.contains(column) || table.column(attribute.column) == nil
            }
            entity.isAbstract = row.entity.isAbstract
        }
        entity.relationships = layout.relationships(of: index).map { layout.relationships[$0].description }
        entity.identifier = layout.identifier(of: index, in: entity)
        let links = entity.attributes.indices.filter { place in
            switch table.column(entity.attributes[place].column)?.role {
            case .reference, .position, .rowID: true
            case .entity: subentities.count == 1
            case .attribute, nil: false
            }
        }
        let isPart = layout.home(of: index) != index
        return Entity(
            entity,
            index: index,
            links: Set(links),
            subentities: isPart
                ? layout.entityColumn(of: index).map { column in
                    Subentities(column: column, names: subentities.map { layout.entities[$0].name })
                } : nil
        )
    }
}

extension StoredEntities {
    /// Where all models together whose entities relate to one another keep their objects and links; nil if there is none.
    ///
    /// Of models that say something of the same entity, the last one that was used counts. What it does not mention of an earlier
    /// one's relationships stays, where it needs nothing of the other side.
    package static func layout(_ database: Database) throws -> ModelLayout? {
        guard try database.hasTable("_import_job") else { return nil }
        let texts = try String.fetchAll(
            database,
            sql: """
                SELECT content FROM (
                    SELECT content, max(\(StoredJob.newest(isGiven: false)), \(StoredJob.newest(isGiven: true))) AS last
                    FROM _import_document WHERE kind = 'model' AND last > 0
                    \(MigrationHistory.model("UNION ALL SELECT model.content, migration.job", database))
                ) ORDER BY last
                """,
            arguments: ["job": nil, "last": MigrationHistory.lastJob(database)]
        )
        // A model that cannot be read is none, for readers; `verify` says so.
        let models = texts.compactMap { try? ModelDescription(stored: $0) }.filter { !$0.isFlat }
        guard let last = models.last else { return nil }
        var all = ModelDescription(entities: [])
        for model in models { all.add(model) }
        // Models of different jobs may contradict one another.
        return (try? ModelLayout(importing: all)) ?? (try? ModelLayout(importing: last))
    }
}

extension ModelDescription {
    fileprivate mutating func add(_ later: ModelDescription) {
        for var entity in later.entities {
            guard let place = entities.firstIndex(where: { BytewiseString($0.name) == BytewiseString(entity.name) })
            else {
                entities.append(entity)
                continue
            }
            entity.relationships += entities[place].relationships.filter { earlier in
                earlier.inverse == nil
                    && !entity.relationships.contains { BytewiseString($0.name) == BytewiseString(earlier.name) }
            }
            entities[place] = entity
        }
    }
}

extension EntityDescription {
    /// The same with an attribute for each column of its table: inherited ones and those of subentities, and what links rows.
    fileprivate func completed(by table: TableDescription) -> EntityDescription {
        var entity = self
        var known = Set(attributes.map { ExistingEntity.folded($0.column) })
        for column in table.columns where known.insert(ExistingEntity.folded(column.name)).inserted {
            var attribute = column.attribute
            if column.role != .attribute {
                attribute.name = column.name
                attribute.column = column.name
                attribute.isOptional = true
            }
            entity.attributes.append(attribute)
        }
        return entity
    }
}

extension ModelLayout {
    /// The entity whose table has a name, in lower case.
    package func home(ofTable name: BytewiseString) -> Int? {
        entities.indices.first { index in
            hasTable(index) && home(of: index) == index && ExistingEntity.folded(entities[index].table) == name
        }
    }

    /// The names of the attributes that identify a row of an entity; empty for none.
    fileprivate func identifier(of entity: Int, in description: EntityDescription) -> [String] {
        guard !hierarchy.identifier(of: entity).isEmpty else { return [] }
        let names = key(of: entity).map { column in
            description.attributes.first {
                ExistingEntity.folded($0.column) == ExistingEntity.folded(column.name)
            }?.name
        }
        return names.contains(nil) ? [] : names.compactMap(\.self)
    }
}
