import GRDBSQLite
import ImportEngine
import ImportModel

extension GraphAppender {
    /// The records of a batch that are appended between others, to tables that have all of their indexes.
    ///
    /// Belongs to one connection; used inside of its transactions only.
    final class Runs {
        private let appender: GraphAppender
        private var cells: [Cell]
        private var work: Work

        init(_ appender: GraphAppender, _ batch: borrowing RowBatch) {
            self.appender = appender
            cells = batch.cells
            work = Work(batch, [])
        }

        /// Appends the records from one on, up to the first that is not of a new object or does more than add to what is there.
        ///
        /// - Parameters:
        ///   - first: the index of the record in the batch.
        ///   - changes: gets what is changed, by entity.
        /// - Returns: the index of that record; nil where a new object cannot be added either, so that what was written
        ///   is to be taken back.
        /// - Throws: `DatabaseError` when SQLite fails.
        func append(
            from first: Int,
            _ batch: borrowing RowBatch,
            _ found: LateRejects,
            _ changes: inout [EntityChanges]
        ) throws -> Int? {
            guard batch.graph.records[first].isAppendable, try !appender.isAwaited() else { return first }
            swap(&changes, &work.outcome.changes)
            defer { swap(&changes, &work.outcome.changes) }
            return try appender.withValues(of: batch, &cells, found) { values in
                try appender.append(from: first, batch, values, &work)
            }
        }
    }

    /// True if links wait for rows, or rows for objects, that may come.
    private func isAwaited() throws -> Bool {
        try statements.exists(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM _import_link) OR EXISTS (SELECT 1 FROM _import_stub)"
        )
    }

    private func append(
        from first: Int,
        _ batch: borrowing RowBatch,
        _ values: Values,
        _ work: inout Work
    ) throws -> Int? {
        work.highest = try highestRowIDs()
        var end = first
        while end < batch.graph.records.count, batch.graph.records[end].isAppendable {
            let rows = batch.rows(of: end)
            if rows.contains(where: { batch.rows[$0].insertReject >= 0 }) { break }
            guard let isNew = try append(rows, batch, values.0, &work) else { return nil }
            guard isNew else { break }
            end += 1
        }
        guard try writePositional(first..<end, batch, values, &work),
            try writeLinks(first..<end, batch, values.0, &work, looksForLinks: true)
        else { return nil }
        return end
    }

    /// Writes the rows of a record's objects that have identifiers.
    ///
    /// - Returns: whether its own object is new: otherwise, nothing is written; nil where a row cannot be written.
    private func append(
        _ rows: Range<Int>,
        _ batch: borrowing RowBatch,
        _ values: RowValues,
        _ work: inout Work
    ) throws -> Bool? {
        for row in rows {
            let (own, nested) = (batch.rows[row], batch.graph.nested[row])
            let (entity, parent) = (Int(own.entity), Int(own.parent))
            if parent >= 0, !work.isPresent[parent] { continue }
            guard nested.keyCell >= 0 else {
                work.isPresent[row] = true
                continue
            }
            let writer = writers[entity]
            // An object that is there is left as it is.
            let policy = parent < 0 ? .error : policies[nested.relationship]
            if writer.onConflict != policy { writer.onConflict = policy }
            let effect = try lookUp(row, writer, batch, self.values(values, of: entity), &work.highest)
            switch effect {
            case .inserted, .updated, .unchanged: work.isPresent[row] = true
            case .ignored: break
            case .duplicate where parent < 0: return false
            case .duplicate, .refused, .incomplete, .waiting: return nil
            }
            count(effect, of: row, batch, &work.outcome)
        }
        return true
    }
}
