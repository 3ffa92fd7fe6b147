import GRDB
import ImportEngine
import ImportModel

/// What is left of what a finished job has brought.
extension StoredJob {
    /// Of jobs that have inserted more rows into a table, these are not counted.
    private static let mostCounted: Int64 = 1_000_000

    /// What is left of the objects of its records.
    ///
    /// Objects that are nested in them are not looked for: a later record may have replaced them.
    ///
    /// - Parameter entities: the names of those that count; nil for all.
    package func presence(of entities: [String]?, _ database: Database) throws -> JobPresence {
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_entity",
            sql: """
                SELECT table_name, sum(inserted) - sum(deleted) AS inserted
                FROM _import_entity
                WHERE job = ?1 AND (?2 IS NULL OR entity IN (SELECT value FROM json_each(?2)))
                GROUP BY table_name COLLATE NOCASE
                HAVING sum(_import_entity.inserted + updated + unchanged + ignored) > 0
                """,
            arguments: [id, try entities.map { try BookkeepingJSON.encode($0) }]
        )
        let tables = try rows.map { row in
            let name = try row.text("table_name")
            guard try database.hasTable(name), try BookkeepingSchema.hasRows(name, database) else {
                return JobPresence.gone
            }
            return try lacksRows(of: name, inserted: row.rowID("inserted"), database) ? .partial : .whole
        }
        if tables.allSatisfy({ $0 == .whole }) { return .whole }
        return tables.allSatisfy { $0 == .gone } ? .gone : .partial
    }

    /// True if rows that the job has inserted into a table are gone; false where that cannot be told.
    private func lacksRows(of table: String, inserted: Int64, _ database: Database) throws -> Bool {
        guard inserted > 0, inserted <= Self.mostCounted else { return false }
        let sql = "SELECT count(*) FROM (SELECT 1 FROM \(table.quotedIdentifier) LIMIT ?)"
        if try Int64.fetchOne(database, sql: sql, arguments: [inserted]) ?? 0 < inserted { return true }
        // VACUUM and migrations give rows other row ids.
        let columns = try Set(database.columns(in: table).map(\.name))
        guard try TableFingerprint.isPossible(table, database),
            let fingerprint = try TableFingerprint(of: table, database),
            columns.isSuperset(of: fingerprint.columns),
            try !MigrationHistory.exists(since: id, database)
        else { return false }
        let (compared, changed) = try fingerprint.compare(table, database)
        guard changed * 2 <= compared else { return false }
        let ranges = try InsertedRowRanges.ranges(of: table, job: id, database)
        guard ranges.reduce(0, { $0 + Int64($1.count) }) >= inserted else { return false }
        return try InsertedRowRanges.count(ranges, in: table, database) < inserted
    }
}
