import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// The entities of one of the stores that are compared, and how they are kept there.
package struct ComparedSchema {
    /// An attribute in its column.
    package struct Attribute {
        package let name: String
        package let column: String
        /// Nil for values of any kind.
        package let description: AttributeDescription?
    }

    /// A relationship to one object, in columns of the row.
    struct ToOne {
        let name: String
        /// In the order of the destination's identifier.
        let columns: [String]
        let destination: String
    }

    /// What makes the destination of a to-one the owner of its row.
    struct Ownership {
        /// The relationship's name at the owner.
        let name: String
        /// The to-one that leads to the owner, among `toOnes`.
        let toOne: String
        let isToMany: Bool
        /// The column with the index of the row in the owner's list.
        let position: String?
    }

    /// A many-to-many in a table of its own.
    package struct Join {
        package let name: String
        package let table: String
        package let entity: String
        package let columns: [String]
        package let destination: String
        package let destinationColumns: [String]
        package let position: String?
    }

    package struct Entity {
        package var name: String
        /// Its own name, and those of the entities that it inherits from.
        var lineage: [String]
        package var table: String
        /// The columns of the identifier with their names; empty for rows that are parts of their owner.
        package var identifier: [Attribute] = []
        /// True if an index keeps the identifier unique, and whether it may be null all the same.
        package var isUnique = false
        var mayBeNull = true
        /// What its table's row ids are called; nil where they have no name, or where there are none.
        package var rowID: String?
        /// All columns but those of references, and those of the identifier.
        package var attributes: [Attribute] = []
        var toOnes: [ToOne] = []
        var ownerships: [Ownership] = []
        /// The column by which others refer to rows without identifier; nil where none do.
        var rowKey: String?
        var together: [[String]] = []
        /// For predicates.
        var fetched: FetchedEntity

        package func attribute(_ name: String) -> Attribute? {
            attributes.first { BytewiseString($0.name) == BytewiseString(name) }
        }
    }

    package let store: String
    package var entities: [Entity] = []
    package var joins: [Join] = []

    package func entity(_ name: String) -> Entity? {
        entities.first { BytewiseString($0.name) == BytewiseString(name) }
    }

    /// Reads it, as one transaction sees the store.
    ///
    /// - Parameters:
    ///   - identifiers: those that were asked for, by entity.
    package init(_ store: String, _ database: Database, identifiers: [String: [String]]) throws {
        self.store = store
        try BookkeepingSchema.checkFormat(database, store: store)
        let graph = try StoredGraph(database)
        var described = try addDescribed(graph, database, identifiers)
        if let layout = graph.layout {
            described.formUnion(layout.tables.map { ExistingEntity.folded($0.name) })
        }
        try addPlain(besides: described, database, identifiers)
        for index in entities.indices { try complete(&entities[index], database) }
    }

    /// Looks for what the identifier's index is.
    private func complete(_ entity: inout Entity, _ database: Database) throws {
        guard !entity.identifier.isEmpty else { return }
        let table = try StoredTable(entity.table, database)
        entity.isUnique = table.hasKey(entity.identifier.map(\.column))
        entity.mayBeNull = !entity.identifier.allSatisfy { table.isNeverNull($0.column) }
        entity.rowID = table.rowIDName
    }
}
