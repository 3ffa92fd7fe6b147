import Foundation

/// What is known of the records of a chunk that is being filled: where they were in the source, of which record paths
/// they are, and which are passed over.
struct ChunkLayout {
    /// Where the chunk begins in the source.
    private(set) var firstByte: Int64
    /// The number of its first record in the job, from 1.
    private(set) var firstOrdinal: Int64
    /// How many records it has.
    private(set) var records = 0
    private(set) var rejects: [ChunkEntry.SkippedRecord] = []
    private var paths = RunLengthList()
    private var gaps = RunLengthList()
    private var rejectWeight = 0
    /// Where the gap before the next record begins.
    private var gapStart: Int64
    /// Records of each path in the chunks before this one.
    private var sealedPerPath: [Int64]

    /// The layout of a chunk that begins at `firstByte`.
    ///
    /// - Parameters:
    ///   - firstOrdinal: the number of its first record in the job, from 1.
    ///   - pathCount: how many record paths the source has.
    init(from firstByte: Int64, firstOrdinal: Int64, pathCount: Int) {
        self.firstByte = firstByte
        self.firstOrdinal = firstOrdinal
        gapStart = firstByte
        sealedPerPath = Array(repeating: 0, count: pathCount)
    }

    /// The record paths of its records, in runs.
    var pathRuns: [ChunkEntry.Run] { paths.runs }

    /// How many source bytes precede each record that are not in its line, in runs.
    var gapRuns: [ChunkEntry.Run] { gaps.runs }

    /// About how many bytes it takes in the manifest.
    @inline(__always)
    var weight: Int { rejectWeight + 8 * (paths.runCount + gaps.runCount) }

    /// Records of each path since the split began or was resumed.
    var recordsPerPath: [Int64] {
        paths.runs.reduce(into: sealedPerPath) { $0[Int($1.value)] += Int64($1.count) }
    }

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - start: its first byte in the source.
    ///   - end: just past its last one.
    ///   - path: the index of its record path.
    @inline(__always)
    mutating func append(from start: Int64, to end: Int64, path: Int) {
        gaps.append(start - gapStart)
        paths.append(Int64(path))
        gapStart = end
        records += 1
    }

    /// Says that the record that is added next is passed over.
    ///
    /// - Parameters:
    ///   - start: its first byte in the source.
    ///   - length: its length there.
    ///   - isTooDeep: whether it is nested too deeply; it is too large otherwise.
    ///   - line: what its line would have around it.
    ///   - head: its first bytes.
    mutating func passOverNext(from start: Int64, length: Int64, isTooDeep: Bool, line: RecordLine, head: Data) {
        let head = head.base64EncodedString()
        let keys = line.head.count > 1 ? String(decoding: line.head, as: UTF8.self) : nil
        rejects.append(
            ChunkEntry.SkippedRecord(
                line: records,
                firstByte: start,
                length: length,
                code: isTooDeep ? "recordTooDeep" : "recordTooLarge",
                head: head,
                keys: keys
            )
        )
        rejectWeight += head.utf8.count + (keys?.utf8.count ?? 0) + 100
    }

    /// Begins the next chunk, which has no records yet.
    ///
    /// - Parameter end: where this one ends in the source.
    mutating func beginNext(after end: Int64) {
        var next = ChunkLayout(from: end, firstOrdinal: firstOrdinal + Int64(records), pathCount: 0)
        next.sealedPerPath = recordsPerPath
        self = next
    }
}
