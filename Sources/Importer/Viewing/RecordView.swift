import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources
import Synchronization

import struct ImportSources.FetchRequest

/// A sorted window on an entity's records, in sections, that is updated by merge notifications (after
/// `NSFetchedResultsController`).
///
/// A view reads in short transactions of its own, so it never waits for an import and sees whole commits only. Notifications
/// outside the window run no query. Others re-read the window from the key of its first record: with an index on the sort
/// order, the cost depends on the window's size, not on its position. Records are skipped one by one (`OFFSET`, from the nearer end)
/// only if the view jumps, or if records before the window were changed or deleted whose positions are no longer known.
///
/// A view has one reader: each update applies to the snapshot of the one before.
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

    /// Opens a view, and reads the records in its window.
    ///
    /// If the reader awaits its store, the view is empty until the store and the entity exist. The first notification of the entity's
    /// records fills it.
    ///
    /// - Parameters:
    ///   - request: the records and their order; its offset and limit are the window.
    ///   - sectionKey: the attribute whose values make the sections; it must be the first one to sort by.
    ///   - reader: the reader to use; several views may share one.
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

    /// The entity of the view's records.
    ///
    /// Their values are in the order of its attributes; related objects that the request includes are JSON attributes.
    ///
    /// An import that restarts may remove the entity and create it with other attributes. Until then it is the former one.
    public var entity: EntityDescription { shown.withLock { $0.entity } }

    /// The current snapshot, without waiting for the store; empty while the store does not have the entity.
    public var snapshot: RecordViewSnapshot { shown.withLock { $0.snapshot } }

    /// The records of the current snapshot, as objects.
    ///
    /// - Throws: `DecodingError` when a record does not fit the type.
    public func objects<Object: Decodable>(as type: Object.Type = Object.self) throws -> [Object] {
        let (entity, snapshot) = shown.withLock { $0 }
        return try snapshot.records.map { try $0.object(as: type, of: entity) }
    }

    /// Re-reads the view.
    ///
    /// Use it after changes that no notification reports, such as those of other programs.
    ///
    /// - Returns: the changes, or nil if there are none.
    /// - Throws: `ImportError` when the store can no longer be read, was replaced or deleted, or the entity was created again without an
    ///   attribute that the view needs; `RecordPredicateError` when the predicate no longer fits the entity.
    @discardableResult
    public func refresh() throws -> RecordViewUpdate? {
        try change { state, database in try lookAgain(&state, database) }
    }

    /// Moves the window to another part of the sorted records.
    ///
    /// A window beside the current one is read by keys; for any other, the records before it are skipped.
    ///
    /// - Parameters:
    ///   - offset: the number of records before the window.
    ///   - limit: the maximum number of records; nil for the current limit.
    /// - Returns: the changes, or nil if there are none.
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

    /// Applies the changes of a commit.
    ///
    /// - Parameter notification: a notification of the `MergeCenter` of an import; pass all of them, in order.
    /// - Returns: the changes, or nil if there are none.
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

    /// The time, on the view's clock, at which the total must be counted again; nil if the total is current.
    var totalIsDue: Duration? { state.withLock { $0.total?.isDue } }

    /// Brings the total up to what it should be, if it is time to.
    package func recountIfDue() throws -> RecordViewUpdate? {
        guard let totalIsDue, clock.now() >= totalIsDue else { return nil }
        return try recount()
    }

    /// Counts the total again.
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

    /// The position from which to read a window of which nothing is known: from the end, if that is nearer.
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
    /// True if everything up to here comes before another position in the same store.
    fileprivate func isCovered(by other: StorePosition) -> Bool {
        store != nil && store == other.store && sequence <= other.sequence
    }
}
