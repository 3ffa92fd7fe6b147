/// What one commit changed, or several in a row, sent after readers can see it.
public struct MergeNotification: Sendable, Hashable {
    /// The job's number in the store.
    public let job: Int64
    /// The number of the last commit that it covers, in the job, from 1.
    public private(set) var commit: Int64
    /// What was changed, by entity.
    public private(set) var changes: [EntityChanges]
    /// Where the job stands after it.
    public private(set) var marker: Marker
    /// Whether the job is finished with it.
    public private(set) var isFinished: Bool

    /// Takes in the notification that follows this one, for an observer that was busy meanwhile.
    mutating func merge(_ next: MergeNotification) {
        for change in next.changes {
            if let place = changes.firstIndex(where: { $0.entity == change.entity }) {
                changes[place].add(change)
            } else {
                changes.append(change)
            }
        }
        commit = next.commit
        marker = next.marker
        isFinished = next.isFinished
    }
}

/// What happened to the objects of one entity.
public struct EntityChanges: Sendable, Hashable {
    /// The entity's name.
    public let entity: String
    /// The entity's table.
    public let table: String
    /// The row ids of new objects, as ranges in ascending order where they came in that order.
    ///
    /// Where there would be more than `maximumRanges`, one range covers them all, and others that did not change.
    public private(set) var insertedRanges: [ClosedRange<Int64>] = []
    /// The row ids of changed objects, likewise.
    public private(set) var updatedRanges: [ClosedRange<Int64>] = []
    /// The row ids of objects that are gone, likewise; some may be among the new ones of the same notification.
    ///
    /// Others have the same identifier: they were merged into them, or their records are rejects now.
    public private(set) var deletedRanges: [ClosedRange<Int64>] = []
    /// How many objects are new.
    public private(set) var inserted: Int64 = 0
    /// How many objects have changed.
    public private(set) var updated: Int64 = 0
    /// How many objects are gone.
    public private(set) var deleted: Int64 = 0
    /// Records whose object had all their values already.
    public internal(set) var unchanged: Int64 = 0
    /// Records left out: their object is there already, or what they would repair is repaired.
    public internal(set) var ignored: Int64 = 0
    /// Records that were not taken.
    public internal(set) var rejected: Int64 = 0

    /// So many ranges are told apart; scattered row ids must not fill the memory.
    public static let maximumRanges = 10_000

    init(entity: String, table: String) {
        self.entity = entity
        self.table = table
    }

    /// Whether it says nothing.
    public var isEmpty: Bool {
        inserted == 0 && updated == 0 && deleted == 0 && unchanged == 0 && ignored == 0 && rejected == 0
    }

    mutating func insert(_ rowID: Int64) {
        inserted += 1
        Self.extend(&insertedRanges, with: rowID)
    }

    mutating func update(_ rowID: Int64) {
        updated += 1
        Self.extend(&updatedRanges, with: rowID)
    }

    mutating func delete(_ rowID: Int64) {
        deleted += 1
        Self.extend(&deletedRanges, with: rowID)
    }

    mutating func add(_ next: EntityChanges) {
        for range in next.insertedRanges { Self.append(range, to: &insertedRanges) }
        for range in next.updatedRanges { Self.append(range, to: &updatedRanges) }
        for range in next.deletedRanges { Self.append(range, to: &deletedRanges) }
        inserted += next.inserted
        updated += next.updated
        deleted += next.deleted
        unchanged += next.unchanged
        ignored += next.ignored
        rejected += next.rejected
    }

    @inline(__always)
    private static func extend(_ ranges: inout [ClosedRange<Int64>], with rowID: Int64) {
        append(rowID...rowID, to: &ranges)
    }

    @inline(__always)
    private static func append(_ range: ClosedRange<Int64>, to ranges: inout [ClosedRange<Int64>]) {
        if let last = ranges.last, range.lowerBound > last.lowerBound, range.lowerBound - 1 <= last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        } else if ranges.count < maximumRanges {
            ranges.append(range)
        } else {
            let lowest = ranges.reduce(range.lowerBound) { min($0, $1.lowerBound) }
            let highest = ranges.reduce(range.upperBound) { max($0, $1.upperBound) }
            ranges = [lowest...highest]
        }
    }
}
