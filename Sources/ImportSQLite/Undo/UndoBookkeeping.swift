import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

/// What beside rows follows a job that is undone, or done again: its rejects, those that it has repaired, and what waits for objects.
package enum UndoBookkeeping {
    private static let links = "_import_link"
    private static let linkColumns = ["relationship", "target", "source", "position", "job"]
    private static let stubs = "_import_stub"

    /// Brings it up to date with an undo, in its transaction.
    ///
    /// - Parameter undone: the job that it undoes: an undo, where something is done again.
    package static func follow(_ undone: Int64, _ database: Database) throws {
        var job = undone
        while let next = try StoredJob.find(job, database)?.change?.undoes, next < job { job = next }
        let isUndone = try StoredJob.undo(of: job, database) != nil
        try isUndone ? RetryOutcome.unsettle(job, database) : RetryOutcome.settleAgain(job, database)
        let allUndone = try StoredJob.undone(database).map(String.init).joined(separator: ", ")
        try database.execute(
            sql: """
                UPDATE _import_reject SET state = 'undone' WHERE state = 'open' AND job IN (\(allUndone));
                UPDATE _import_reject SET state = 'open' WHERE state = 'undone' AND job NOT IN (\(allUndone));
                """
        )
        try RowKey.addFunction(to: LinkStatementCache(database).connection)
        try isUndone ? keep(job, database) : bringBack(job, database)
    }

    // MARK: What waits for objects

    /// Puts aside the links of an import that wait, and the stubs whose rows are gone.
    private static func keep(_ job: Int64, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO _import_before (job, table_name, key, cells)
                SELECT job, '\(links)', \(RowKey.call(["relationship", "target", "source"])), \(RowKey.call(linkColumns))
                FROM \(links) WHERE job = :job;
                DELETE FROM \(links) WHERE job = :job;
                """,
            arguments: ["job": job]
        )
        let statements = try LinkStatementCache(database)
        for name in try String.fetchAll(database, sql: "SELECT DISTINCT table_name FROM \(stubs)")
        where try database.hasTable(name) {
            let table = try TrackedTable(name, database)
            guard !table.identity.isEmpty else { continue }
            let sql = "SELECT 1 FROM main.\(name.quotedIdentifier) WHERE \(TrackedTable.matches(table.identity))"
            var gone: [RowKey] = []
            try statements.run("SELECT key FROM \(stubs) WHERE table_name = ?", [.text(name)]) { row in
                let key = RowKey(bytes: row.bytes(of: 0))
                guard key.values?.count == table.identity.count else { return }
                if try !statements.exists(sql, [.key(key)]) { gone.append(key) }
            }
            for key in gone {
                let cells = RowKey([.text(name), .blob(key.bytes)])
                try statements.run(
                    "INSERT OR REPLACE INTO _import_before (job, table_name, key, cells) VALUES (?, '\(stubs)', ?, ?)",
                    [.number(job), .bytes(cells.bytes), .bytes(cells.bytes)]
                )
                try statements.run(
                    "DELETE FROM \(stubs) WHERE table_name = ? AND key = ?",
                    [.text(name), .bytes(key.bytes)]
                )
            }
        }
    }

    /// Brings them back.
    private static func bringBack(_ job: Int64, _ database: Database) throws {
        let statements = try LinkStatementCache(database)
        for (table, columns) in [(links, linkColumns), (stubs, ["table_name", "key"])] {
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            try statements.run(
                "SELECT cells FROM _import_before WHERE job = ? AND table_name = ? ORDER BY key",
                [.number(job), .text(table)]
            ) { row in
                let cells = RowKey(bytes: row.bytes(of: 0))
                guard cells.values?.count == columns.count else { return }
                try statements.run(
                    "INSERT OR IGNORE INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(places))",
                    [.key(cells)]
                )
            }
            try statements.run(
                "DELETE FROM _import_before WHERE job = ? AND table_name = ?",
                [.number(job), .text(table)]
            )
        }
    }
}
