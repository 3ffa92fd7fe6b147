import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The rows of a view's entity that a notification reports, and what they have to do with the window.
///
/// Ranges may cover rows that did not change; nothing here takes them for changed ones.
struct ChangedRows {
    private let inserted: [ClosedRange<Int64>]
    private let updated: [ClosedRange<Int64>]
    private let deleted: [ClosedRange<Int64>]
    /// How many there are.
    private let count: Int64

    init(_ all: [EntityChanges], of entity: EntityDescription) {
        let changes = all.filter {
            BytewiseString($0.table.asciiLowercased) == BytewiseString(entity.table.asciiLowercased)
        }
        inserted = changes.flatMap(\.insertedRanges)
        updated = changes.flatMap(\.updatedRanges)
        deleted = changes.flatMap(\.deletedRanges)
        count = changes.reduce(0) {
            $0.addingClamped($1.inserted).addingClamped($1.updated).addingClamped($1.deleted)
        }
    }

    /// True if rows of some tables are among what was changed.
    ///
    /// - Parameter tables: their names, in lower case.
    static func are(in tables: Set<BytewiseString>, _ all: [EntityChanges]) -> Bool {
        !tables.isEmpty
            && all.contains { changes in
                tables.contains(BytewiseString(changes.table.asciiLowercased))
                    && !(changes.insertedRanges.isEmpty && changes.updatedRanges.isEmpty
                        && changes.deletedRanges.isEmpty)
            }
    }

    /// True if there are none.
    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    // MARK: Without a query

    /// True if the window stays as it is, as far as can be told without looking at the store.
    func cannotTouch(_ state: RecordView.State, _ query: WindowQuery) -> Bool {
        if state.limit == 0 { return true }
        guard query.order.isByRowID, state.isFull, let first = state.first, let last = state.last else { return false }
        func isBehind(_ rows: ClosedRange<Int64>) -> Bool {
            query.order.isRowIDAscending ? rows.lowerBound > last.rowID : rows.upperBound < last.rowID
        }
        // Row ids stay; so do places, unless records come to match the predicate.
        func isBefore(_ rows: ClosedRange<Int64>) -> Bool {
            query.order.isRowIDAscending ? rows.upperBound < first.rowID : rows.lowerBound > first.rowID
        }
        return inserted.allSatisfy(isBehind) && deleted.allSatisfy(isBehind)
            && updated.allSatisfy { isBehind($0) || !query.isSelective && isBefore($0) }
    }

    /// True if one of them may be in the window.
    private func touch(_ state: RecordView.State) -> Bool {
        (inserted + updated + deleted).contains { rows in
            var (low, high) = (0, state.rowIDs.count)
            while low < high {
                let middle = (low + high) / 2
                if state.rowIDs[middle] < rows.lowerBound { low = middle + 1 } else { high = middle }
            }
            return low < state.rowIDs.count && state.rowIDs[low] <= rows.upperBound
        }
    }

    // MARK: With one

    /// Where to read the window from; nil where it stays as it is.
    func start(
        of state: inout RecordView.State,
        _ source: RecordView.Source,
        _ database: Database
    ) throws -> WindowQuery.Start? {
        let query = source.query
        let isTouched = touch(state)
        // Other records come into a full window only by being before its last one now; into one that has room, anywhere.
        let end = state.isFull ? state.last : nil
        if state.offset == 0 {
            if isTouched || isReadingCheaper(state, source) { return .offset(0) }
            return try (inserted + updated).contains { try query.isAny(of: $0, upTo: end, database) } ? .offset(0) : nil
        }
        func all() throws -> WindowQuery.Start { try RecordView.start(at: state.offset, state, database) }
        guard let first = state.first else { return try all() }
        // How many records precede the window is known as long as rows only come. Where one was that was changed or
        // is gone, nobody knows; nor whether it was counted before, as the store may be ahead of its notification.
        let isKnown = (updated + deleted).allSatisfy { $0.lowerBound > state.lastRowID }
        guard isKnown, let before = try state.countNew(before: first, query, database) else {
            if isTouched || !updated.isEmpty || !deleted.isEmpty || isReadingCheaper(state, source) {
                return try all()
            }
            return try inserted.contains { try query.isAny(of: $0, upTo: end, database) } ? all() : nil
        }
        let new = state.lastRowID + 1...Int64.max
        if before == 0, !isTouched, try !query.isAny(of: new, upTo: end, database) {
            state.lastRowID = max(state.lastRowID, try query.lastRowID(database))
            return nil
        }
        return try query.key(-before, from: first, database).map { .key($0) } ?? all()
    }

    /// True if it takes less to read the window than to look at each of the rows.
    private func isReadingCheaper(_ state: RecordView.State, _ source: RecordView.Source) -> Bool {
        let span = (inserted + updated).reduce(0.0) { $0 + Double($1.upperBound) - Double($1.lowerBound) + 1 }
        let offset = Double(state.offset)
        // Under a predicate any number of records may be passed over to fill the window.
        if source.isIndexed, !source.query.isSelective, span > offset + Double(state.limit) { return true }
        return span > 4 * Double(count) + 1_000 + offset
    }
}
