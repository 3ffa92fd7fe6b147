import GRDB
import ImportModel

/// How many records an entity of a store has.
public struct EntityCount: Sendable, Hashable, Codable {
    /// The entity's name.
    public let entity: String
    /// Its table.
    public let table: String
    /// Rows in the table, from whomever.
    public let records: Int64
    /// How many attributes it has, a column each.
    public let attributes: Int
}

extension StoreReader {
    /// The store's entities with their counts, as one transaction sees them.
    ///
    /// - Throws: `ImportError` when the store cannot be read.
    public func entityCounts() throws -> [EntityCount] {
        try read { database in
            try entities(database).map { entity in
                let sql = "SELECT count(*) FROM \(entity.table.quotedIdentifier)"
                return EntityCount(
                    entity: entity.name,
                    table: entity.table,
                    records: try Int64.fetchOne(database, sql: sql) ?? 0,
                    attributes: entity.attributes.count
                )
            }
        }
    }
}
