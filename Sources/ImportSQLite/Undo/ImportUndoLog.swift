import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSources

/// What an import keeps so that it can be undone, where that is asked for, and what is known of one that has only inserted rows.
///
/// Of a table that was empty when the job began nothing is kept as long as it runs: all rows are the job's. When it ends, they are
/// kept as ranges of row ids.
package enum ImportUndoLog {
    /// Begins to keep it, when the job's tables are there.
    package static func begin(_ job: StoredJob, _ model: ModelDescription, _ database: Database) throws {
        let own = model.isFlat ? model.tables : try ModelLayout(importing: model).tables.map(\.name)
        // What a mirror deletes may take rows of entities along that its model does not have.
        let names = job.options.mirror == nil ? own : try TrackedTable.names(database)
        let known = Set(own.map(ExistingEntity.folded))
        var tables: [TrackedTable] = []
        var whole: Set<BytewiseString> = []
        for name in names where try database.hasTable(name) {
            let table = try TrackedTable(name, database)
            tables.append(table)
            guard table.hasRowID, known.contains(ExistingEntity.folded(name)) else { continue }
            if try !BookkeepingSchema.hasRows(name, database) { whole.insert(ExistingEntity.folded(name)) }
        }
        try begin(job.id, tables, whole: whole, database)
    }

    private static func begin(
        _ job: Int64,
        _ tables: [TrackedTable],
        whole: Set<BytewiseString> = [],
        _ database: Database
    ) throws {
        try database.execute(
            sql: "INSERT OR IGNORE INTO _import_change (job, has_log) VALUES (?, 1)",
            arguments: [job]
        )
        try UndoLog.begin(job, tables, whole: whole, database)
    }

    /// Watches what a connection changes for a job; nil where nothing is kept of it.
    package static func log(of job: StoredJob, _ database: Database) throws -> UndoLog? {
        guard job.keepsUndo else { return nil }
        // Each statement that calls a trigger, and may have to take back more than one row (`ConflictClause`), keeps the pages that it changes until it has ended, in a file unless temporary data
        // are in memory (https://www.sqlite.org/tempfiles.html#statement_journal_files). In a worker's commits they are few; in a
        // transaction that has no bounds they would take all memory, and ever more time.
        if !database.isInsideTransaction { try database.execute(sql: "PRAGMA temp_store = MEMORY") }
        return try UndoLog(job: job.id, tellsRows: false, database)
    }

    /// Forgets what the job has done so far, as it restarts.
    package static func restart(_ job: Int64, _ database: Database) throws {
        try database.delete(job: job, from: ["_import_undo"])
    }

    /// Keeps which rows of tables that were empty are the job's, in the transaction that ends it.
    package static func finish(_ job: StoredJob, _ database: Database) throws {
        guard job.keepsUndo else { return }
        let statements = try LinkStatementCache(database)
        try RowKey.addFunction(to: statements.connection)
        for table in try UndoLog.tables(of: job.id, isWhole: true, database) {
            try saveRanges(of: table, job.id, statements)
            try database.execute(
                sql: "UPDATE _import_undo_table SET is_whole = 0 WHERE job = ? AND table_name = ?",
                arguments: [job.id, table.name]
            )
        }
    }

    /// A later job that came to tables of which all rows are an unfinished job's, as far as is kept; nil for none.
    package static func superseding(_ job: Int64, _ database: Database) throws -> Int64? {
        guard try database.hasTable("_import_undo_table") else { return nil }
        return try Int64.fetchOne(
            database,
            sql: """
                SELECT max(entity.job) FROM _import_entity AS entity JOIN _import_undo_table AS own
                ON own.job = :job AND own.is_whole AND own.table_name = entity.table_name COLLATE NOCASE
                WHERE entity.job > :job
                """,
            arguments: ["job": job]
        )
    }

    /// How many rows a finished import has inserted into each table; nil where it has done more, rows of its tables were updated
    /// later, or the store has another model since.
    package static func insertedRows(_ job: StoredJob, _ database: Database) throws -> [(table: String, count: Int64)]?
    {
        guard job.state == .finished, job.change == nil, job.retry == nil, job.options.mirror == nil,
            try database.count("_import_change", where: "job = \(job.id) AND NOT is_ended") == 0,
            try !MigrationHistory.exists(since: job.id, database)
        else { return nil }
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_entity",
            sql: """
                SELECT table_name, sum(inserted + nested_inserted + stubs - deleted) AS rows,
                    max(rows_before) > 0 AND total(updated + nested_updated + deleted) > 0 OR EXISTS (
                        SELECT 1 FROM _import_entity AS later
                        WHERE later.job > own.job AND later.table_name = own.table_name COLLATE NOCASE
                            AND later.updated + later.nested_updated > 0
                    ) AS is_changed
                FROM _import_entity AS own WHERE job = ? AND table_name <> '' GROUP BY table_name COLLATE NOCASE
                """,
            arguments: [job.id]
        )
        guard try !rows.contains(where: { try $0.flag("is_changed") }) else { return nil }
        return try rows.map { (try $0.text("table_name"), try $0.rowID("rows")) }
    }

    /// Keeps what it takes to undo a finished import that has only inserted rows, though that was not asked for: they are known by
    /// their row ids.
    ///
    /// - Returns: false where the job has done more, what it takes is forgotten, or not all of the rows are known to be as it has left
    ///   them.
    package static func recover(_ job: StoredJob, _ database: Database) throws -> Bool {
        var ranges: [(table: TrackedTable, ranges: [ClosedRange<Int64>])] = []
        for (name, count) in try insertedRows(job, database) ?? [] {
            guard let fingerprint = try TableFingerprint(of: name, database),
                Set(fingerprint.columns).isSubset(of: try database.columns(in: name).map(\.name)),
                try fingerprint.compare(name, database).changed == 0
            else { return false }
            let table = try TrackedTable(name, database)
            let given = try InsertedRowRanges.ranges(of: name, job: job.id, database)
            guard table.hasRowID, try InsertedRowRanges.count(given, in: name, database) == count else { return false }
            ranges.append((table, given))
        }
        guard !ranges.isEmpty else { return false }
        try begin(job.id, ranges.map(\.table), database)
        let statements = try LinkStatementCache(database)
        try RowKey.addFunction(to: statements.connection)
        for (table, ranges) in ranges {
            for range in ranges { try saveRanges(of: table, in: range, job.id, statements) }
        }
        return true
    }

    private static func saveRanges(
        of table: TrackedTable,
        in all: ClosedRange<Int64> = .min ... .max,
        _ job: Int64,
        _ statements: LinkStatementCache
    ) throws {
        let (name, rowID) = ("main.\(table.name.quotedIdentifier)", table.key[0].quotedIdentifier)
        let identity = (table.identity.isEmpty ? table.columns : table.identity).map(\.quotedIdentifier)
        let select = "SELECT \(RowKey.call(identity)) FROM \(name) WHERE \(rowID) = ?"
        func save(_ range: ClosedRange<Int64>) throws {
            var keys: [[UInt8]] = []
            for end in [range.lowerBound, range.upperBound] {
                try statements.run(select, [.number(end)]) { keys.append($0.bytes(of: 0)) }
            }
            guard keys.count == 2 else { return }
            try statements.run(
                """
                INSERT INTO _import_undo_range (job, table_name, first_rowid, last_rowid, first_key, last_key)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                [
                    .number(job), .text(table.name), .number(range.lowerBound), .number(range.upperBound),
                    .bytes(keys[0]), .bytes(keys[1]),
                ]
            )
        }
        var range: ClosedRange<Int64>?
        try statements.run(
            "SELECT \(rowID) FROM \(name) WHERE \(rowID) BETWEEN ? AND ? ORDER BY \(rowID)",
            [.number(all.lowerBound), .number(all.upperBound)]
        ) { row in
            let next = sqlite3_column_int64(row, 0)
            if let own = range, own.upperBound < .max, own.upperBound + 1 == next {
                range = own.lowerBound...next
                return
            }
            if let range { try save(range) }
            range = next...next
        }
        if let range { try save(range) }
    }
}
