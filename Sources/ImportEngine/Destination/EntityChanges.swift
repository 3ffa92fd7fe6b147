import ImportSources

/// The changes of the objects of one entity.
public struct EntityChanges: Sendable, Hashable {
    /// The entity's name.
    public let entity: String
    /// The entity's table.
    public let table: String
    /// The entity's index in the job.
    package let position: Int
    /// The row ids of inserted objects as ranges, in ascending order if they were inserted in that order.
    ///
    /// If there would be too many (`maximumRanges`, or fewer if they come from another process), the closest ranges are merged, and then
    /// contain row ids that did not change.
    public private(set) var insertedRanges: [ClosedRange<Int64>] = []
    /// The row ids of updated objects, likewise.
    public private(set) var updatedRanges: [ClosedRange<Int64>] = []
    /// The row ids of deleted objects, likewise.
    ///
    /// They were merged into others with the same identifier, or their records became rejects. A row id that is also among the inserted
    /// or updated ones may exist or not: an object may be deleted right after it was inserted, and its row id reused.
    public private(set) var deletedRanges: [ClosedRange<Int64>] = []
    /// The number of inserted objects.
    public private(set) var inserted: Int64 = 0
    /// The number of updated objects.
    public private(set) var updated: Int64 = 0
    /// The number of deleted objects.
    public private(set) var deleted: Int64 = 0
    /// The number of records whose object had all their values already.
    ///
    /// It is negative if records that earlier notifications counted here turn out at the end to have changed their object, or to be
    /// rejects.
    public package(set) var unchanged: Int64 = 0
    /// The number of records left out, as their object existed already, their reject was already repaired, or their model leaves them out.
    ///
    /// It is negative if records that earlier notifications counted here turn out to be rejects.
    public package(set) var ignored: Int64 = 0
    /// The number of rejected records.
    public package(set) var rejected: Int64 = 0
    /// The part of these counts that is due to objects nested in records of any entity.
    public package(set) var nested = NestedCounts()

    /// The maximum number of ranges, so that scattered row ids do not fill the memory.
    public static let maximumRanges = 10_000
    /// So many are kept of what one commit inserts, to know its rows one by one.
    package static let maximumRangesOfCommit = 1 << 18
    private var mostInserted = maximumRanges

    /// - Parameter isOfCommit: whether it is about one commit, until it is announced.
    package init(entity: String, table: String, position: Int = 0, isOfCommit: Bool = false) {
        self.entity = entity
        self.table = table
        self.position = position
        if isOfCommit { mostInserted = Self.maximumRangesOfCommit }
    }

    /// The same for those who are notified of it.
    package var announced: EntityChanges {
        guard mostInserted > Self.maximumRanges else { return self }
        var copy = self
        copy.mostInserted = Self.maximumRanges
        if insertedRanges.count > Self.maximumRanges {
            copy.insertedRanges = Self.coarsen(insertedRanges, to: Self.maximumRanges)
        }
        return copy
    }

    /// Puts together what was counted elsewhere.
    package init(
        of totals: EntityTotals,
        position: Int,
        inserted: (count: Int64, ranges: [ClosedRange<Int64>]),
        updated: (count: Int64, ranges: [ClosedRange<Int64>]),
        deleted: (count: Int64, ranges: [ClosedRange<Int64>])
    ) {
        self.init(entity: totals.entity, table: totals.table, position: position)
        (self.inserted, insertedRanges) = inserted
        (self.updated, updatedRanges) = updated
        (self.deleted, deletedRanges) = deleted
    }

    /// True if nothing was changed or counted.
    public var isEmpty: Bool {
        inserted == 0 && updated == 0 && deleted == 0 && unchanged == 0 && ignored == 0 && rejected == 0
            && nested.isEmpty
    }

    package mutating func insert(_ rowID: Int64) {
        inserted += 1
        Self.append(rowID...rowID, to: &insertedRanges, most: mostInserted)
    }

    package mutating func insert(_ rowIDs: ClosedRange<Int64>) {
        inserted += Int64(rowIDs.count)
        Self.append(rowIDs, to: &insertedRanges, most: mostInserted)
    }

    /// Counts objects of a table whose rows have no row ids.
    package mutating func countWithoutRowID(inserted: Int64 = 0, updated: Int64 = 0) {
        self.inserted += inserted
        self.updated += updated
    }

    package mutating func update(_ rowID: Int64) {
        updated += 1
        Self.append(rowID...rowID, to: &updatedRanges)
    }

    /// Notes that an object has changed by what other objects say: no record of its own is counted.
    package mutating func touch(_ rowID: Int64) {
        update(rowID)
        nested.touched += 1
    }

    package mutating func delete(_ rowID: Int64) {
        deleted += 1
        Self.append(rowID...rowID, to: &deletedRanges)
    }

    /// How many ranges it has.
    package var rangeCount: Int { insertedRanges.count + updatedRanges.count + deletedRanges.count }

    /// The same, with at most this many ranges of each kind, in ascending order.
    package func coarsened(to count: Int) -> EntityChanges {
        var copy = self
        copy.insertedRanges = Self.coarsen(insertedRanges, to: count)
        copy.updatedRanges = Self.coarsen(updatedRanges, to: count)
        copy.deletedRanges = Self.coarsen(deletedRanges, to: count)
        return copy
    }

    /// True if it is about the same entity of the same table, whichever job has imported it.
    package func isAbout(_ other: EntityChanges) -> Bool {
        BytewiseString(entity) == BytewiseString(other.entity) && BytewiseString(table) == BytewiseString(other.table)
    }

    /// Takes in what happened next.
    package mutating func add(_ next: EntityChanges) {
        for range in next.insertedRanges { Self.append(range, to: &insertedRanges, most: mostInserted) }
        for range in next.updatedRanges { Self.append(range, to: &updatedRanges) }
        for range in next.deletedRanges { Self.append(range, to: &deletedRanges) }
        inserted = inserted.addingClamped(next.inserted)
        updated = updated.addingClamped(next.updated)
        deleted = deleted.addingClamped(next.deleted)
        unchanged = unchanged.addingClamped(next.unchanged)
        ignored = ignored.addingClamped(next.ignored)
        rejected = rejected.addingClamped(next.rejected)
        nested.add(next.nested)
    }

    /// What records of the entity came to, without nested objects.
    package var records: (inserted: Int64, updated: Int64, deleted: Int64) {
        (
            inserted.subtractingClamped(nested.inserted),
            updated.subtractingClamped(nested.updated.addingClamped(nested.touched)),
            deleted.subtractingClamped(nested.deleted)
        )
    }

    /// How many records of the entity were read for all that.
    package var recordsRead: Int64 {
        let (inserted, updated, _) = records
        return [updated, unchanged, ignored, rejected].reduce(inserted) { $0.addingClamped($1) }
    }

    @inline(__always)
    private static func append(
        _ range: ClosedRange<Int64>,
        to ranges: inout [ClosedRange<Int64>],
        most: Int = maximumRanges
    ) {
        if let last = ranges.last, range.lowerBound > last.lowerBound, range.lowerBound - 1 <= last.upperBound {
            ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        } else if ranges.count < most {
            ranges.append(range)
        } else {
            // Half of them, so that it does not come to this with every row.
            ranges = coarsen(ranges + [range], to: most / 2)
        }
    }

    /// At most this many ranges that have all the row ids in them: where there are more, those that are closest become one.
    private static func coarsen(_ ranges: [ClosedRange<Int64>], to count: Int) -> [ClosedRange<Int64>] {
        var joined: [ClosedRange<Int64>] = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound || range.lowerBound - 1 == last.upperBound {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        guard joined.count > count else { return joined }
        let gaps = zip(joined, joined.dropFirst()).map { UInt64(bitPattern: $1.lowerBound &- $0.upperBound) }
        var widest = Set(gaps.indices.sorted { gaps[$0] > gaps[$1] }.prefix(count - 1))
        var result = [joined[0]]
        for (place, range) in joined.dropFirst().enumerated() {
            if widest.remove(place) != nil {
                result.append(range)
            } else {
                result[result.count - 1] = result[result.count - 1].lowerBound...range.upperBound
            }
        }
        return result
    }
}
