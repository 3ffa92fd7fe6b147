import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Brings the rows of a log back, within one transaction in which neither foreign keys are looked at nor the store's triggers run.
///
/// First rows are changed in their place or, where something in them is unique, taken out; then those that were taken out or are gone
/// come in. What unique values and foreign keys do not allow by then stays as it is, with its conflict, and all is done once more, in
/// another transaction.
package final class UndoApplier {
    /// Rows that stay as they are, with what is in the way; nil where that is at their owner.
    package typealias UnchangedRows = [UndoLogRowID: PatchConflict?]

    /// The transaction is to be rolled back, as more rows are to stay as they are.
    struct MoreUnchangedRows: Error {
        let unchanged: UnchangedRows
    }

    private static let restored = "import_restored"

    private let job: Int64
    private let store: String
    private let schema: UndoSchema
    private let statements: PatchStatements
    private let options: PatchOptions
    private let check: () throws -> Void
    private let comparison: UndoComparison
    private let unchanged: UnchangedRows

    /// What an undo has come to.
    package struct Result {
        package var counts: PatchCounts
        /// Rows whose row ids others have by now, by the table's index.
        var lostRowIDs: [Int: Int64] = [:]
    }

    /// - Parameters:
    ///   - job: the one that is undone.
    ///   - unchanged: the rows that are to stay as they are.
    ///   - check: ends it by throwing.
    package init(
        _ job: Int64,
        keeping unchanged: UnchangedRows,
        _ schema: UndoSchema,
        _ statements: PatchStatements,
        _ options: PatchOptions,
        store: String,
        check: @escaping () throws -> Void
    ) throws {
        self.job = job
        self.unchanged = unchanged
        self.schema = schema
        self.statements = statements
        self.options = options
        self.store = store
        self.check = check
        comparison = UndoComparison(job: job, statements: statements, options: options)
    }

    /// Brings all rows back.
    ///
    /// - Throws: `ConflictStop` where a conflict is to stop it, and `MoreUnchangedRows`; nothing is to be committed then.
    package func apply(_ log: UndoLog, _ database: Database) throws -> Result {
        try database.execute(
            sql: """
                CREATE TEMP TABLE IF NOT EXISTS \(Self.restored) (
                    sequence INTEGER PRIMARY KEY, place INTEGER NOT NULL, number INTEGER NOT NULL, key BLOB NOT NULL,
                    cells BLOB NOT NULL, is_new INTEGER NOT NULL
                )
                """
        )
        try statements.run("DELETE FROM \(Self.restored)")
        var result = Result(counts: PatchCounts(schema.tables.map(\.entity)))
        var ordinal: Int64 = 0
        // Those that are not deleted, with what they own.
        var stayed: Set<UndoLogRowID> = []
        var stops: [PatchConflict] = []
        for (place, table) in schema.tables.prefix(schema.loggedCount).enumerated() {
            let isWhole = schema.whole.contains(ExistingEntity.folded(table.name))
            try UndoLogRow.forEach(of: job, table, isWhole: isWhole, statements, store: store) { row in
                try check()
                ordinal += 1
                result.counts.read(place)
                var plan = try comparison.plan(row, table)
                if let conflict = unchanged[UndoLogRowID(place: place, key: row.key)] {
                    plan.keep(conflict, options)
                } else if plan.stops {
                    if stops.count < PatchConflict.mostListed { stops += plan.conflicts }
                    return
                } else if !plan.isRejected {
                    try take(plan.step, row, place, table)
                }
                if plan.kind == .deleted, !plan.conflicts.isEmpty, plan.deletesNothing {
                    stayed.insert(UndoLogRowID(place: place, key: row.key))
                }
                result.counts.add(try line(plan, place, table, ordinal))
            }
        }
        if !stops.isEmpty { throw ConflictStop(conflicts: stops) }
        try restore(&result)
        let foreignKeys = UndoForeignKeys(schema: schema, statements: statements, options: options)
        let found = try foreignKeys.settle(log, &result.counts) {
            unchanged.keys.contains($0) || stayed.contains($0)
        }
        guard found.keys.allSatisfy({ !unchanged.keys.contains($0) }) else {
            // What stays as it is is in the way all the same: other rows than those of the log.
            throw ConflictStop(conflicts: found.values.compactMap(\.self))
        }
        if !found.isEmpty { throw MoreUnchangedRows(unchanged: found) }
        return result
    }

    private func line(_ plan: UndoPlan, _ place: Int, _ table: UndoTable, _ ordinal: Int64) throws -> PatchCounts.Line {
        var line = PatchCounts.Line(
            ordinal: ordinal,
            byteOffset: 0,
            entity: place,
            kind: plan.kind,
            outcome: plan.outcome
        )
        line.conflicts = plan.conflicts
        if plan.isRejected {
            let change = ObjectChange(
                plan.kind,
                entity: table.entity,
                identifier: plan.identifier,
                attributes: plan.attributes
            )
            var bytes: [UInt8] = []
            let writer = ChangeLineWriter([])
            writer.append(change, to: &bytes)
            line.rejected = RejectedChange(writer: writer).lines(bytes, plan.conflicts)
        } else if case .delete = plan.step {
            line.effects = [(place, .deleted)]
        }
        return line
    }

    // MARK: Rows

    private func take(_ step: UndoPlan.Step, _ row: UndoLogRow, _ place: Int, _ table: UndoTable) throws {
        switch step {
        case .none: return
        case .delete(let key): try statements.run(table.delete, key.values ?? [])
        case .update(let key, let cells, let places):
            if places.contains(where: table.unique.contains) {
                try statements.run(table.delete, key.values ?? [])
                return try keep(key, row, place, cells, isNew: false)
            }
            do {
                let values = (key.values ?? []) + places.map { cells[$0] }
                try statements.run(table.update(places), values)
            } catch let error as DatabaseError {
                throw try again(error, row.key, place, table)
            }
        case .insert(let key, let cells): try keep(key, row, place, cells, isNew: true)
        }
    }

    /// Keeps a row for later, with the row id that it is to have.
    private func keep(_ key: RowKey, _ row: UndoLogRow, _ place: Int, _ cells: [StoredValue], isNew: Bool) throws {
        try statements.run(
            "INSERT INTO \(Self.restored) (place, number, key, cells, is_new) VALUES (?1, ?2, ?3, ?4, ?5)",
            [
                .integer(Int64(place)), .integer(key.firstNumber ?? 0), .blob(row.key.bytes),
                .blob(RowKey(cells).bytes), .integer(isNew ? 1 : 0),
            ]
        )
    }

    private func restore(_ result: inout Result) throws {
        var refused: UnchangedRows = [:]
        var lost: [Int: Int64] = [:]
        try statements.run(
            "SELECT place, number, key, cells, is_new FROM \(Self.restored) ORDER BY place, number, sequence"
        ) {
            row in
            guard case .integer(let index) = row.value(0), case .integer(let number) = row.value(1),
                case .blob(let key) = row.value(2), case .blob(let bytes) = row.value(3),
                let cells = RowKey(bytes: bytes).values
            else { return }
            try check()
            let place = Int(index)
            let table = schema.tables[place]
            // What the log does not have of a new row gets its default.
            let places = row.value(4) == .integer(1) ? table.logged : Array(table.columns.indices)
            let values = places.map { cells[$0] }
            let hasRowID = table.tracked.hasRowID && !table.tracked.hasOwnRowID
            do {
                guard hasRowID else {
                    try statements.run(table.insert(places, hasRowID: false), values)
                    return
                }
                do {
                    try statements.run(table.insert(places, hasRowID: true), [.integer(number)] + values)
                } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_ROWID {
                    try statements.run(table.insert(places, hasRowID: false), values)
                    lost[place, default: 0] += 1
                }
            } catch let error as DatabaseError {
                let again = try again(error, RowKey(bytes: key), place, table, cells)
                refused.merge(again.unchanged) { own, _ in own }
            }
        }
        if !refused.isEmpty { throw MoreUnchangedRows(unchanged: refused) }
        result.lostRowIDs = lost
    }

    /// A row that its table does not take.
    private func again(
        _ error: DatabaseError,
        _ key: RowKey,
        _ place: Int,
        _ table: UndoTable,
        _ cells: [StoredValue]? = nil
    ) throws -> MoreUnchangedRows {
        switch error.resultCode.primaryResultCode {
        case .SQLITE_CONSTRAINT, .SQLITE_MISMATCH: break
        default: throw error
        }
        let identifier = table.reference(cells ?? table.columns.map { _ in .null }, key)
        return MoreUnchangedRows(
            unchanged: [
                UndoLogRowID(place: place, key: key): PatchConflict(
                    kind: .constraint,
                    entity: table.entity,
                    identifier: identifier
                )
            ]
        )
    }
}

/// A row of a log.
package struct UndoLogRowID: Hashable {
    /// The table's index.
    package let place: Int
    package let key: RowKey
}

extension UndoPlan {
    /// The row stays as it is.
    fileprivate mutating func keep(_ conflict: PatchConflict?, _ options: PatchOptions) {
        step = .none
        guard let conflict else {
            // What is in the way is counted at its owner.
            isKept = true
            return
        }
        _ = add(conflict, options)
    }
}
