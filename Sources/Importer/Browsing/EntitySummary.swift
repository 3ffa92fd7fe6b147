import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// An entity of a store for somebody who looks through it: what its model says, and what a table has besides.
package struct EntitySummary: Sendable {
    /// A relationship, as it is kept in the store.
    package struct Link: Sendable {
        /// What the model says.
        package let relationship: RelationshipDescription
        /// True if a to-many keeps its order.
        package let isOrdered: Bool
        /// True if its destinations belong to the object.
        package let isOwned: Bool
        /// What happens to the destinations of an object that is deleted.
        package let deleteRule: RelationshipDescription.DeleteRule
        /// How many references led nowhere when the last job ended.
        package let unresolved: Int64
        /// How many links there are, those that lead nowhere included; nil where they are not counted.
        package var count: Int64?
    }

    /// The entity, with an attribute for each column.
    package let entity: EntityDescription
    /// How many records it has.
    package let count: Int64
    /// The newest job, and how many of these records are its own so far; nil where there is no job.
    package let imported: (job: Int64, count: Int64)?
    /// The names of the attributes that an index begins with, or that are the row id.
    package let indexed: Set<String>
    /// Its relationships, inherited ones first.
    package var links: [Link]

    /// True if it has this name, or this table, byte by byte.
    package func isCalled(_ name: String) -> Bool {
        BytewiseString(entity.name) == BytewiseString(name)
            || BytewiseString(entity.table.asciiLowercased) == BytewiseString(name.asciiLowercased)
    }
}

extension StoreReader {
    /// All entities of the store.
    ///
    /// - Throws: `ImportError` when the store cannot be read.
    package func entitySummaries(_ interruption: Interruption) throws -> [EntitySummary] {
        try read(interruption) { database in
            let graph = try graph(database)
            let unresolved = try Self.unresolved(database)
            let imported = try Self.imported(database)
            return try graph.entities.map { stored in
                let entity = stored.description
                let table = try StoredTable(entity.table, database)
                let first = Set(
                    (table.indexes.filter { !$0.isPartial }.compactMap { $0.columns.first??.name }
                        + [table.rowIDColumn].compactMap(\.self)).folded
                )
                let indexed = entity.attributes.filter { first.contains(ExistingEntity.folded($0.column)) }.map(\.name)
                return EntitySummary(
                    entity: entity,
                    count: try count(of: FetchedEntity(stored, in: graph), database),
                    imported: imported.map { ($0.job, $0.counts[BytewiseString(entity.name)] ?? 0) },
                    indexed: Set(indexed),
                    links: Self.links(of: stored, graph, unresolved)
                )
            }
        }
    }

    private func count(of entity: FetchedEntity, _ database: Database) throws -> Int64 {
        let all = SQLFragment("SELECT count(*) FROM \(entity.description.table.quotedIdentifier)")
        return try RawRowCursor.number(database, entity.condition.map { all + SQLFragment(" WHERE ") + $0 } ?? all) ?? 0
    }

    /// Counts the links of an entity's relationships, those of each in one table from its one end to the other.
    ///
    /// - Returns: by the relationship's name; those are left out whose links cannot be told from others.
    /// - Throws: `ImportError` when there is no such entity, or the store cannot be read.
    package func linkCounts(of name: String, _ interruption: Interruption) throws -> [String: Int64] {
        try read(interruption) { database in
            let entity = try entity(named: name, database)
            var counts: [String: Int64] = [:]
            for (link, isOwn) in entity.ownLinks {
                guard let text = link.countOfAll(of: entity, isOwn: isOwn) else { continue }
                counts[link.name] = try RawRowCursor.number(database, text)
            }
            return counts
        }
    }

    /// The newest job, and how many records of each entity it has added.
    private static func imported(_ database: Database) throws -> (job: Int64, counts: [BytewiseString: Int64])? {
        guard try database.hasTable("_import_job"), let row = try StoredJob.newestRow(database) else { return nil }
        let job = try row.number("id")
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_entity",
            sql: """
                SELECT entity, sum(inserted + nested_inserted + stubs - deleted) AS count
                FROM _import_entity WHERE job = ? GROUP BY entity
                """,
            arguments: [job]
        )
        return (job, try rows.reduce(into: [:]) { try $0[BytewiseString($1.text("entity"))] = $1.rowID("count") })
    }

    /// How many references of each relationship (`order.customer`) lead nowhere.
    private static func unresolved(_ database: Database) throws -> [String: Int64] {
        let rows = try BookkeepingRow.all(database, from: "_import_unresolved")
        return try rows.reduce(into: [:]) { counts, row in
            let name = try row.text("relationship")
            counts[name] = try row.number("count").addingClamped(counts[name] ?? 0)
        }
    }

    private static func links(
        of entity: StoredGraph.Entity,
        _ graph: StoredGraph,
        _ unresolved: [String: Int64]
    ) -> [EntitySummary.Link] {
        guard let layout = graph.layout, let index = entity.index else { return [] }
        return layout.relationships(of: index).map { place in
            let placement = layout.relationships[place]
            return EntitySummary.Link(
                relationship: placement.description,
                isOrdered: placement.isOrdered,
                isOwned: placement.shape == .ownedDestination || placement.deleteRule == .cascade,
                deleteRule: placement.deleteRule,
                unresolved: unresolved[layout.name(of: place)] ?? 0
            )
        }
    }
}
