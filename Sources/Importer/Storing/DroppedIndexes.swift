import GRDB
import ImportModel

/// Indexes that an empty table goes without while an import fills it, to be made again by their own text (DESIGN §8).
///
/// They are noted in the transaction that drops them, so whoever comes after an interruption finds them.
enum DroppedIndexes {
    private static let table = "_import_dropped_index"

    /// Drops what can be made again at the end, whatever the rows are then: indexes made by `CREATE INDEX` on columns.
    ///
    /// Those on expressions or on some of the rows stay: they may fail for a row, which must be known as it comes. So do
    /// those with a collation that only another program has, and then no row can be written.
    ///
    /// - Parameters:
    ///   - position: the entity's place in the job.
    ///   - includesIdentifier: whether unique indexes on the identifier go too; no others do.
    static func drop(
        of entity: EntityDescription,
        job: Int64,
        position: Int,
        includesIdentifier: Bool,
        _ database: Database
    ) throws {
        let indexes = try Row.fetchAll(
            database,
            sql: """
                SELECT list.name, list."unique", master.sql FROM pragma_index_list(?) AS list
                JOIN sqlite_master AS master ON master.type = 'index' AND master.name = list.name
                WHERE list.origin = 'c' AND NOT list.partial
                    AND NOT EXISTS (
                        SELECT 1 FROM pragma_index_xinfo(list.name)
                        WHERE key AND (name IS NULL OR upper(coll) NOT IN ('BINARY', 'NOCASE', 'RTRIM'))
                    )
                ORDER BY master.rowid
                """,
            arguments: [entity.table]
        )
        let identifier = Set(StoreSchema.identifierColumns(of: entity).map(\.asciiLowercased))
        for (number, index) in indexes.enumerated() {
            let (name, isUnique): (String, Bool) = (index["name"], index["unique"])
            if isUnique {
                guard includesIdentifier, try StoreSchema.isIndex(name, onJust: identifier, database) else { continue }
            }
            try database.execute(
                sql: """
                    INSERT INTO \(table) (job, entity, number, table_name, name, sql, is_identifier)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [job, position, number, entity.table, name, index["sql"] as String, isUnique]
            )
            try database.execute(sql: "DROP INDEX \(name.quotedIdentifier)")
        }
    }

    /// Whether a job has dropped any that are not there again.
    static func exist(job: Int64, _ database: Database) throws -> Bool {
        guard try database.tableExists(table) else { return false }
        return try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE job = ?)",
            arguments: [job]
        ) ?? false
    }

    /// Whether one with this name is to be made again; a store of an older format has none.
    static func holds(_ name: String, _ database: Database) throws -> Bool {
        guard try database.tableExists(table) else { return false }
        return try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE name = ? COLLATE NOCASE)",
            arguments: [name]
        ) ?? false
    }

    /// Makes a job's indexes again.
    ///
    /// - Throws: `DatabaseError`, with `SQLITE_CONSTRAINT_UNIQUE` where rows have the same identifier.
    static func restore(job: Int64, _ database: Database) throws {
        guard try exist(job: job, database) else { return }
        try restore("job = ?", [job], database)
    }

    /// Makes those again that keep an entity's identifier unique.
    static func restoreIdentifier(of position: Int, job: Int64, _ database: Database) throws {
        guard try exist(job: job, database) else { return }
        try restore("job = ? AND entity = ? AND is_identifier", [job, position], database)
    }

    private static func restore(_ condition: String, _ arguments: StatementArguments, _ database: Database) throws {
        let indexes = try Row.fetchAll(
            database,
            sql: """
                SELECT job, entity, number, sql,
                    EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = table_name COLLATE NOCASE)
                    AND NOT EXISTS (SELECT 1 FROM sqlite_master AS other WHERE other.name = kept.name COLLATE NOCASE)
                    AS is_missing
                FROM \(table) AS kept WHERE \(condition) ORDER BY entity, number
                """,
            arguments: arguments
        )
        for index in indexes {
            // Somebody may have made it again already, or have done away with the table.
            if index["is_missing"] { try database.execute(sql: index["sql"]) }
            try database.execute(
                sql: "DELETE FROM \(table) WHERE job = ? AND entity = ? AND number = ?",
                arguments: [index["job"] as Int64, index["entity"] as Int, index["number"] as Int]
            )
        }
    }
}
