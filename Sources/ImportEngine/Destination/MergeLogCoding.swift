import ImportSources

/// How the store's log keeps what a commit changed: as packed numbers.
package enum MergeLogCoding {
    /// What was changed, in at most about this many bytes: where they would be more, in fewer ranges.
    package static func encode(_ changes: [EntityChanges], within maximumBytes: Int) -> [UInt8] {
        var numbers = LEB128Buffer()
        if changes.reduce(0, { $0 + $1.rangeCount }) <= maximumBytes / 2 {
            numbers.append(changes)
            if numbers.bytes.count <= maximumBytes { return numbers.bytes }
        }
        // In ascending order they take less, and all of them may fit.
        for count in [Int.max, 256, 16, 1] {
            numbers.removeAll()
            numbers.append(changes.map { $0.coarsened(to: count) })
            if numbers.bytes.count <= maximumBytes { break }
        }
        return numbers.bytes
    }

    /// A job's totals.
    package static func encode(_ totals: [EntityTotals]) -> [UInt8] {
        var numbers = LEB128Buffer()
        for entity in totals {
            for count in [
                entity.recordsRead, entity.inserted, entity.updated, entity.unchanged, entity.ignored, entity.rejected,
                entity.rows,
            ] { numbers.appendSigned(count) }
        }
        return numbers.bytes
    }

    /// - Parameter entities: the job's, in their order.
    /// - Returns: nil where the bytes are not what `encode` makes.
    package static func totals(_ bytes: [UInt8], of entities: [EntityTotals]) -> [EntityTotals]? {
        var numbers = LEB128Buffer.Reader(bytes)
        var totals = entities
        for place in totals.indices {
            guard let read = numbers.nextCount(), let inserted = numbers.nextSigned(),
                let updated = numbers.nextCount(),
                let unchanged = numbers.nextCount(), let ignored = numbers.nextCount(),
                let rejected = numbers.nextCount(), let rows = numbers.nextSigned()
            else { return nil }
            totals[place].recordsRead = read
            totals[place].inserted = inserted
            totals[place].updated = updated
            totals[place].unchanged = unchanged
            totals[place].ignored = ignored
            totals[place].rejected = rejected
            totals[place].rows = rows
        }
        return numbers.bytesLeft == 0 ? totals : nil
    }

    /// - Parameter entities: the job's, in their order.
    /// - Returns: nil where the bytes are not what `encode` makes.
    package static func changes(_ bytes: [UInt8], of entities: [EntityTotals]) -> [EntityChanges]? {
        var numbers = LEB128Buffer.Reader(bytes)
        var changes: [EntityChanges] = []
        while numbers.bytesLeft > 0 {
            guard let position = numbers.next(), position < UInt64(entities.count),
                let unchanged = numbers.nextSigned(), let ignored = numbers.nextSigned(),
                let rejected = numbers.nextCount(), let inserted = numbers.nextRanges(),
                let updated = numbers.nextRanges(), let deleted = numbers.nextRanges()
            else { return nil }
            var change = EntityChanges(
                of: entities[Int(position)],
                position: Int(position),
                inserted: inserted,
                updated: updated,
                deleted: deleted
            )
            change.unchanged = unchanged
            change.ignored = ignored
            change.rejected = rejected
            changes.append(change)
        }
        return changes
    }
}

extension LEB128Buffer {
    fileprivate mutating func append(_ changes: [EntityChanges]) {
        for change in changes where !change.isEmpty {
            append(UInt64(change.position))
            for count in [change.unchanged, change.ignored, change.rejected] { appendSigned(count) }
            for (count, ranges) in [
                (change.inserted, change.insertedRanges), (change.updated, change.updatedRanges),
                (change.deleted, change.deletedRanges),
            ] {
                appendSigned(count)
                append(UInt64(ranges.count))
                append(ranges)
            }
        }
    }

    /// Appends ranges, each by how far it is from the one before.
    package mutating func append(_ ranges: [ClosedRange<Int64>]) {
        var last: Int64 = 0
        for range in ranges {
            appendSigned(range.lowerBound &- last)
            append(UInt64(bitPattern: range.upperBound &- range.lowerBound))
            last = range.upperBound
        }
    }
}

extension LEB128Buffer.Reader {
    fileprivate mutating func nextCount() -> Int64? {
        nextSigned().flatMap { $0 < 0 ? nil : $0 }
    }

    fileprivate mutating func nextRanges() -> (count: Int64, ranges: [ClosedRange<Int64>])? {
        // One row may be counted several times, so the count says nothing of the ranges but whether there are any.
        guard let count = nextCount(), let rangeCount = next(), rangeCount <= UInt64(bytesLeft),
            (count == 0) == (rangeCount == 0)
        else { return nil }
        var ranges: [ClosedRange<Int64>] = []
        var last: Int64 = 0
        for _ in 0..<rangeCount {
            guard let step = nextSigned(), let length = next() else { return nil }
            let lower = last &+ step
            let upper = lower &+ Int64(bitPattern: length)
            guard lower <= upper else { return nil }
            ranges.append(lower...upper)
            last = upper
        }
        return (count, ranges)
    }
}
