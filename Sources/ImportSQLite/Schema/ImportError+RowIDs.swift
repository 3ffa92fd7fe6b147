import GRDBSQLite
import ImportSources

extension ImportError {
    /// That a table has no row id left, which SQLite calls full as well (<https://www.sqlite.org/autoinc.html>); nil where
    /// that is not so.
    ///
    /// It happens where the largest row id is taken, or was, and the table never uses one again (`AUTOINCREMENT`).
    package init?(usedUpRowIDsOf table: String, _ connection: OpaquePointer) {
        let name = table.quoted(by: "'", with: "''")
        let questions = [
            "SELECT max(rowid) FROM \(table.quotedIdentifier)",
            "SELECT max(seq) FROM sqlite_sequence WHERE name = \(name)",
        ]
        guard questions.contains(where: { Self.integer($0, connection) == .max }) else { return nil }
        self.init(
            .rowIDsUsedUp,
            "\(table): its row ids are used up: \(Int64.max), the largest, is in use",
            advice: "What is committed stays. Make the table with smaller row ids, then resume."
        )
    }

    /// What a query gives; nil where it gives nothing.
    private static func integer(_ sql: String, _ connection: OpaquePointer) -> Int64? {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
        defer { sqlite3_finalize(statement) }
        return sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : nil
    }
}
