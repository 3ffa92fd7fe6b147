import GRDB
import ImportModel
import ImportSQLite

/// The number of records of an entity in a store.
public struct EntityCount: Sendable, Hashable, Codable {
    /// The entity's name.
    public let entity: String
    /// Its table.
    public let table: String
    /// The number of its rows in the table, including those of its subentities and those that other programs have written.
    public let records: Int64
    /// The number of its attributes, each of which is a column.
    public let attributes: Int

    package init(entity: String, table: String, records: Int64, attributes: Int) {
        self.entity = entity
        self.table = table
        self.records = records
        self.attributes = attributes
    }
}

extension StoreReader {
    /// The store's entities with their counts, read in one transaction.
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
