import ImportModel
import Importer

/// The records on the screen, as they were read last, and which of them are new.
struct WatchedRecords: Sendable {
    /// Which records are wanted.
    struct Request: Sendable, Hashable {
        /// The entity's name.
        var entity: String
        /// What to sort by; without anything, the newest come first.
        var sort: [RecordSort] = []
        var offset = 0
        var limit: Int

        /// True if it is another part of the same whole.
        func isBeside(_ other: Request) -> Bool {
            entity.utf8.elementsEqual(other.entity.utf8) && sort == other.sort
        }
    }

    /// What was asked for.
    let request: Request
    let attributes: [AttributeDescription]
    let records: [Record]
    /// How many there are in all.
    let total: Int
    /// The row ids of those that came since the last reading.
    var new: Set<Int64> = []
    /// The row ids of those that were changed since.
    var changed: Set<Int64> = []
}

/// Keeps a window on an entity's records up to date, by what the store's log reports of each commit.
///
/// Made and used by one thread.
struct RecordWatch {
    /// A screen has no room for more.
    private static let valueBytes = 400

    let reader: StoreReader
    private var follower: StoreFollower?
    private var view: RecordView?
    private var request: WatchedRecords.Request?
    private var marks = ChangeMarks()

    init(_ reader: StoreReader) {
        self.reader = reader
    }

    /// Reads what is asked for.
    ///
    /// - Returns: nil where nothing has changed since the last time, and where the store is gone or another one has its place.
    /// - Throws: `ImportError` when the entity has no such attribute, or the store cannot be read.
    mutating func read(_ request: WatchedRecords.Request) throws -> WatchedRecords? {
        do {
            return try readChanges(request)
        } catch {
            // It may go at any moment, and a watcher waits for what comes then.
            guard reader.isInPlace else { return nil }
            throw error
        }
    }

    private mutating func readChanges(_ request: WatchedRecords.Request) throws -> WatchedRecords? {
        guard let follower, let view, let last = self.request, request.isBeside(last) else { return try begin(request) }
        self.request = request
        var hasChanged = request != last
        marks.forget(all: request.offset != last.offset)
        // Once: what is committed meanwhile is for the next time, which comes when it is due.
        if let merge = try follower.poll() {
            let update = try view.merge(merge)
            // What comes into sight because the window moves is neither new nor changed.
            if request.offset == last.offset { marks.take(update, merge, in: view) }
            hasChanged = hasChanged || update != nil || !marks.isEmpty
        }
        if try view.recountIfDue() != nil { hasChanged = true }
        if request.offset != last.offset || request.limit != last.limit {
            try view.move(toOffset: request.offset, limit: request.limit)
        }
        return hasChanged ? records(view, request) : nil
    }

    private mutating func begin(_ request: WatchedRecords.Request) throws -> WatchedRecords? {
        view = nil
        marks.forget(all: true)
        let follower = try follower ?? StoreFollower(store: reader.store)
        self.follower = follower
        // The view has all that was committed up to now.
        while try follower.poll() != nil {}
        let fetch = FetchRequest(
            entity: request.entity,
            sortedBy: request.sort.isEmpty ? [RecordSort("rowid", ascending: false)] : request.sort,
            offset: request.offset,
            limit: request.limit
        )
        do {
            let view = try RecordView(fetch, valueBytes: Self.valueBytes, in: reader)
            (self.view, self.request) = (view, request)
            return records(view, request)
        } catch let error as ImportError where error.code == .noInput && reader.isInPlace {
            // The entity has no table yet, as while its model is inferred.
            return nil
        }
    }

    private func records(_ view: RecordView, _ request: WatchedRecords.Request) -> WatchedRecords {
        let snapshot = view.snapshot
        return WatchedRecords(
            request: request,
            attributes: view.entity.attributes,
            records: snapshot.sections.flatMap(\.records),
            total: snapshot.total,
            new: marks.new,
            changed: marks.changed
        )
    }
}

/// Which of a view's records the commits of one look have made or changed.
private struct ChangeMarks {
    private(set) var new: Set<Int64> = []
    private(set) var changed: Set<Int64> = []
    /// Those that came into the window, and of which no commit has told yet: the store may be ahead of its notifications.
    private var unexplained: Set<Int64> = []

    var isEmpty: Bool { new.isEmpty && changed.isEmpty }

    /// Begins another look.
    ///
    /// - Parameter all: whether what came into the window is of no interest any more.
    mutating func forget(all: Bool) {
        (new, changed) = ([], [])
        if all { unexplained = [] }
    }

    mutating func take(_ update: RecordViewUpdate?, _ merge: MergeNotification, in view: RecordView) {
        if let changes = update?.changes {
            changed.formUnion(changes.updates.map(\.record.rowID))
            changed.formUnion(changes.moves.filter(\.isUpdated).map(\.record.rowID))
            unexplained.formUnion(changes.insertions.map(\.record.rowID))
            unexplained.formIntersection(view.snapshot.records.map(\.rowID))
        }
        // A record may also come into the window because others went, or are elsewhere.
        let table = view.entity.table.asciiLowercased
        let changes = merge.changes.filter { $0.table.asciiLowercased == table }
        for rowID in unexplained {
            func isIn(_ ranges: [ClosedRange<Int64>]) -> Bool { ranges.contains { $0.contains(rowID) } }
            if changes.contains(where: { isIn($0.insertedRanges) }) {
                new.insert(rowID)
            } else if changes.contains(where: { isIn($0.updatedRanges) }) {
                changed.insert(rowID)
            }
        }
        unexplained.subtract(new)
        unexplained.subtract(changed)
    }
}
