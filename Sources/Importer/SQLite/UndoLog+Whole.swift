import GRDB
import GRDBSQLite
import ImportModel

/// Tables that were empty when a job began: that all of their rows are the job's says what is to be undone.
extension UndoLog {
    /// The tables of a job's log of which all rows are the job's, in lower case.
    static func whole(of job: Int64, _ database: Database) throws -> Set<ExactText> {
        let names = try BookkeepingRow.fetchAll(
            database,
            from: "_import_undo_table",
            sql: "SELECT table_name FROM _import_undo_table WHERE job = ? AND is_whole",
            arguments: [job]
        )
        return Set(try names.map { ContinuedEntity.folded(try $0.text("table_name")) })
    }

    /// Keeps which rows of such tables are the job's, as others may come now; in the transaction that ends the job.
    static func finish(_ job: Int64, _ database: Database) throws {
        for table in try tables(of: job, isWhole: true, database) {
            let name = "main.\(table.name.quotedIdentifier)"
            let columns = (table.identity.isEmpty ? table.columns : table.identity).map(\.quotedIdentifier)
            let statements = try GraphStatements(database)
            func end(_ order: String) throws -> (rowID: Int64, key: [UInt8])? {
                let key = table.key[0].quotedIdentifier
                var found: (Int64, [UInt8])?
                try statements.run(
                    "SELECT \(key), \(columns.joined(separator: ", ")) FROM \(name) ORDER BY \(key) \(order) LIMIT 1"
                ) {
                    found = (sqlite3_column_int64($0, 0), RowKey($0, columns: 1..<Int32(columns.count + 1)).bytes)
                }
                return found
            }
            if let first = try end("ASC"), let last = try end("DESC") {
                try statements.run(
                    """
                    INSERT OR REPLACE INTO _import_undo_range (
                        job, table_name, first_rowid, last_rowid, first_key, last_key
                    ) VALUES (?, ?, ?, ?, ?, ?)
                    """,
                    [
                        .number(job), .text(table.name), .number(first.rowID), .number(last.rowID),
                        .bytes(first.key), .bytes(last.key),
                    ]
                )
            }
            try statements.run(
                "UPDATE _import_undo_table SET is_whole = 0 WHERE job = ? AND table_name = ?",
                [.number(job), .text(table.name)]
            )
        }
    }
}
