import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// A row that a job has touched, as its log has it.
struct UndoLogRow {
    let key: RowKey
    /// Its cells before the job, and after it; nil where it was not there.
    let before: [StoredValue]?
    let after: [StoredValue]?
    /// True if what it was after the job is not kept: the job has inserted it, and it is what it is now.
    var isOfRange = false

    /// Calls `body` with each row of a table.
    ///
    /// - Throws: `ImportError` where the log is damaged, or where the row ids of its ranges are not those of the same rows.
    static func forEach(
        of job: Int64,
        _ table: UndoTable,
        isWhole: Bool,
        _ statements: PatchStatements,
        store: String,
        _ body: (UndoLogRow) throws -> Void
    ) throws {
        let name = StoredValue.text(table.name)
        func cells(_ value: StoredValue) throws -> [StoredValue]? {
            guard case .blob(let bytes) = value else { return nil }
            guard let cells = RowKey(bytes: bytes).values, cells.count == table.logged.count else {
                throw ImportError(damaged: store, "_import_undo.before or after is no row of \(table.name.printable)")
            }
            return cells
        }
        try statements.run(
            "SELECT key, before, after FROM _import_undo WHERE job = ?1 AND table_name = ?2 ORDER BY number, key",
            [.integer(job), name]
        ) { row in
            guard case .blob(let bytes) = row.value(0), RowKey(bytes: bytes).values?.count == table.tracked.key.count
            else {
                throw ImportError(damaged: store, "_import_undo.key is no key of \(table.name.printable)")
            }
            let own = UndoLogRow(
                key: RowKey(bytes: bytes),
                before: try cells(row.value(1)),
                after: try cells(row.value(2))
            )
            try body(own)
        }
        if isWhole { return try forEach(in: Int64.min...Int64.max, table, statements, body) }
        try statements.run(
            """
            SELECT first_rowid, last_rowid, first_key, last_key FROM _import_undo_range
            WHERE job = ?1 AND table_name = ?2 ORDER BY first_rowid
            """,
            [.integer(job), name]
        ) { row in
            guard case .integer(let first) = row.value(0), case .integer(let last) = row.value(1), first <= last,
                case .blob(let firstKey) = row.value(2), case .blob(let lastKey) = row.value(3)
            else { throw ImportError(damaged: store, "_import_undo_range has no range of \(table.name.printable)") }
            try check(first, firstKey, table, statements, store)
            try check(last, lastKey, table, statements, store)
            try forEach(in: first...last, table, statements, body)
        }
    }

    private static func forEach(
        in range: ClosedRange<Int64>,
        _ table: UndoTable,
        _ statements: PatchStatements,
        _ body: (UndoLogRow) throws -> Void
    ) throws {
        guard table.tracked.hasRowID else { return }
        var next: Int64? = range.lowerBound
        // Rows are deleted meanwhile, so no statement is left open.
        while let first = next {
            var keys: [Int64] = []
            try statements.run(table.inRange + " LIMIT 1000", [.integer(first), .integer(range.upperBound)]) { row in
                if case .integer(let key) = row.value(0) { keys.append(key) }
            }
            for key in keys { try body(UndoLogRow(key: RowKey(rowID: key), before: nil, after: nil, isOfRange: true)) }
            next = keys.count < 1000 ? nil : keys.last.flatMap { $0 < range.upperBound ? $0 + 1 : nil }
        }
    }

    /// Makes sure that a row id is still that of the same row, where it is not the object's own; a row that is gone says nothing.
    private static func check(
        _ rowID: Int64,
        _ key: [UInt8],
        _ table: UndoTable,
        _ statements: PatchStatements,
        _ store: String
    ) throws {
        guard !table.tracked.hasOwnRowID else { return }
        var isOther = false
        try statements.run(table.byKey, [.integer(rowID)]) { row in
            let cells = table.identity.isEmpty ? table.logged : table.identity
            let values = cells.map(row.value)
            isOther = RowKey(values).bytes != key
        }
        guard isOther else { return }
        throw ImportError(
            .notUndoable,
            at: store,
            "the rows of \(table.name.printable) have other row ids than when the job was done, as after VACUUM",
            advice: "Compare the store with one from before the job, and patch it."
        )
    }
}
