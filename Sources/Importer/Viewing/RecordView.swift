import GRDB
import ImportModel
import Synchronization

/// A sorted, sectioned window on an entity's records that follows the merge notifications (after
/// `NSFetchedResultsController`).
///
/// It reads in short transactions of its own, so it never waits for an import and sees whole commits only. A notification
/// that cannot touch the window does no query; one that does reads from the key of the window's first record on, which costs
/// what the window costs, wherever it stands in the whole, if an index has the order that is asked for. Records are passed
/// over one by one (`OFFSET`) only where the view jumps, and where records before the window were changed or deleted whose
/// places nobody knows any more.
///
/// A view is followed by one reader: each update is what makes the last one's snapshot the next.
public final class RecordView: Sendable {
    /// The entity whose records it shows; their values are in the order of its attributes.
    public let entity: EntityDescription

    private let reader: StoreReader
    let query: WindowQuery
    private let sections: RecordViewSections?
    let clock: ViewClock
    /// Kept while the store is read.
    private let state: Mutex<State>
    /// What there is to look at meanwhile.
    private let shown: Mutex<RecordViewSnapshot>

    /// What the view knows of the store.
    struct State: Sendable {
        var limit: Int
        var snapshot = RecordViewSnapshot()
        var offset: Int
        var records: [Record] = []
        var rowIDs: [Int64] = []
        /// The keys of the window's first and last record.
        var first: WindowKey?
        var last: WindowKey?
        /// The window is as it was right after this commit.
        var position = StorePosition.start
        /// All rows up to this one have their part in the window's offset.
        var lastRowID: Int64 = 0
        /// Whether an index has the window's order.
        var isIndexed = false
        var total: ViewTotal

        var isFull: Bool { records.count >= limit }

        mutating func take(_ window: WindowQuery.Window) {
            records = window.records
            rowIDs = records.map(\.rowID).sorted()
            first = window.first
            last = window.last
        }
    }

    /// Opens a view, and reads what it shows.
    ///
    /// - Parameters:
    ///   - request: which records, in which order; its offset and limit are the window.
    ///   - sectionKey: the attribute whose values make the sections; it must be the first one to sort by.
    ///   - reader: the context to read in; several views may share one.
    /// - Throws: `ImportError` when the store has no such entity, the entity no such attribute, or the store cannot be read;
    ///   `RecordPredicateError` when the predicate does not fit the entity.
    public convenience init(_ request: FetchRequest, sectionKey: String? = nil, in reader: StoreReader) throws {
        try self.init(request, sectionKey: sectionKey, in: reader, clock: .continuous)
    }

    init(_ request: FetchRequest, sectionKey: String?, in reader: StoreReader, clock: ViewClock) throws {
        self.reader = reader
        self.clock = clock
        (entity, query) = try reader.read { database in
            let entity = try reader.entity(named: request.entity, database)
            return (entity, try WindowQuery(request, of: entity, database))
        }
        sections = try sectionKey.map { [entity] in try RecordViewSections(key: $0, of: request, in: entity) }
        let total = ViewTotal(table: entity.table, query: query, clock: clock)
        state = Mutex(State(limit: max(request.limit ?? .max, 0), offset: max(request.offset, 0), total: total))
        shown = Mutex(RecordViewSnapshot())
        try refresh()
    }

    /// What the view shows now, without waiting for the store.
    public var snapshot: RecordViewSnapshot { shown.withLock { $0 } }

    /// Looks at everything again, as after changes that no notification tells of: those of other programs.
    ///
    /// - Returns: what has changed, or nil if nothing has.
    /// - Throws: `ImportError` when the store can no longer be read, was replaced or deleted.
    @discardableResult
    public func refresh() throws -> RecordViewUpdate? {
        try change { state, database in
            state.isIndexed = try query.isIndexed(database)
            try state.total.count(database)
            try read(.offset(state.offset), &state, database)
        }
    }

    /// Shows another part of the sorted whole.
    ///
    /// From the window to one beside it, it reads by keys; from anywhere else it passes over the records before.
    ///
    /// - Parameters:
    ///   - offset: how many records to pass over, from 0.
    ///   - limit: how many to show at most; as many as before if it is nil.
    /// - Returns: what has changed, or nil if nothing has.
    /// - Throws: `ImportError` as `refresh` does.
    @discardableResult
    public func move(toOffset offset: Int, limit: Int? = nil) throws -> RecordViewUpdate? {
        try change { state, database in
            let offset = max(offset, 0)
            var start = WindowQuery.Start.offset(offset)
            if let first = state.first, abs(offset - state.offset) < offset,
                let key = try query.key(offset - state.offset, from: first, database)
            {
                start = .key(key)
            }
            state.offset = offset
            if let limit { state.limit = max(limit, 0) }
            try read(start, &state, database)
        }
    }

    /// Takes in what a commit has changed.
    ///
    /// - Parameter notification: from the `MergeCenter` of an import; in order, and all of them.
    /// - Returns: what has changed, or nil if nothing has.
    /// - Throws: `ImportError` as `refresh` does.
    @discardableResult
    public func merge(_ notification: MergeNotification) throws -> RecordViewUpdate? {
        let changes = notification.changes.filter {
            $0.table.asciiLowercased == entity.table.asciiLowercased
                && ($0.inserted > 0 || $0.updated > 0 || $0.deleted > 0)
        }
        if notification.needsRefresh { return try refresh() }
        guard !changes.isEmpty else { return nil }
        let rows = ChangedRows(changes)
        return try change(
            beforehand: { state in
                state.total.bringUp(notification)
                return notification.position.isCovered(by: state.position) || rows.cannotTouch(state, query)
            },
            { state, database in
                try state.total.bringUp(database)
                if let start = try rows.start(of: &state, query, database) { try read(start, &state, database) }
            }
        )
    }

    // MARK: Totals

    /// When the total is to be brought up to what it should be; nil when it is.
    var totalIsDue: Duration? { state.withLock { $0.total.isDue } }

    /// Brings the total up to what it should be.
    @discardableResult
    func recount() throws -> RecordViewUpdate? {
        guard totalIsDue != nil else { return nil }
        return try change { state, database in try state.total.count(database) }
    }

    // MARK: Reading

    private func read(_ start: WindowQuery.Start, _ state: inout State, _ database: Database) throws {
        state.take(try query.window(start, limit: state.limit, database))
        let last = try query.lastRowID(database)
        switch start {
        case .offset:
            state.lastRowID = last
            state.position = try MergeLog.end(database)
        // Rows that are gone had their part in the key's place, until their notification comes.
        case .key: state.lastRowID = max(state.lastRowID, last)
        }
    }

    /// Reads in one transaction; if it fails, nothing has changed.
    ///
    /// - Parameter beforehand: says whether nothing needs to be read.
    private func change(
        beforehand: (inout State) throws -> Bool = { _ in false },
        _ body: (inout State, Database) throws -> Void
    ) throws -> RecordViewUpdate? {
        try state.withLock { state in
            var next = state
            if try !beforehand(&next) { try reader.read { try body(&next, $0) } }
            let records = next.records
            let whole = RecordViewSnapshot.Section(name: nil, records: records)
            let snapshot = RecordViewSnapshot(
                sections: sections?.divide(records) ?? (records.isEmpty ? [] : [whole]),
                offset: next.offset,
                total: next.total.value
            )
            let changes = RecordViewChanges(from: state.snapshot, to: snapshot)
            let isSame =
                changes.isEmpty && snapshot.offset == state.snapshot.offset && snapshot.total == state.snapshot.total
            next.snapshot = snapshot
            state = next
            guard !isSame else { return nil }
            shown.withLock { $0 = snapshot }
            return RecordViewUpdate(changes: changes, snapshot: snapshot)
        }
    }
}

extension StorePosition {
    /// Whether everything up to here comes before another position in the same store.
    fileprivate func isCovered(by other: StorePosition) -> Bool {
        store != nil && store == other.store && sequence <= other.sequence
    }
}
