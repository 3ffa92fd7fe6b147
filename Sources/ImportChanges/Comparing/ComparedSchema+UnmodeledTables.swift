import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Tables that no model describes: a table is an entity, and a column an attribute.
extension ComparedSchema {
    private struct Table {
        let stored: StoredTable
        let foreignKeys: [StoredForeignKey]

        var name: String { stored.name }
    }

    /// Adds all tables but these, in the order in which they were made.
    mutating func addPlain(
        besides described: Set<BytewiseString>,
        _ database: Database,
        _ identifiers: [String: [String]]
    ) throws {
        let tables = try Self.tables(database).filter { !described.contains(ExistingEntity.folded($0.name)) }
        let names = Set(tables.map { ExistingEntity.folded($0.name) })
        var isJoin: Set<BytewiseString> = []
        for table in tables where Self.isJoin(table, names) { isJoin.insert(ExistingEntity.folded(table.name)) }
        for table in tables where !isJoin.contains(ExistingEntity.folded(table.name)) {
            entities.append(try plain(table.stored, identifiers))
        }
        for table in tables { try addLinks(of: table, isJoin: isJoin.contains(ExistingEntity.folded(table.name))) }
        nameOwnedLists(names)
    }

    private static func tables(_ database: Database) throws -> [Table] {
        try TrackedTable.names(database).map { name in
            Table(
                stored: try StoredTable(name, database, readsRows: true),
                foreignKeys: try StoredForeignKey.all(of: name, database)
            )
        }
    }

    /// True if a table has two foreign keys and nothing else.
    private static func isJoin(_ table: Table, _ names: Set<BytewiseString>) -> Bool {
        guard table.foreignKeys.count == 2,
            table.foreignKeys.allSatisfy({ names.contains(ExistingEntity.folded($0.parent)) })
        else { return false }
        let columns = table.foreignKeys.flatMap(\.columns).folded
        return Set(columns).count == columns.count && Set(columns) == Set(table.stored.ownColumns.map(\.name).folded)
    }

    private func plain(_ table: StoredTable, _ identifiers: [String: [String]]) throws -> Entity {
        let stored = table.ownColumns
        let description = EntityDescription(
            name: table.name,
            attributes: stored.map(\.attribute)
        )
        var entity = Entity(
            name: table.name,
            lineage: [table.name],
            table: table.name,
            fetched: FetchedEntity(description)
        )
        entity.attributes = stored.map { Attribute(name: $0.name, column: $0.name, description: nil) }
        let columns = identifiers[table.name] ?? table.identifier ?? []
        entity.identifier = try Self.identifier(columns, of: entity, store)
        return entity
    }

    /// The attributes of an identifier.
    package static func identifier(_ names: [String], of entity: Entity, _ store: String) throws -> [Attribute] {
        try names.map { name in
            let found =
                entity.attribute(name)
                ?? entity.attributes.first { ExistingEntity.folded($0.column) == ExistingEntity.folded(name) }
            guard let found else {
                throw ImportError(
                    .unknownAttribute,
                    at: store,
                    "\(entity.name) has no attribute \(name) that could identify its objects",
                    advice: "It has: \(entity.attributes.map(\.name).joined(separator: ", ").printable)."
                )
            }
            return found
        }
    }

    private mutating func addLinks(of table: Table, isJoin: Bool) throws {
        let targets = table.foreignKeys.map { key -> (key: StoredForeignKey, entity: Entity, columns: [String])? in
            let folded = ExistingEntity.folded(key.parent)
            guard let parent = entities.first(where: { ExistingEntity.folded($0.table) == folded }),
                let columns = Self.columns(of: key, to: parent)
            else { return nil }
            return (key, parent, columns)
        }
        if isJoin {
            guard let first = targets[0], let second = targets[1] else { return }
            // It is of the entity that comes first.
            let order = entities.map(\.name)
            let isSwapped =
                (order.firstIndex(of: first.entity.name) ?? 0) > (order.firstIndex(of: second.entity.name) ?? 0)
            let (own, other) = isSwapped ? (second, first) : (first, second)
            joins.append(
                Join(
                    name: table.name,
                    table: table.name,
                    entity: own.entity.name,
                    columns: own.columns,
                    destination: other.entity.name,
                    destinationColumns: other.columns,
                    position: nil
                )
            )
            return
        }
        guard let place = entities.firstIndex(where: { $0.table == table.name }) else { return }
        for case (let key, let parent, let columns)? in targets {
            var name = columns.count == 1 ? columns[0] : parent.name
            let taken = Set(entities[place].toOnes.map(\.name))
            var number = 2
            while taken.contains(name) { (name, number) = ("\(parent.name)_\(number)", number + 1) }
            entities[place].toOnes.append(ToOne(name: name, columns: columns, destination: parent.name))
            guard key.onDelete == "CASCADE" else { continue }
            entities[place].ownerships.append(
                Ownership(name: table.name, toOne: name, isToMany: true, position: nil)
            )
        }
    }

    /// Gives a list of owned objects a name that its owner has for no other relationship.
    private mutating func nameOwnedLists(_ tables: Set<BytewiseString>) {
        var taken: [String: Set<String>] = [:]
        for entity in entities { taken[entity.name] = Set(entity.toOnes.map(\.name)) }
        for join in joins {
            taken[join.entity]?.insert(join.name)
            taken[join.destination]?.insert(join.name)
        }
        for child in entities.indices where tables.contains(ExistingEntity.folded(entities[child].table)) {
            entities[child].ownerships = entities[child].ownerships.map { ownership in
                let owner = entities[child].toOnes.first { $0.name == ownership.toOne }?.destination ?? ""
                var (name, number) = (ownership.name, 2)
                while taken[owner, default: []].contains(name) {
                    (name, number) = ("\(ownership.name)_\(number)", number + 1)
                }
                taken[owner, default: []].insert(name)
                return Ownership(name: name, toOne: ownership.toOne, isToMany: true, position: nil)
            }
        }
    }

    /// The columns of a foreign key in the order of the identifier that it refers to; nil where it refers to something else.
    private static func columns(of key: StoredForeignKey, to parent: Entity) -> [String]? {
        let identifier = parent.identifier.map { ExistingEntity.folded($0.column) }
        guard identifier.count == key.columns.count, !identifier.isEmpty else { return nil }
        let parents = key.parentColumns.folded
        let columns = identifier.compactMap { column in parents.firstIndex(of: column).map { key.columns[$0] } }
        return columns.count == identifier.count ? columns : nil
    }
}
