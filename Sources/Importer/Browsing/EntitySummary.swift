import GRDB
import ImportModel

/// An entity of a store for somebody who looks through it: what its model says, and what a table has besides.
package struct EntitySummary: Sendable {
    /// A relationship, as it is kept in the store.
    package struct Link: Sendable {
        /// What the model says.
        package let relationship: RelationshipDescription
        /// Whether a to-many keeps its order.
        package let isOrdered: Bool
        /// Whether its destinations belong to the object.
        package let isOwned: Bool
        /// What happens to the destinations of an object that is deleted.
        package let deleteRule: RelationshipDescription.DeleteRule
    }

    /// The entity, with an attribute for each column.
    package let entity: EntityDescription
    /// How many records it has.
    package let count: Int64
    /// The names of the attributes that an index begins with, or that are the row id.
    package let indexed: Set<String>
    /// Its relationships, inherited ones first.
    package let links: [Link]

    /// Whether it has this name, or this table, byte by byte.
    package func isCalled(_ name: String) -> Bool {
        ExactText(entity.name) == ExactText(name)
            || ExactText(entity.table.asciiLowercased) == ExactText(name.asciiLowercased)
    }
}

extension StoreReader {
    /// All entities of the store.
    ///
    /// - Parameter interruption: ends the reading.
    /// - Throws: `ImportError` when the store cannot be read.
    package func entitySummaries(_ interruption: Interruption) throws -> [EntitySummary] {
        try read(interruption) { database in
            let graph = try graph(database)
            return try graph.entities.map { stored in
                let entity = stored.description
                var first = Set(
                    try IndexDefinition.all(of: entity.table, database).compactMap { $0.columns.first?.name }
                        .map(ContinuedEntity.folded)
                )
                if let rowID = try StoreSchema.rowIDColumn(of: entity.table, database) {
                    first.insert(ContinuedEntity.folded(rowID))
                }
                let indexed = entity.attributes.filter { first.contains(ContinuedEntity.folded($0.column)) }.map(\.name)
                return EntitySummary(
                    entity: entity,
                    count: try count(of: FetchedEntity(stored, in: graph), database),
                    indexed: Set(indexed),
                    links: Self.links(of: stored, graph)
                )
            }
        }
    }

    private func count(of entity: FetchedEntity, _ database: Database) throws -> Int64 {
        let all = SQLText("SELECT count(*) FROM \(entity.description.table.quotedIdentifier)")
        return try RowStatement.number(database, entity.condition.map { all + SQLText(" WHERE ") + $0 } ?? all) ?? 0
    }

    private static func links(of entity: StoredGraph.Entity, _ graph: StoredGraph) -> [EntitySummary.Link] {
        guard let layout = graph.layout, let index = entity.index else { return [] }
        return layout.relationships(of: index).map { place in
            let placement = layout.relationships[place]
            return EntitySummary.Link(
                relationship: placement.description,
                isOrdered: placement.isOrdered,
                isOwned: placement.shape == .ownedDestination || placement.deleteRule == .cascade,
                deleteRule: placement.deleteRule
            )
        }
    }
}
