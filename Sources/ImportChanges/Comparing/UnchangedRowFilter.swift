import Dispatch
import GRDB
import ImportModel
import ImportSQLite
import ImportSources
import Synchronization

/// Finds the rows of an entity that are the same in both stores, where most rows of the one follow each other as they do in the
/// other: a store and a later copy of it, or two imports of nearly the same.
///
/// Both tables are read as they lie there, by threads side by side, and nothing is sorted (`RowPairReader`). The row ids of the rows that
/// are left are kept in a temporary table of each connection; they are compared by their identifiers afterwards. Where most rows are
/// left, as they lie in another order, digests of all rows are sorted by identifier instead.
///
/// What the threads share is guarded by `state`; each reads with connections of its own.
package final class UnchangedRowFilter: @unchecked Sendable {
    /// What was found.
    package struct Result {
        /// How many rows are the same.
        package var same: Int64 = 0
        /// How many others each store has.
        package var left = StatePair<Int64>(0, 0)
    }

    /// The temporary table with the row ids of an entity's rows that are left, in its column `id`.
    package static func left(_ index: Int) -> String { "_import_left_\(index)" }

    private struct State {
        var ranges: [StatePair<ClosedRange<Int64>>]
        var result = Result()
        /// True if all rows are read by their digests now.
        var isSorted = false
        var isOver = false
        var failure: (any Error)?
    }

    private let index: Int
    private let entity: RowPairReader.Entity
    private let stores: StatePair<ComparedStore>
    private let insertions: StatePair<ComparisonCursor>
    private let state: Mutex<State>
    private let threads: Int

    /// How many rows may be left before it counts whether more were the same.
    private static let trial: Int64 = 20_000
    /// For fewer row ids than these, no other thread is started.
    private static let leastRange: UInt64 = 20_000
    /// Ranges for each thread: none has to wait for long at the end.
    private static let rangesEach = 8

    /// - Parameter workers: how many threads read side by side, from 1.
    /// - Returns: nil where rows have to be read in the order of their identifiers anyway.
    /// - Throws: `DatabaseError` when there is no room for temporary data.
    package init?(
        _ index: Int,
        in plan: ComparisonPlan,
        _ statements: StatePair<ComparisonStatements>,
        _ stores: StatePair<ComparedStore>,
        workers: Int
    ) throws {
        guard plan.entities[index].isAlone, let entity = RowPairReader.Entity(index, in: plan, statements) else {
            return nil
        }
        var ends = StatePair<ClosedRange<Int64>?>(nil, nil)
        for side in StoreState.allCases {
            guard let text = statements[side].ends(index) else { return nil }
            let row = try stores[side].rows(text, path: 0)
            try row.advance()
            // Nothing is the same where nothing is.
            guard row.hasRow, !row.isNull(0) else { return nil }
            ends[side] = row.integer(0)...row.integer(1)
        }
        guard let old = ends.old, let new = ends.new else { return nil }
        // In WAL mode, a connection that is opened now might see a later state.
        let isShared = !stores.old.isInWALMode && !stores.new.isInWALMode
        let count = UInt64(bitPattern: old.upperBound) &- UInt64(bitPattern: old.lowerBound)
        threads = isShared && count >= Self.leastRange ? max(1, workers) : 1
        let pairs = try RowPairReader(entity, stores)
        let ranges = try pairs.ranges(StatePair(old, new), threads == 1 ? 1 : threads * Self.rangesEach)
        state = Mutex(State(ranges: ranges.reversed()))
        self.index = index
        self.entity = entity
        self.stores = stores
        insertions = StatePair(
            try Self.emptyTable(index, stores.old),
            try Self.emptyTable(index, stores.new)
        )
    }

    private static func emptyTable(_ index: Int, _ store: ComparedStore) throws -> ComparisonCursor {
        let left = left(index)
        try store.writingTemporaryData { database in
            try database.execute(
                sql: "CREATE TEMP TABLE IF NOT EXISTS \(left) (id INTEGER PRIMARY KEY); DELETE FROM temp.\(left)"
            )
        }
        return try store.rows(SQLFragment("INSERT INTO temp.\(left) VALUES (?1)"), path: 0)
    }

    /// Reads both tables.
    ///
    /// - Throws: `DatabaseError` when a store cannot be read, or when there is no room for temporary data.
    package func run() throws -> Result {
        let others = DispatchGroup()
        for _ in 1..<threads {
            others.enter()
            do {
                try SystemThread.start(to: "compare rows") { [self] in
                    work(on: nil)
                    others.leave()
                }
            } catch {
                // This thread reads it all, if need be.
                others.leave()
                break
            }
        }
        // What is left is written by the stores' own connections meanwhile.
        work(on: threads == 1 ? stores : nil)
        others.wait()
        let isInOrder = try state.withLock { state in
            if let failure = state.failure { throw failure }
            return !state.isOver
        }
        if !isInOrder { try runSorted() }
        return state.withLock(\.result)
    }

    private func runSorted() throws {
        for side in StoreState.allCases { _ = try Self.emptyTable(index, stores[side]) }
        state.withLock { ($0.result, $0.isOver, $0.isSorted) = (Result(), false, true) }
        try RowPairReader.readSorted(entity, stores, keep)
    }

    /// A thread's work.
    ///
    /// - Parameter own: the stores to read; nil for connections of its own.
    private func work(on own: StatePair<ComparedStore>?) {
        do {
            var pairs: RowPairReader?
            while let range = next() {
                let reading =
                    try pairs ?? RowPairReader(entity, own ?? StatePair(try stores.old.again(), try stores.new.again()))
                pairs = reading
                try reading.read(range, keep)
            }
        } catch {
            state.withLock { state in
                if state.failure == nil { state.failure = error }
                state.isOver = true
            }
        }
    }

    private func next() -> StatePair<ClosedRange<Int64>>? {
        state.withLock { $0.isOver ? nil : $0.ranges.popLast() }
    }

    /// Keeps what a thread has found out.
    ///
    /// - Returns: whether to go on.
    private func keep(_ findings: RowPairReader.Findings) throws -> Bool {
        try state.withLock { state in
            if state.isOver { return false }
            for side in StoreState.allCases where !findings.left[side].isEmpty {
                try stores[side].writingTemporaryData { _ in
                    for id in findings.left[side] {
                        insertions[side].reset()
                        try insertions[side].bind(.integer(id), at: 0)
                        try insertions[side].advance()
                    }
                    insertions[side].reset()
                }
            }
            state.result.same += findings.same
            for side in StoreState.allCases { state.result.left[side] += Int64(findings.left[side].count) }
            let left = state.result.left.old + state.result.left.new
            state.isOver = !state.isSorted && left > state.result.same + Self.trial
            return !state.isOver
        }
    }
}

extension ComparedEntity {
    /// True if its objects can be compared each by itself: nothing belongs to them, and they belong to nothing.
    fileprivate var isAlone: Bool {
        owner == nil && owned.isEmpty && joins.isEmpty && !references.contains(where: \.isIncluded) && !isReportedOnce
            && roots == nil && identifierIsUnique.old && identifierIsUnique.new && !isValue
    }
}
