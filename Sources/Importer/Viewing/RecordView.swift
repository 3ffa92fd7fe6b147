import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources
import Synchronization

import struct ImportEngine.FetchRequest

/// A sorted, sectioned window on an entity's records that follows the merge notifications (after
/// `NSFetchedResultsController`).
///
/// It reads in short transactions of its own, so it never waits for an import and sees whole commits only. A notification
/// that cannot touch the window does no query; one that does reads from the key of the window's first record on, which costs
/// what the window costs, wherever it is in the whole, if an index has the order that is asked for. Records are passed
/// over one by one (`OFFSET`, from whichever end is nearer) only where the view jumps, and where records before the window
/// were changed or deleted whose positions are no longer known.
///
/// A view is followed by one reader: each update is what makes the last one's snapshot the next.
public final class RecordView: Sendable {
    private let reader: StoreReader
    private let request: FetchRequest
    private let sectionKey: String?
    private let valueBytes: Int?
    let clock: ViewClock
    /// Kept while the store is read.
    private let state: Mutex<State>
    /// What there is to look at meanwhile.
    private let shown: Mutex<(entity: EntityDescription, snapshot: RecordViewSnapshot)>

    /// Opens a view, and reads what it shows.
    ///
    /// In a reader that awaits its store, the view is empty until there are the store and the entity. The first notification of
    /// the entity's records fills it.
    ///
    /// - Parameters:
    ///   - request: which records, in which order; its offset and limit are the window.
    ///   - sectionKey: the attribute whose values make the sections; it must be the first one to sort by.
    ///   - reader: the context to read in; several views may share one.
    /// - Throws: `ImportError` when the store has no such entity, the entity no such attribute or relationship, or the store cannot
    ///   be read; `RecordPredicateError` when the predicate does not fit the entity.
    public convenience init(_ request: FetchRequest, sectionKey: String? = nil, in reader: StoreReader) throws {
        try self.init(request, sectionKey: sectionKey, in: reader, clock: .continuous)
    }

    /// Opens a view that shows the beginnings of values only.
    ///
    /// - Parameter valueBytes: how many bytes of a text or a binary are read at most. What has changed after them is no change.
    /// - Throws: as the other one does.
    package convenience init(_ request: FetchRequest, valueBytes: Int, in reader: StoreReader) throws {
        try self.init(request, sectionKey: nil, valueBytes: valueBytes, in: reader, clock: .continuous)
    }

    init(
        _ request: FetchRequest,
        sectionKey: String?,
        valueBytes: Int? = nil,
        in reader: StoreReader,
        clock: ViewClock
    ) throws {
        self.reader = reader
        self.request = request
        self.sectionKey = sectionKey
        self.valueBytes = valueBytes
        self.clock = clock
        let entity = try reader.awaitedEntity(named: request.entity)?.description
        shown = Mutex((entity ?? EntityDescription(name: request.entity, attributes: []), RecordViewSnapshot()))
        state = Mutex(State(offset: max(request.offset, 0), limit: max(request.limit ?? .max, 0)))
        try refresh()
    }

    /// The entity whose records it shows; their values are in the order of its attributes, and related objects that the request
    /// includes are attributes of JSON.
    ///
    /// An import that restarts may remove it, and make it with other attributes. Until it does, it is what it was.
    public var entity: EntityDescription { shown.withLock { $0.entity } }

    /// What the view shows now, without waiting for the store; nothing while the store does not have the entity.
    public var snapshot: RecordViewSnapshot { shown.withLock { $0.snapshot } }

    /// What the view shows now, as objects.
    ///
    /// - Throws: `DecodingError` when a record is no such object.
    public func objects<Object: Decodable>(as type: Object.Type = Object.self) throws -> [Object] {
        let (entity, snapshot) = shown.withLock { $0 }
        return try snapshot.records.map { try $0.object(as: type, of: entity) }
    }

    /// Looks at everything again, as after changes that no notification reports: those of other programs.
    ///
    /// - Returns: what has changed, or nil if nothing has.
    /// - Throws: `ImportError` when the store can no longer be read, was replaced or deleted, or the entity was made again
    ///   without an attribute that the view needs; `RecordPredicateError` when the predicate no longer fits it.
    @discardableResult
    public func refresh() throws -> RecordViewUpdate? {
        try change { state, database in try lookAgain(&state, database) }
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
            let step = offset - state.offset
            state.offset = offset
            if let limit { state.limit = max(limit, 0) }
            try withSource(&state, database) { state, source in
                var start = try Self.start(at: offset, state, database)
                if let first = state.first, abs(step) < start.distance {
                    // The store may be ahead of its notifications: what it has before the window by now was not counted.
                    let before = try state.countNew(before: first, source.query, database) ?? 0
                    if let key = try source.query.key(step - before, from: first, database) { start = .key(key) }
                }
                try read(start, source, &state, database)
            }
        }
    }

    /// Takes in what a commit has changed.
    ///
    /// - Parameter notification: from the `MergeCenter` of an import; in order, and all of them.
    /// - Returns: what has changed, or nil if nothing has.
    /// - Throws: `ImportError` as `refresh` does.
    @discardableResult
    public func merge(_ notification: MergeNotification) throws -> RecordViewUpdate? {
        if notification.needsRefresh { return try refresh() }
        let rows = ChangedRows(notification.changes, of: entity)
        let (isThere, reaches) = state.withLock { state in
            (state.source != nil, ChangedRows.are(in: state.source?.query.reached ?? [], notification.changes))
        }
        if rows.isEmpty, isThere, !reaches { return nil }
        return try change(
            beforehand: { state in
                guard let source = state.source else { return false }
                state.total?.bringUp(notification)
                return notification.position.isCovered(by: state.position)
                    || !reaches && rows.cannotTouch(state, source.query)
            },
            { state, database in
                try withSource(&state, database) { state, source in
                    try state.total?.bringUp(database)
                    // Which of the window's records depend on other tables' rows is told by reading.
                    let start =
                        try reaches
                        ? Self.start(at: state.offset, state, database) : rows.start(of: &state, source, database)
                    if let start { try read(start, source, &state, database) }
                }
            }
        )
    }

    // MARK: Totals

    /// When the total is to be brought up to what it should be, on the view's clock; nil when it is.
    var totalIsDue: Duration? { state.withLock { $0.total?.isDue } }

    /// Brings the total up to what it should be, if it is time to.
    package func recountIfDue() throws -> RecordViewUpdate? {
        guard let totalIsDue, clock.now() >= totalIsDue else { return nil }
        return try recount()
    }

    /// Brings the total up to what it should be.
    @discardableResult
    func recount() throws -> RecordViewUpdate? {
        guard totalIsDue != nil else { return nil }
        return try change { state, database in
            try withSource(&state, database) { state, _ in try state.total?.count(database) }
        }
    }

    // MARK: Reading

    /// Calls `body`; where tables have come or gone since, as when an import restarts, looks at everything again instead.
    private func withSource(
        _ state: inout State,
        _ database: Database,
        _ body: (inout State, Source) throws -> Void
    ) throws {
        if let source = state.source, try Self.schemaVersion(database) == state.schemaVersion {
            try body(&state, source)
        } else {
            try lookAgain(&state, database)
        }
    }

    private func lookAgain(_ state: inout State, _ database: Database) throws {
        let source = try source(database)
        state.source = source
        state.schemaVersion = try Self.schemaVersion(database)
        guard let source else {
            state.take(WindowQuery.Window())
            state.total = nil
            return
        }
        var total = RecordCounter(table: source.entity.table, query: source.query, clock: clock)
        try total.count(database)
        state.total = total
        try read(Self.start(at: state.offset, state, database), source, &state, database)
    }

    /// Where to read the window from if nothing is known of it: from the end, if that is nearer.
    static func start(at offset: Int, _ state: State, _ database: Database) throws -> WindowQuery.Start {
        guard offset > 0, let total = try state.total?.exact(database), total > offset, total - offset < offset else {
            return .offset(offset)
        }
        return .end(total - offset)
    }

    /// Nil when the store does not have the entity.
    private func source(_ database: Database) throws -> Source? {
        let entity: FetchedEntity
        do {
            entity = try reader.entity(named: request.entity, database)
        } catch let error as ImportError where error.code == .noInput {
            return nil
        }
        let query = try WindowQuery(request, of: entity, valueBytes: valueBytes, database)
        return Source(
            entity: query.contents.description,
            query: query,
            sections: try sectionKey.map {
                try RecordViewSections(key: $0, of: request, in: query.contents.description)
            },
            isIndexed: try query.isIndexed(database)
        )
    }

    private static func schemaVersion(_ database: Database) throws -> Int64? {
        try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA schema_version"))
    }

    private func read(
        _ start: WindowQuery.Start,
        _ source: Source,
        _ state: inout State,
        _ database: Database
    ) throws {
        let query = source.query
        state.take(try query.window(start, limit: state.limit, database))
        let last = try query.lastRowID(database)
        switch start {
        case .offset, .end:
            state.lastRowID = last
            state.position = try MergeLog.end(database)
        // Rows that are gone had their part in the key's place, until their notification comes.
        case .key, .after, .value: state.lastRowID = max(state.lastRowID, last)
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
                sections: next.source?.sections?.divide(records) ?? (records.isEmpty ? [] : [whole]),
                offset: next.offset,
                total: next.total?.value ?? 0
            )
            let changes = RecordViewChanges(from: state.snapshot, to: snapshot)
            let isSame =
                changes.isEmpty && snapshot.offset == state.snapshot.offset && snapshot.total == state.snapshot.total
            next.snapshot = snapshot
            state = next
            shown.withLock { $0 = (next.source?.entity ?? $0.entity, snapshot) }
            guard !isSame else { return nil }
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
