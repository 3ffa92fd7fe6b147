import CSQLite
import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// What a job has made of rows, so that it can be undone: of each row that it has touched, what it was before and what it is after.
///
/// Triggers of the connection note rows before they change, whatever changes them: a statement of the job, a delete rule, or a
/// trigger of the store. What rows have become is looked up before each commit, in the same transaction; where the store has no
/// triggers and nobody wants to know which rows they are, it is noted with each change.
package final class UndoLog {
    /// A row that was touched since the last commit.
    package struct Touched {
        package let table: TrackedTable
        package let key: RowKey
        /// Its row id; nil in a table without.
        package let rowID: Int64?
        /// True if it was there at the last commit.
        package let wasThere: Bool
        package let isThere: Bool
    }

    private static let touched = "import_touched"
    private static let events = ["BEFORE UPDATE", "BEFORE DELETE", "AFTER INSERT", "AFTER UPDATE", "AFTER DELETE"]

    package let job: Int64
    private let tables: [TrackedTable]
    private let statements: LinkStatementCache

    /// Begins the log of a job: the tables that it may touch, with their columns.
    ///
    /// - Parameter whole: the tables of which nothing is kept but that all of their rows are the job's, in lower case.
    package static func begin(
        _ job: Int64,
        _ tables: [TrackedTable],
        whole: Set<BytewiseString> = [],
        _ database: Database
    ) throws {
        for table in tables {
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO _import_undo_table (job, table_name, columns, is_whole) VALUES (?, ?, ?, ?)
                    """,
                arguments: [
                    job, table.name, try BookkeepingJSON.encode(table.columns),
                    whole.contains(ExistingEntity.folded(table.name)),
                ]
            )
        }
    }

    /// True if what a job has done was kept, and is not forgotten.
    package static func exists(_ job: Int64, _ database: Database) throws -> Bool {
        let row = try BookkeepingRow.first(database, "has_log", from: "_import_change", of: job)
        return try row?.flag("has_log") ?? false
    }

    /// Forgets the log of a job, or those of all.
    package static func forget(_ job: Int64?, _ database: Database) throws {
        for table in BookkeepingSchema.undo where try database.hasTable(table) {
            try database.execute(sql: "DELETE FROM \(table) WHERE ?1 IS NULL OR job = ?1", arguments: [job])
        }
        guard try database.hasTable("_import_change") else { return }
        try database.execute(
            sql: "UPDATE _import_change SET has_log = 0 WHERE ?1 IS NULL OR job = ?1",
            arguments: [job]
        )
    }

    /// Watches the tables of a job's log as long as the connection is open, or until `end`.
    ///
    /// - Parameter tellsRows: whether `complete` and `forEachTouched` are to tell which rows were touched.
    /// - Throws: `ImportError` where the store does not have them any more as they were when the log began.
    package init(job: Int64, tellsRows: Bool, _ database: Database) throws {
        self.job = job
        statements = try LinkStatementCache(database)
        tables = try Self.tables(of: job, isWhole: false, database)
        try RowKey.addFunction(to: statements.connection)
        try database.execute(
            sql: """
                CREATE TEMP TABLE IF NOT EXISTS \(Self.touched) (
                    place INTEGER NOT NULL, number INTEGER NOT NULL, key BLOB NOT NULL, was_there INTEGER NOT NULL,
                    PRIMARY KEY (place, number, key)
                ) WITHOUT ROWID;
                DELETE FROM \(Self.touched);
                """
        )
        let hasTriggers = try database.hasTriggers()
        for (place, table) in tables.enumerated() {
            if tellsRows || hasTriggers || !table.hasRowID {
                try watch(table, place, database)
            } else {
                try watchAtOnce(table, place, database)
            }
        }
    }

    /// The tables of a job's log as the store has them now.
    ///
    /// - Throws: `ImportError` where one or one of its columns is gone.
    package static func tables(of job: Int64, isWhole: Bool, _ database: Database) throws -> [TrackedTable] {
        let there = Set(try TrackedTable.all(database).map { BytewiseString($0.name) })
        return try BookkeepingRow.fetchAll(
            database,
            from: "_import_undo_table",
            sql: "SELECT table_name, columns, is_whole FROM _import_undo_table WHERE job = ? ORDER BY table_name",
            arguments: [job]
        ).compactMap { row -> TrackedTable? in
            guard try row.flag("is_whole") == isWhole else { return nil }
            let name = try row.text("table_name")
            let columns: [String] = try row.json("columns")
            guard there.contains(BytewiseString(name)) else { throw Self.isGone(name, nil) }
            let own = Set(try TrackedTable(name, database).columns.map(ExistingEntity.folded))
            if let gone = columns.first(where: { !own.contains(ExistingEntity.folded($0)) }) {
                throw Self.isGone(name, gone)
            }
            return try TrackedTable(name, columns: columns, database)
        }
    }

    /// The tables of a job's log that were empty when it began, so that all of their rows are the job's; in lower case.
    package static func whole(of job: Int64, _ database: Database) throws -> Set<BytewiseString> {
        let names = try BookkeepingRow.all(database, "table_name", from: "_import_undo_table", of: job, "AND is_whole")
        return Set(try names.map { ExistingEntity.folded(try $0.text("table_name")) })
    }

    private static func isGone(_ table: String, _ column: String?) -> ImportError {
        let what = column.map { "column \($0.printable) of the table \(table.printable)" } ?? "table \(table.printable)"
        return ImportError(
            .notUndoable,
            "the job has changed the \(what), which the store no longer has",
            advice: "Restore the table as it was."
        )
    }

    // MARK: Watching

    private func watch(_ table: TrackedTable, _ place: Int, _ database: Database) throws {
        let name = table.name.quoted(by: "'", with: "''")
        func note(_ row: String, _ cells: String, wasThere: Bool) -> String {
            let key = TrackedTable.call(table.key, of: row)
            let number = table.number(of: row)
            // The policy of the statement at hand would replace that of these, but for what an upsert expects. Without one, `ABORT` would
            // have SQLite write each page as it was to a temporary file first (https://www.sqlite.org/tempfiles.html, statement journals).
            return """
                INSERT OR FAIL INTO _import_undo (job, table_name, number, key, before)
                VALUES (\(job), \(name), \(number), \(key), \(cells)) ON CONFLICT DO NOTHING;
                INSERT OR FAIL INTO \(Self.touched) (place, number, key, was_there)
                VALUES (\(place), \(number), \(key), \(wasThere)) ON CONFLICT DO NOTHING;
                """
        }
        let old = note("old", TrackedTable.call(table.columns, of: "old"), wasThere: true)
        let new = note("new", "NULL", wasThere: false)
        // By their bytes, which a column's collation may not tell apart.
        let keys = ["old", "new"].map { table.hasRowID ? table.number(of: $0) : TrackedTable.call(table.key, of: $0) }
        let isOther = "WHEN \(keys.joined(separator: " <> "))"
        for (event, statements) in [("BEFORE UPDATE", old), ("BEFORE DELETE", old), ("AFTER INSERT", new)] {
            try watch(table, place, event, statements, database)
        }
        try watch(table, place, "AFTER UPDATE", when: isOther, new, database)
    }

    /// Notes what a row was and is when it has changed: only what is done to it then counts.
    private func watchAtOnce(_ table: TrackedTable, _ place: Int, _ database: Database) throws {
        let name = table.name.quoted(by: "'", with: "''")
        func note(_ row: String, _ before: String, _ after: String, when condition: String = "true") -> String {
            let (number, key) = (table.number(of: row), TrackedTable.call(table.key, of: row))
            // What is as it was needs no undoing.
            return """
                INSERT OR FAIL INTO _import_undo (job, table_name, number, key, before, after)
                SELECT \(job), \(name), \(number), \(key), \(before), \(after) WHERE \(condition)
                ON CONFLICT DO UPDATE SET after = excluded.after;
                DELETE FROM _import_undo WHERE \(condition) AND job = \(job) AND table_name = \(name)
                AND number = \(number) AND key = \(key) AND before IS after;
                """
        }
        let (old, new) = (TrackedTable.call(table.columns, of: "old"), TrackedTable.call(table.columns, of: "new"))
        let isOther = "\(table.number(of: "old")) <> \(table.number(of: "new"))"
        try watch(table, place, "AFTER INSERT", note("new", "NULL", new), database)
        try watch(table, place, "AFTER DELETE", note("old", old, "NULL"), database)
        let update = note("old", old, "iif(\(isOther), NULL, \(new))") + note("new", "NULL", new, when: isOther)
        try watch(table, place, "AFTER UPDATE", update, database)
    }

    private func watch(
        _ table: TrackedTable,
        _ place: Int,
        _ event: String,
        when condition: String = "",
        _ statements: String,
        _ database: Database
    ) throws {
        try database.execute(
            sql: """
                CREATE TEMPORARY TRIGGER \(Self.trigger(event, place)) \(event) ON main.\(table.name.quotedIdentifier)
                \(condition) BEGIN \(statements) END
                """
        )
    }

    private static func trigger(_ event: String, _ place: Int) -> String {
        "import_undo_\(event.lowercased().replacing(" ", with: "_"))_\(place)"
    }

    /// Watches no more.
    package func end(_ database: Database) throws {
        for place in tables.indices {
            for event in Self.events {
                try database.execute(sql: "DROP TRIGGER IF EXISTS temp.\(Self.trigger(event, place))")
            }
        }
    }

    // MARK: Before a commit

    /// That an entry is a row's.
    private static let isOfRow = "job = ? AND table_name = ? AND number = ? AND key = ?"

    private func parameters(of table: TrackedTable, _ key: RowKey) -> [LinkStatementCache.Parameter] {
        [.number(job), .text(table.name), .number(key.number), .bytes(key.bytes)]
    }

    /// Calls `body` with each row that was touched since the last commit; before `complete`.
    ///
    /// - Parameter body: given what the job has kept of the row as it was before, and what it is now.
    package func forEachTouched(_ body: (Touched, _ before: [UInt8]?, _ now: [UInt8]?) throws -> Void) throws {
        for place in tables.indices {
            try forEachTouched(place) { touched, now in
                var before: [UInt8]?
                try statements.run(
                    "SELECT before FROM _import_undo WHERE \(Self.isOfRow) AND before IS NOT NULL",
                    parameters(of: touched.table, touched.key)
                ) { before = $0.bytes(of: 0) }
                try body(touched, before, now)
            }
        }
    }

    private func forEachTouched(_ place: Int, _ body: (Touched, _ now: [UInt8]?) throws -> Void) throws {
        let table = tables[place]
        let select = "SELECT \(table.cells) FROM main.\(table.name.quotedIdentifier) WHERE \(table.hasKey)"
        try statements.run(
            "SELECT key, was_there FROM \(Self.touched) WHERE place = ? ORDER BY number, key",
            [.number(Int64(place))]
        ) { row in
            let key = RowKey(bytes: row.bytes(of: 0))
            var now: [UInt8]?
            try statements.run(select, [.key(key)]) { now = $0.bytes(of: 0) }
            try body(touched(table, key, row, isThere: now != nil), now)
        }
    }

    private func touched(_ table: TrackedTable, _ key: RowKey, _ row: OpaquePointer?, isThere: Bool) -> Touched {
        Touched(
            table: table,
            key: key,
            rowID: table.hasRowID ? key.firstNumber : nil,
            wasThere: sqlite3_column_int64(row, 1) != 0,
            isThere: isThere
        )
    }

    /// Keeps what the rows that were touched since the last call are now; called before each commit, in its transaction.
    ///
    /// - Parameter body: called with each of them, by table.
    package func complete(_ body: (Touched) throws -> Void) throws { try complete(reportsRows: true, body) }

    /// The same where nobody wants to know which rows they are.
    package func complete() throws { try complete(reportsRows: false) { _ in } }

    private func complete(reportsRows: Bool, _ body: (Touched) throws -> Void) throws {
        for (place, table) in tables.enumerated() {
            guard table.hasRowID else {
                try completeByKey(place, body)
                continue
            }
            let (name, rowID) = ("main.\(table.name.quotedIdentifier)", table.key[0].quotedIdentifier)
            // No table of the store has the name of the outer one: its own columns would come first.
            let now = "SELECT \(table.cells) FROM \(name) WHERE \(rowID) = _import_undo.number"
            try runOnEntries(place, "UPDATE _import_undo SET after = (\(now)) WHERE")
            try forgetUnchanged(place)
            guard reportsRows else { continue }
            try statements.run(
                """
                SELECT key, was_there, EXISTS (SELECT 1 FROM \(name) WHERE \(rowID) = _import_touched.number)
                FROM \(Self.touched) AS _import_touched WHERE place = ? ORDER BY number, key
                """,
                [.number(Int64(place))]
            ) { row in
                let isThere = sqlite3_column_int64(row, 2) != 0
                try body(touched(table, RowKey(bytes: row.bytes(of: 0)), row, isThere: isThere))
            }
        }
        try statements.run("DELETE FROM \(Self.touched)")
    }

    /// What is as it was needs no undoing.
    private func forgetUnchanged(_ place: Int) throws {
        try runOnEntries(place, "DELETE FROM _import_undo WHERE before IS after AND")
    }

    /// - Parameter statement: to be ended by the condition that entries are those of the rows that were touched.
    private func runOnEntries(_ place: Int, _ statement: String) throws {
        try statements.run(
            """
            \(statement) job = ? AND table_name = ?
            AND (number, key) IN (SELECT number, key FROM \(Self.touched) WHERE place = ?)
            """,
            [.number(job), .text(tables[place].name), .number(Int64(place))]
        )
    }

    /// The same in a table without row ids.
    private func completeByKey(_ place: Int, _ body: (Touched) throws -> Void) throws {
        try forEachTouched(place) { touched, now in
            let parameters = parameters(of: touched.table, touched.key)
            let after = now.map { LinkStatementCache.Parameter.bytes($0) } ?? .number(nil)
            try statements.run("UPDATE _import_undo SET after = ? WHERE \(Self.isOfRow)", [after] + parameters)
            try body(touched)
        }
        try forgetUnchanged(place)
    }
}
