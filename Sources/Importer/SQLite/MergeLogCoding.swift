/// How the store's log keeps what a commit changed: numbers of seven bits a byte, the lowest first.
struct MergeLogCoding {
    private(set) var bytes: [UInt8] = []
    private var place = 0

    /// What was changed, in at most about this many bytes: where they would be more, in fewer ranges.
    static func encode(_ changes: [EntityChanges], within maximumBytes: Int) -> [UInt8] {
        var coding = MergeLogCoding()
        if changes.reduce(0, { $0 + $1.rangeCount }) <= maximumBytes / 2 {
            coding.append(changes)
            if coding.bytes.count <= maximumBytes { return coding.bytes }
        }
        // In ascending order they take less, and all of them may fit.
        for count in [Int.max, 256, 16, 1] {
            coding.bytes.removeAll(keepingCapacity: true)
            coding.append(changes.map { $0.coarsened(to: count) })
            if coding.bytes.count <= maximumBytes { break }
        }
        return coding.bytes
    }

    private mutating func append(_ changes: [EntityChanges]) {
        for change in changes where !change.isEmpty {
            append(UInt64(change.position))
            for count in [change.unchanged, change.ignored, change.rejected] { appendSigned(count) }
            append(change.inserted, change.insertedRanges)
            append(change.updated, change.updatedRanges)
            append(change.deleted, change.deletedRanges)
        }
    }

    private mutating func append(_ count: Int64, _ ranges: [ClosedRange<Int64>]) {
        appendSigned(count)
        append(UInt64(ranges.count))
        var last: Int64 = 0
        for range in ranges {
            appendSigned(range.lowerBound &- last)
            append(UInt64(bitPattern: range.upperBound &- range.lowerBound))
            last = range.upperBound
        }
    }

    /// A job's totals.
    static func encode(_ totals: [EntityTotals]) -> [UInt8] {
        var coding = MergeLogCoding()
        for entity in totals {
            for count in [
                entity.recordsRead, entity.inserted, entity.updated, entity.unchanged, entity.ignored, entity.rejected,
                entity.rows,
            ] { coding.appendSigned(count) }
        }
        return coding.bytes
    }

    private mutating func append(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    /// Small numbers of either sign are short.
    private mutating func appendSigned(_ number: Int64) {
        append(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
    }

    // MARK: Reading

    private init() {}

    private init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// - Parameter entities: the job's, in their order.
    /// - Returns: nil where the bytes are not what `encode` makes.
    static func totals(_ bytes: [UInt8], of entities: [EntityTotals]) -> [EntityTotals]? {
        var coding = MergeLogCoding(bytes)
        var totals = entities
        for place in totals.indices {
            guard let read = coding.nextCount(), let inserted = coding.nextSigned(), let updated = coding.nextCount(),
                let unchanged = coding.nextCount(), let ignored = coding.nextCount(),
                let rejected = coding.nextCount(), let rows = coding.nextSigned()
            else { return nil }
            totals[place].recordsRead = read
            totals[place].inserted = inserted
            totals[place].updated = updated
            totals[place].unchanged = unchanged
            totals[place].ignored = ignored
            totals[place].rejected = rejected
            totals[place].rows = rows
        }
        return coding.isAtEnd ? totals : nil
    }

    /// - Parameter entities: the job's, in their order.
    /// - Returns: nil where the bytes are not what `encode` makes.
    static func changes(_ bytes: [UInt8], of entities: [EntityTotals]) -> [EntityChanges]? {
        var coding = MergeLogCoding(bytes)
        var changes: [EntityChanges] = []
        while !coding.isAtEnd {
            guard let position = coding.next(), position < UInt64(entities.count),
                let unchanged = coding.nextCount(), let ignored = coding.nextCount(),
                let rejected = coding.nextCount(), let inserted = coding.nextRanges(),
                let updated = coding.nextRanges(), let deleted = coding.nextRanges()
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

    private var isAtEnd: Bool { place == bytes.count }

    private mutating func next() -> UInt64? {
        var (number, shift): (UInt64, UInt64) = (0, 0)
        while place < bytes.count, shift < 64 {
            let byte = bytes[place]
            place += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }

    private mutating func nextSigned() -> Int64? {
        next().map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
    }

    private mutating func nextCount() -> Int64? {
        nextSigned().flatMap { $0 < 0 ? nil : $0 }
    }

    private mutating func nextRanges() -> (count: Int64, ranges: [ClosedRange<Int64>])? {
        // One row may be counted several times, so the count says nothing of the ranges but whether there are any.
        guard let count = nextCount(), let rangeCount = next(), rangeCount <= UInt64(bytes.count - place),
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
