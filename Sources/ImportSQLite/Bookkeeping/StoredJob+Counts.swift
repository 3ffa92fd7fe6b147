import GRDB
import ImportEngine
import ImportModel

/// What the store has counted of a job.
extension StoredJob {
    /// Records read and rejected, of all entities.
    package func recordCounts(_ database: Database) throws -> (read: Int64, rejected: Int64) {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT coalesce(sum(records_read), 0) AS read, coalesce(sum(rejected), 0) AS rejected
                FROM _import_entity WHERE job = ?
                """,
            arguments: [id]
        )
        return (row?["read"] ?? 0, row?["rejected"] ?? 0)
    }

    /// The entities of which records were read.
    package func readEntities(_ database: Database) throws -> Set<String> {
        try Set(
            String.fetchAll(
                database,
                sql: "SELECT entity FROM _import_entity WHERE job = ? AND records_read > 0",
                arguments: [id]
            )
        )
    }

    /// The names under which values outside of records are counted.
    package func outsideNames(_ database: Database) throws -> [String] {
        try BookkeepingRow.fetchAll(
            database,
            from: "_import_ledger",
            sql: "SELECT attribute FROM _import_ledger WHERE job = ? AND kind = ? AND NOT is_error",
            arguments: [id, LedgerKind.outside.rawValue]
        ).map { try $0.text("attribute") }
    }

    /// The record paths that match nothing in any source that has them, not even an empty collection.
    ///
    /// The sources are read to their ends.
    package func unfoundPaths(_ database: Database) throws -> [String] {
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_ledger",
            sql: """
                SELECT attribute, sum(count) AS sources FROM _import_ledger
                WHERE job = ? AND kind = ? AND NOT is_error GROUP BY attribute ORDER BY attribute
                """,
            arguments: [id, LedgerKind.notFound.rawValue]
        )
        return try rows.compactMap { row in
            let path = try row.text("attribute")
            return try row.index("sources") == sources.count { $0.shape.paths.contains(path) } ? path : nil
        }
    }

    /// The numbers of all jobs, in the order in which they were started.
    package static func numbers(_ database: Database) throws -> [Int64] {
        try Int64.fetchAll(database, sql: "SELECT id FROM _import_job ORDER BY id")
    }

    /// True if a job is finished.
    package static func isFinished(_ job: Int64, _ database: Database) throws -> Bool {
        try String.fetchOne(database, sql: "SELECT state FROM _import_job WHERE id = ?", arguments: [job])
            == ImportReport.State.finished.rawValue
    }
}
