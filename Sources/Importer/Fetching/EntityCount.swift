import GRDB
import ImportModel
import ImportSQLite

/// How many records an entity of a store has.
public struct EntityCount: Sendable, Hashable, Codable {
    /// The entity's name.
    public let entity: String
    /// Its table.
    public let table: String
    /// Its rows in the table, those of entities that inherit from it too, from whomever.
    public let records: Int64
    /// How many attributes it has, a column each.
    public let attributes: Int

    package init(entity: String, table: String, records: Int64, attributes: Int) {
        self.entity = entity
        self.table = table
        self.records = records
        self.attributes = attributes
    }
}

extension StoreReader {
    /// The store's entities with their counts, as one transaction sees them.
    ///
    /// - Throws: `ImportError` when the store cannot be read.
    public func entityCounts() throws -> [EntityCount] {
        try read { database in
            let graph = try graph(database)
            return try graph.entities.map { stored in
                let entity = stored.description
                let all = SQLFragment("SELECT count(*) FROM \(entity.table.quotedIdentifier)")
                let condition = FetchedEntity(stored, in: graph).condition
                return EntityCount(
                    entity: entity.name,
                    table: entity.table,
                    records: try RawRowCursor.number(
                        database,
                        condition.map { all + SQLFragment(" WHERE ") + $0 } ?? all
                    ) ?? 0,
                    attributes: entity.attributes.count
                )
            }
        }
    }
}
