import Foundation
import ImportModel

/// Gathers one source's records until they fill a chunk.
///
/// Made, used and dropped by one thread.
///
/// Anyone who finds the records says where they begin and end, as offsets in the source; the bytes are taken from the block
/// that was entered last. A record may begin before it is known whether it is one: `discard` takes that back. A chunk is
/// sealed when the first record after it is complete, so that the last chunk of a source is known to be the last.
final class ChunkBuilder {
    /// The settings of one source's split.
    struct Settings {
        /// The source's index in the job, from 0.
        var source: Int
        var limits: SplitLimits
        /// How many record paths the source has.
        var pathCount: Int
        /// Whether the bytes have not been parsed, so that a line break may be inside of a string.
        var isUnparsed: Bool
        /// No chunk ends before this offset in the source.
        var minimumEnd: Int64
    }

    /// Thrown when all records that are wanted are there: the source ends after the last one.
    struct LimitReached: Error {}

    /// Why a record is passed over.
    private enum PassedOver: String {
        case recordTooLarge
        case recordTooDeep
    }

    /// How much of a record that is passed over is kept, in bytes.
    static let headLength = 4_096

    private let writer: ChunkWriter
    private let settings: Settings
    private let maxRecordBytes: Int64
    private let onSealed: (ChunkEntry) throws -> Void

    // The block.
    private var block = UnsafePointer<UInt8>(bitPattern: 1)!
    /// The block's offset in the source.
    private(set) var blockBase: Int64
    private var blockCount = 0
    private var blockHasLineBreaks = false

    // The chunk's bytes: whole lines, then what there is of the record that is open.
    private var bytes: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private let usualCapacity: Int
    private var lineEnd = 0
    private var byteCount = 0

    // The record that is open.
    private var recordStart: Int64 = -1
    private var recordIsKeyed = false
    private var recordIsTooDeep = false
    private var recordHasLineBreaks = false

    // The chunk.
    private var firstByte: Int64
    private var firstOrdinal: Int64
    private var records = 0
    // Their methods call nobody who could come back here; checking that for each record would cost more than they do.
    @exclusivity(unchecked) private var paths = RunList()
    @exclusivity(unchecked) private var gaps = RunList()
    private var rejects: [ChunkEntry.PassedOver] = []
    private var rejectWeight = 0
    private var isFull = false

    // The source.
    /// Just past the last record, where a chunk can end.
    private(set) var recordEnd: Int64
    /// Where the gap before the next record begins.
    private var gapStart: Int64
    /// The opening tokens of the containers that enclose the place after the last record.
    var enclosing: String
    /// Values outside of the record paths.
    private var outside: OutsideCounts
    private var hasOutside = false
    /// The one that has begun.
    private var outsideText: OutsideText?
    private var unseenPaths: UnseenPaths
    /// Which of its records are accepted.
    @exclusivity(unchecked) private var window: RecordWindow
    /// Records of each path in the chunks that are sealed.
    private var sealedPerPath: [Int64]
    /// Up to here: the block's beginning, or a place in it where a chunk was sealed.
    private let track: SourceTrack
    /// Up to the last record of the blocks before this one.
    private let trackAtRecord: SourceTrack
    /// The hash from there to the block's beginning.
    private let hashSinceRecord = XXH3Hasher()

    /// - Parameters:
    ///   - writer: what writes the chunks.
    ///   - settings: those of this source.
    ///   - base: the offset of the first block in the source.
    ///   - start: where the split begins or continues.
    ///   - firstOrdinal: the number of the next record in the job, from 1.
    ///   - knownOutsideNames: names of outside values in the chunks that the source already has.
    ///   - onSealed: called with each chunk when it is safe.
    init(
        writer: ChunkWriter,
        settings: Settings,
        base: Int64,
        start: SplitPosition,
        firstOrdinal: Int64,
        knownOutsideNames: Set<String>,
        onSealed: @escaping (ChunkEntry) throws -> Void
    ) {
        self.writer = writer
        self.settings = settings
        self.onSealed = onSealed
        self.firstOrdinal = firstOrdinal
        maxRecordBytes = Int64(settings.limits.maxRecordBytes)
        usualCapacity = min(writer.chunkSize, 64 << 20) + (64 << 10)
        capacity = usualCapacity
        guard let memory = malloc(capacity) else {
            // There is no memory for a single chunk, at the very beginning.
            fatalError("out of memory")
        }
        bytes = memory.assumingMemoryBound(to: UInt8.self)
        blockBase = base
        firstByte = base
        recordEnd = base
        gapStart = base
        enclosing = start.enclosing
        outside = OutsideCounts(knownNames: knownOutsideNames)
        unseenPaths = UnseenPaths(at: start, settings)
        window = RecordWindow(settings.limits, pathCount: settings.pathCount, before: start.recordsBefore)
        sealedPerPath = Array(repeating: 0, count: settings.pathCount)
        // A byte order mark is no part of the first line.
        let lineStart = start.byteOffset == 0 ? base : start.lineStart
        track = SourceTrack(byteOffset: base, lineBreaks: start.lineBreaks, lineStart: lineStart)
        trackAtRecord = SourceTrack(byteOffset: base, lineBreaks: start.lineBreaks, lineStart: lineStart)
    }

    deinit {
        free(bytes)
    }

    /// Whether a record has begun.
    @inline(__always)
    var hasOpenRecord: Bool { recordStart >= 0 }

    /// What there is of the open record, of earlier blocks only.
    ///
    /// Valid until the next call.
    var openRecord: ByteView {
        let start = lineEnd + (recordIsKeyed ? 1 : 0)
        guard hasOpenRecord, byteCount > start else { return ByteView(base: UnsafePointer(bytes), count: 0) }
        return ByteView(base: UnsafePointer(bytes) + start, count: byteCount - start)
    }

    // MARK: Blocks

    /// Takes the bytes that come next in the source; they stay where they are until `leaveBlock`.
    func enterBlock(_ block: UnsafePointer<UInt8>, _ count: Int) {
        self.block = block
        blockCount = count
        // What has been cut at LF has none in it.
        blockHasLineBreaks =
            settings.isUnparsed ? memchr(block, 0x0D, count) != nil : ByteScan.hasLineBreaks(block, count)
    }

    /// Keeps of the block what is needed later.
    func leaveBlock() {
        let end = blockBase + Int64(blockCount)
        if hasOpenRecord { copy(to: end) }
        if outsideText != nil { passOutside(to: end) }
        if trackAtRecord.byteOffset != recordEnd {
            // A record ended in this block.
            track.advance(to: recordEnd, in: block, base: blockBase)
            trackAtRecord.copy(from: track)
            hashSinceRecord.reset()
        }
        let rest = max(trackAtRecord.byteOffset, blockBase)
        hashSinceRecord.update(
            UnsafeRawBufferPointer(start: block + Int(rest - blockBase), count: Int(end - rest))
        )
        track.advance(to: end, in: block, base: blockBase)
        blockBase = end
        blockCount = 0
    }

    // MARK: Records

    /// Says that a record may begin at `offset`, in this block.
    ///
    /// - Parameters:
    ///   - offset: its first byte in the source.
    ///   - isKeyed: whether its bytes begin with its key.
    @inline(__always)
    func beginRecord(at offset: Int64, isKeyed: Bool) {
        recordStart = offset
        recordIsKeyed = isKeyed
        recordIsTooDeep = false
        recordHasLineBreaks = false
        if isKeyed { append(UInt8(ascii: "{")) }
    }

    /// Says that what began was no record.
    func discardRecord() {
        recordStart = -1
        byteCount = lineEnd
    }

    /// Says that the open record is nested too deeply: of its bytes, only the first are kept.
    func passOverTooDeepRecord() {
        recordIsTooDeep = true
        byteCount = min(byteCount, lineEnd + (recordIsKeyed ? 1 : 0) + Self.headLength)
    }

    /// Says that the open record ends at `offset`.
    ///
    /// - Parameters:
    ///   - offset: just past its last byte, in this block or in white space that leads to it.
    ///   - path: the index of its record path.
    ///   - boundary: where a chunk that ends with it ends, in this block or at its beginning: `offset`, or the end of its
    ///     line.
    ///   - hasLineBreaks: whether a CR or LF is between its tokens, where that is known.
    /// - Throws: what writing the chunk before it threw, or `onSealed`; `LimitReached` if no record after it is wanted.
    func endRecord(at offset: Int64, path: Int, boundary: Int64, hasLineBreaks: Bool? = nil) throws {
        guard window.takesNext(of: path) else { return leaveOutRecord(path: path, boundary: boundary) }
        copy(to: offset)
        if isFull { try seal(isLast: false) }
        let length = offset - recordStart
        gaps.append(recordStart - gapStart)
        paths.append(Int64(path))
        if recordIsTooDeep || length > maxRecordBytes {
            reject(length)
        } else {
            let start = lineEnd + (recordIsKeyed ? 1 : 0)
            byteCount = min(byteCount, start + Int(length))
            if hasLineBreaks ?? recordHasLineBreaks {
                if !settings.isUnparsed {
                    ByteScan.replaceLineBreaks(bytes + start, byteCount - start)
                } else if memchr(bytes + start, 0x0D, byteCount - start) != nil {
                    ByteScan.replaceLineBreaksBetweenStrings(bytes + start, byteCount - start)
                }
            }
            if recordIsKeyed { append(UInt8(ascii: "}")) }
        }
        append(0x0A)
        lineEnd = byteCount
        records += 1
        recordEnd = boundary
        gapStart = offset
        recordStart = -1
        if hasOutside { settleOutside() }
        let weight = byteCount + rejectWeight + 8 * (paths.runCount + gaps.runCount)
        isFull = weight >= writer.chunkSize && boundary >= settings.minimumEnd
        window.pass(path)
        if window.isPassed { throw LimitReached() }
    }

    /// Says that the open record ends here and is not wanted: its bytes belong to the gap before the next one.
    private func leaveOutRecord(path: Int, boundary: Int64) {
        discardRecord()
        window.pass(path)
        recordEnd = boundary
        if hasOutside { settleOutside() }
    }

    /// Whether no record after this position is wanted.
    var hasReachedLimit: Bool { window.isPassed }

    /// Counts a value outside of the record paths, and watches its bytes up to its end.
    ///
    /// - Parameter start: its first byte in the source, or its key's, in this block or in the record that was thought to
    ///   have begun.
    func beginOutside(_ name: String, at start: Int64) {
        outside.count(name)
        hasOutside = true
        outsideText = OutsideText(name, at: start)
        guard start < blockBase else { return }
        outsideText?.pass(openRecord)
        // Of what is longer than a record may be, there is no more than that.
        if outsideText?.position != blockBase { outsideText = OutsideText(name, at: blockBase) }
    }

    /// Says that the value outside of the record paths that has begun, if one has, ends at `end`.
    @inline(__always)
    func endOutside(at end: Int64) {
        if outsideText != nil { judgeOutside(at: end) }
    }

    private func judgeOutside(at end: Int64) {
        passOutside(to: end)
        if let outsideText, !outsideText.isUTF8 { outside.countInvalid(outsideText.name) }
        outsideText = nil
    }

    private func passOutside(to end: Int64) {
        guard let position = outsideText?.position, position >= blockBase, position < end else { return }
        outsideText?.pass(ByteView(base: block + Int(position - blockBase), count: Int(end - position)))
    }

    /// Counts a key on the way to records that is not UTF-8.
    func countInvalidKey(_ name: String) {
        outside.countInvalid(name)
        hasOutside = true
    }

    /// Says that the collections of these record paths were found, whether or not anything is in them.
    func findCollections(_ paths: UInt64) {
        unseenPaths.find(paths)
    }

    private func settleOutside() {
        outside.recordEnded()
        hasOutside = false
    }

    private func reject(_ length: Int64) {
        let start = lineEnd + (recordIsKeyed ? 1 : 0)
        let count = min(byteCount - start, Int(min(length, Int64(Self.headLength))))
        let head = Data(bytes: bytes + start, count: count).base64EncodedString()
        let reason: PassedOver = recordIsTooDeep ? .recordTooDeep : .recordTooLarge
        rejects.append(
            ChunkEntry.PassedOver(
                line: records,
                firstByte: recordStart,
                length: length,
                code: reason.rawValue,
                head: head
            )
        )
        rejectWeight += head.utf8.count + 100
        byteCount = lineEnd
    }

    /// Copies the open record's bytes up to `offset`, but no more than may be needed.
    @inline(__always)
    private func copy(to offset: Int64) {
        let start = lineEnd + (recordIsKeyed ? 1 : 0)
        let from = recordStart + Int64(byteCount - start)
        let limit =
            recordStart + (recordIsTooDeep ? Int64(Self.headLength) : max(maxRecordBytes, Int64(Self.headLength)))
        let count = Int(min(offset, limit) - from)
        guard count > 0 else { return }
        reserve(count)
        (bytes + byteCount).update(from: block + Int(from - blockBase), count: count)
        byteCount += count
        if blockHasLineBreaks { recordHasLineBreaks = true }
    }

    @inline(__always)
    private func append(_ byte: UInt8) {
        reserve(1)
        bytes[byteCount] = byte
        byteCount += 1
    }

    @inline(__always)
    private func reserve(_ count: Int) {
        if capacity - byteCount < count { grow(count) }
    }

    private func grow(_ count: Int) {
        resize(to: max(byteCount + count, capacity + capacity / 2))
    }

    /// Large blocks of memory are moved by the system without being there twice.
    private func resize(to size: Int) {
        guard let moved = realloc(bytes, size) else {
            // There is less memory than the largest record that the job allows (--max-record-bytes); what is committed
            // is safe, and the import can be resumed with more.
            fatalError("out of memory")
        }
        bytes = moved.assumingMemoryBound(to: UInt8.self)
        capacity = size
    }

    // MARK: Chunks

    /// Records of each path since the split began or was resumed.
    var recordsPerPath: [Int64] {
        paths.runs.reduce(into: sealedPerPath) { $0[Int($1.value)] += Int64($1.count) }
    }

    /// Seals the last chunk of a source that ended, whole, where the last block ended, or after the last record that is
    /// wanted.
    func finish() throws {
        discardRecord()
        try seal(isLast: true)
    }

    /// Seals the last chunk of a source of which no more is to be read: no record after this position is wanted.
    func finishAtSampleEnd() throws {
        window.close()
        try finish()
    }

    /// Seals what is complete of a source in which something is wrong.
    func finishAtFault() throws {
        discardRecord()
        if records > 0 { try seal(isLast: false) }
    }

    private func seal(isLast: Bool) throws {
        // Where the chunk ends, what the hash of its source bytes is, and where the next chunk's hash begins.
        let end: SplitPosition
        let sourceHash: String
        if isLast, !hasReachedLimit {
            track.advance(to: blockBase + Int64(blockCount), in: block, base: blockBase)
            sourceHash = track.digest
            end = position(of: track, enclosing: "")
        } else if recordEnd >= track.byteOffset {
            track.advance(to: recordEnd, in: block, base: blockBase)
            sourceHash = track.digest
            end = position(of: track, enclosing: enclosing)
            track.resetHash()
            trackAtRecord.copy(from: track)
            hashSinceRecord.reset()
        } else {
            sourceHash = trackAtRecord.digest
            end = position(of: trackAtRecord, enclosing: enclosing)
            track.copyHash(from: hashSinceRecord)
            trackAtRecord.resetHash()
        }
        let lines = UnsafeRawBufferPointer(start: bytes, count: lineEnd)
        let entry = ChunkEntry(
            number: writer.nextNumber,
            source: settings.source,
            firstByte: firstByte,
            endByte: end.byteOffset,
            sourceHash: sourceHash,
            firstOrdinal: firstOrdinal,
            records: records,
            paths: paths.runs,
            gaps: gaps.runs,
            bytes: Int64(lineEnd),
            checksum: XXH3Hasher.digest(of: lines),
            rejects: rejects,
            outside: outside.take(all: isLast),
            end: end,
            isLast: isLast
        )
        try writer.write(entry, lines)
        beginChunk(after: entry)
        try onSealed(entry)
    }

    private func beginChunk(after entry: ChunkEntry) {
        byteCount -= lineEnd
        memmove(bytes, bytes + lineEnd, byteCount)
        lineEnd = 0
        if capacity > 2 * usualCapacity, byteCount < usualCapacity { resize(to: usualCapacity) }
        firstByte = entry.endByte
        gapStart = entry.endByte
        firstOrdinal += Int64(records)
        sealedPerPath = recordsPerPath
        records = 0
        paths = RunList()
        gaps = RunList()
        rejects = []
        rejectWeight = 0
        isFull = false
    }

    private func position(of track: SourceTrack, enclosing: String) -> SplitPosition {
        SplitPosition(
            byteOffset: track.byteOffset,
            enclosing: enclosing,
            lineBreaks: track.lineBreaks,
            lineStart: track.lineStart,
            recordsBefore: window.recordsBefore,
            unseenPaths: unseenPaths.left(besides: paths.runs, window.recordsBefore)
        )
    }

    // MARK: Lines

    /// The line of an offset, from 1, and its column, from 1 in bytes.
    ///
    /// - Parameter offset: in this block, or in a token that this block continues with.
    /// - Returns: both.
    func lineAndColumn(at offset: Int64) -> (line: Int64, column: Int64) {
        var line = track.lineBreaks + 1
        var start = track.lineStart
        if offset > track.byteOffset {
            for index in Int(track.byteOffset - blockBase)..<Int(offset - blockBase) where block[index] == 0x0A {
                line += 1
                start = blockBase + Int64(index) + 1
            }
        }
        return (line, offset - start + 1)
    }
}
