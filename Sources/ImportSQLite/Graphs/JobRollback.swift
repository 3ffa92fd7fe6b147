import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// Takes back what a job has done, so that it can be done again without the records whose references lead nowhere.
///
/// What one record did to objects that others state too cannot be told from what those did. So a job whose model has such
/// relationships keeps, of each row that was there when it began, the row as it was when it first changes it.
struct JobRollback {
    /// What it needs as long as the job can be taken back.
    private static let tables = ["reversal", "before", "reference", "unmet"].map { "_import_\($0)" }

    private static let linkTable = "_import_link"
    private static let stubTable = "_import_stub"

    /// The tables whose rows do not come from records, and which are kept whole.
    private static let kept: [(table: String, key: [String], columns: [String])] = [
        (
            linkTable, ["relationship", "target", "source"], ["relationship", "target", "source", "position", "job"]
        ),
        (stubTable, ["table_name", "key"], ["table_name", "key"]),
    ]

    let job: Int64

    // MARK: A job that can be taken back

    static func exists(_ job: Int64, _ database: Database) throws -> Bool {
        guard try database.hasTable("_import_reversal") else { return false }
        return try database.exists("SELECT 1 FROM _import_reversal WHERE job = ?", [job])
    }

    /// True if a job is done again without some of its records.
    static func hasRefused(_ job: Int64, _ database: Database) throws -> Bool {
        try exists(job, database) && database.exists("SELECT 1 FROM _import_unmet WHERE job = ?", [job])
    }

    /// Refuses another job in tables that one may still be taken back from.
    ///
    /// - Throws: `ImportError` with `.usage`.
    static func checkThatNoneIsOpen(_ tables: [String], besides own: Int64, _ database: Database) throws {
        let tables = Set(tables.map(\.asciiLowercased))
        for row in try BookkeepingRow.fetchAll(
            database,
            from: "_import_reversal",
            sql: "SELECT table_name FROM _import_reversal WHERE job <> ? ORDER BY job, table_name",
            arguments: [own]
        ) {
            let table = try row.text("table_name")
            guard tables.contains(table.asciiLowercased) else { continue }
            throw ImportError(
                .jobUnfinished,
                "\(table): an interrupted import may have records with references to missing objects, and must "
                    + "reject them first",
                advice: "Finish it with \(call: .resuming()), then \(.sameAgain)."
            )
        }
    }

    /// Keeps from now on what the job changes.
    func begin(_ layout: ModelLayout, _ database: Database) throws {
        try BookkeepingSchema.make(Self.tables, database)
        for table in layout.tables {
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO _import_reversal (job, table_name, is_whole)
                    SELECT ?, ?, NOT EXISTS (SELECT 1 FROM \(table.name.quotedIdentifier))
                    """,
                arguments: [job, table.name]
            )
        }
        try RowKey.addFunction(to: LinkStatementCache(database).connection)
        for (table, key, columns) in Self.kept {
            try database.execute(
                sql: """
                    INSERT INTO _import_before (job, table_name, key, cells)
                    SELECT ?, ?, \(RowKey.call(key)), \(RowKey.call(columns)) FROM \(table)
                    """,
                arguments: [job, table]
            )
        }
    }

    /// Lets a connection keep what it changes, as long as it is open.
    func watch(_ layout: ModelLayout, _ database: Database) throws {
        var isReady = false
        for (table, isWhole) in try tables(layout, database) where !isWhole {
            if !isReady { try RowKey.addFunction(to: LinkStatementCache(database).connection) }
            isReady = true
            try watch(table, database)
        }
    }

    private func watch(_ table: String, _ database: Database) throws {
        let (key, columns) = try Self.columns(of: table, database)
        let name = table.quoted(by: "'", with: "''")
        func note(_ row: String, _ cells: String) -> String {
            let key = RowKey.call(key.map { "\(row).\($0)" })
            // The policy of the statement at hand would replace that of this one, so nothing may be in conflict.
            return """
                INSERT INTO _import_before (job, table_name, key, cells) SELECT \(job), \(name), \(key), \(cells)
                WHERE NOT EXISTS (
                    SELECT 1 FROM _import_before WHERE job = \(job) AND table_name = \(name) AND key = \(key)
                );
                """
        }
        let old = note("old", RowKey.call(columns.map { "old.\($0)" }))
        let events = [
            ("AFTER INSERT", note("new", "NULL")), ("BEFORE UPDATE", old), ("BEFORE DELETE", old),
        ]
        for (event, statement) in events {
            let trigger = "_import_\(event.lowercased())_\(table)".quotedIdentifier
            try database.execute(
                sql: """
                    CREATE TEMPORARY TRIGGER \(trigger) \(event) ON main.\(table.quotedIdentifier)
                    BEGIN \(statement) END
                    """
            )
        }
    }

    // MARK: Taking back

    /// Brings the tables to what they were when the job began, and the job to its beginning.
    ///
    /// - Returns: that all is to be looked at again, to be told when it is committed.
    func takeBack(_ layout: ModelLayout, _ check: () throws -> Void, _ database: Database) throws -> MergeNotification {
        let statements = try LinkStatementCache(database)
        for (table, isWhole) in try tables(layout, database) {
            try check()
            if isWhole {
                try database.execute(sql: "DELETE FROM \(table.quotedIdentifier)")
            } else {
                try restore(table, statements, database)
            }
        }
        for (table, _, columns) in Self.kept {
            try database.execute(sql: "DELETE FROM \(table)")
            try insert(into: table, columns: columns, withKey: [], statements)
        }
        try check()
        try forgetCounts(database)
        return try MergeLog.appendReset(of: job, database)
    }

    private func restore(_ table: String, _ statements: LinkStatementCache, _ database: Database) throws {
        let (key, columns) = try Self.columns(of: table, database)
        let condition = key.map { "\($0) = ?" }.joined(separator: " AND ")
        // All of them go before any comes back: what is unique may have wandered from one row to another.
        try statements.run(
            "SELECT key FROM _import_before WHERE job = ? AND table_name = ?",
            [.number(job), .text(table)]
        ) {
            let found = RowKey(bytes: $0.bytes(of: 0))
            try statements.run("DELETE FROM \(table.quotedIdentifier) WHERE \(condition)", [.key(found)])
        }
        try insert(into: table, columns: columns, withKey: key == ["rowid"] ? key : [], statements)
        try database.execute(
            sql: "DELETE FROM _import_before WHERE job = ? AND table_name = ?",
            arguments: [job, table]
        )
    }

    /// - Parameter withKey: the key's columns where they are not among the others.
    private func insert(
        into table: String,
        columns: [String],
        withKey key: [String],
        _ statements: LinkStatementCache
    ) throws {
        let all = key + columns
        let places = all.map { _ in "?" }.joined(separator: ", ")
        try statements.run(
            "SELECT key, cells FROM _import_before WHERE job = ? AND table_name = ? AND cells IS NOT NULL ORDER BY key",
            [.number(job), .text(table)]
        ) {
            let found: [LinkStatementCache.Parameter] = key.isEmpty ? [] : [.key(RowKey(bytes: $0.bytes(of: 0)))]
            try statements.run(
                "INSERT INTO \(table.quotedIdentifier) (\(all.joined(separator: ", "))) VALUES (\(places))",
                found + [.key(RowKey(bytes: $0.bytes(of: 1)))]
            )
        }
    }

    private func forgetCounts(_ database: Database) throws {
        let seconds = try Marker(database, job: job)?.seconds ?? 0
        var marker = Marker()
        marker.seconds = seconds
        try marker.save(database, job: job)
        try RetryOutcome.unsettle(job, database)
        try database.execute(
            sql: """
                UPDATE _import_entity SET records_read = 0, inserted = 0, updated = 0, unchanged = 0, ignored = 0,
                    rejected = 0, nested = 0, nested_inserted = 0, nested_updated = 0, nested_unchanged = 0,
                    nested_ignored = 0, linked = 0, stubs = 0, deleted = 0 WHERE job = :job;
                """,
            arguments: ["job": job]
        )
        if try database.hasTable("_import_retry") {
            try database.execute(sql: "UPDATE _import_retry SET outcome = NULL WHERE job = ?", arguments: [job])
        }
        try InsertedRowRanges.forget(job, database)
        try database.delete(
            job: job,
            from: ["chunk", "reject", "ledger", "outside", "orphan", "reference", "seen", "undo"]
                .map { "_import_\($0)" }
        )
    }

    /// Forgets all of it: the job stays as it is.
    func forget(_ database: Database) throws {
        try database.delete(job: job, from: Self.tables)
    }

    // MARK: Tables

    /// The tables that are taken back.
    ///
    /// - Throws: `ImportError` where one is not the model's: nothing of another is removed, whatever the store says.
    private func tables(_ layout: ModelLayout, _ database: Database) throws -> [(table: String, isWhole: Bool)] {
        let own = Set(layout.tables.map(\.name.asciiLowercased))
        return try BookkeepingRow.all(
            database,
            "table_name, is_whole",
            from: "_import_reversal",
            of: job,
            "ORDER BY table_name"
        ).map { row in
            let table = try row.text("table_name")
            guard own.contains(table.asciiLowercased) else { throw row.damage("table_name") }
            return (table, try row.flag("is_whole"))
        }
    }

    /// The columns by which a row is known, and all that have values of their own.
    private static func columns(of table: String, _ database: Database) throws -> (key: [String], all: [String]) {
        let table = try StoredTable(table, database)
        let key = table.hasRowID ? ["rowid"] : table.primaryKey.map(\.quotedIdentifier)
        return (key, table.ownColumns.map(\.name.quotedIdentifier))
    }
}
