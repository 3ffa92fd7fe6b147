import Foundation
import ImportModel

/// Gathers one source's records until they fill a chunk.
///
/// Made, used and dropped by one thread.
///
/// Anyone who finds the records says where they begin and end, as offsets in the source; the bytes are taken from the block
/// that was entered last. A record may begin before it is known whether it is one: `discard` takes that back. A chunk is
/// sealed when the first record after it is complete, so that the last chunk of a source is known to be the last.
package final class ChunkBuilder {
    /// The settings of one source's split.
    package struct Settings {
        package var limits: SplitLimits
        /// How many record paths the source has.
        var pathCount: Int
        /// True if the bytes have not been parsed, so that a line break may be inside of a string.
        var isUnparsed: Bool
        /// The path of the source that each line begins with, as JSON; empty for none.
        var file: [UInt8] = []
    }

    /// Thrown when all records that are wanted are there: the source ends after the last one.
    struct LimitReached: Error {}

    /// How much of a record that is passed over is kept, in bytes.
    static let headLength = 4_096

    private let writer: ChunkWriter
    private let settings: Settings
    package let maxRecordBytes: Int64
    /// The source's index in the job, from 0.
    private let source: Int
    /// No chunk ends before this offset in the source.
    private let minimumEnd: Int64
    private let onSealed: (ChunkEntry) throws -> Void

    /// The block that records are copied from.
    private var block: SourceBlock
    /// The same bytes as the source has them.
    private var sourceBlock: SourceBlock
    private var blockHasLineBreaks = false

    // The record that is open.
    private(set) var recordStart: Int64 = -1
    private var recordIsTooDeep = false
    private var recordHasLineBreaks = false

    // The chunk.
    // Their methods call nobody who could come back here; checking that for each record would cost more than they do.
    @exclusivity(unchecked) private var buffer: ChunkBuffer
    @exclusivity(unchecked) private var layout: ChunkLayout
    private var isFull = false
    /// How many bytes of it are written, and no longer in memory.
    private var written = 0
    private let portion: Int

    // The source.
    /// Just past the last record, where a chunk can end.
    private(set) var recordEnd: Int64
    /// The opening tokens of the containers that enclose the place after the last record.
    var enclosing: String
    @exclusivity(unchecked) private var outside: UnmatchedValues
    private var missingPaths: MissingRecordPaths
    /// Which of its records are accepted.
    @exclusivity(unchecked) private var skipLimit: RecordSkipLimit
    private let boundaries: ChunkBoundaries

    /// - Parameters:
    ///   - writer: what writes the chunks.
    ///   - settings: those of this source.
    ///   - base: the offset of the first block in the source.
    ///   - start: where the split begins or continues.
    ///   - onSealed: called with each chunk when it is sealed; its file is whole where it does not share one.
    package init(
        writer: ChunkWriter,
        settings: Settings,
        base: Int64,
        start: SplitStart,
        onSealed: @escaping (ChunkEntry) throws -> Void
    ) {
        self.writer = writer
        self.settings = settings
        self.onSealed = onSealed
        source = start.source
        minimumEnd = start.minimumEnd ?? 0
        maxRecordBytes = Int64(settings.limits.maxRecordBytes)
        block = SourceBlock(emptyAt: base)
        sourceBlock = block
        portion = writer.portion
        buffer = ChunkBuffer(usualSize: min(writer.chunkSize, writer.portion))
        buffer.line = RecordLine().within(settings.file)
        layout = ChunkLayout(from: base, firstOrdinal: start.firstOrdinal, pathCount: settings.pathCount)
        recordEnd = base
        enclosing = start.position.enclosing
        outside = UnmatchedValues(
            knownNames: Set(start.outsideNames),
            keptBytes: start.position.outsideBytes ?? 0
        )
        missingPaths = MissingRecordPaths(at: start.position, settings)
        skipLimit = RecordSkipLimit(
            settings.limits,
            pathCount: settings.pathCount,
            before: start.position.recordsBefore
        )
        boundaries = ChunkBoundaries(from: base, start.position)
    }

    /// The block's offset in the source.
    var blockBase: Int64 { block.base }

    /// True if a record has begun.
    @inline(__always)
    var hasOpenRecord: Bool { recordStart >= 0 }

    /// What there is of the open record, of earlier blocks only.
    ///
    /// Valid until the next call.
    var openRecord: ByteView {
        let record = buffer.record
        return ByteView(UnsafeBufferPointer(rebasing: record[..<(hasOpenRecord ? record.count : 0)]))
    }

    // MARK: Blocks

    /// Takes the bytes that come next in the source; they stay where they are until `leaveBlock`.
    ///
    /// - Parameters:
    ///   - bytes: what records are copied from.
    ///   - count: how many they are.
    ///   - source: the same bytes as the source has them; nil if these are the source's.
    func enterBlock(_ bytes: UnsafePointer<UInt8>, _ count: Int, source: UnsafePointer<UInt8>? = nil) {
        block = SourceBlock(bytes, at: block.base, count: count)
        sourceBlock = SourceBlock(source ?? bytes, at: block.base, count: count)
        // What has been cut at LF has none in it.
        blockHasLineBreaks =
            settings.isUnparsed ? memchr(bytes, 0x0D, count) != nil : ByteScan.hasLineBreaks(bytes, count)
    }

    /// Leaves out what is behind the first `count` bytes of the block: it comes again.
    func endBlock(after count: Int) {
        block = SourceBlock(block.bytes(from: block.base), at: block.base, count: count)
        sourceBlock = SourceBlock(sourceBlock.bytes(from: block.base), at: block.base, count: count)
    }

    /// Goes back to just after the last record: the bytes from there on come again.
    func rewind() {
        discardRecord()
        outside.rewind()
        if recordEnd >= block.base {
            endBlock(after: Int(recordEnd - block.base))
            leaveBlock()
        } else {
            boundaries.rewind()
            block = SourceBlock(emptyAt: recordEnd)
            sourceBlock = block
        }
    }

    /// Keeps of the block what is needed later.
    func leaveBlock() {
        if hasOpenRecord { copy(to: block.end) }
        outside.leave(sourceBlock)
        boundaries.leave(sourceBlock, recordEnd: recordEnd)
        block = SourceBlock(emptyAt: block.end)
        sourceBlock = block
    }

    // MARK: Records

    /// Says what is around the bytes of the records that begin from here on; none is open.
    package func put(in line: RecordLine) { buffer.line = line.within(settings.file) }

    /// Says that a record may begin at `offset`, in this block.
    ///
    /// - Parameter offset: its first byte in the source; of its key where that is right before it.
    @inline(__always)
    func beginRecord(at offset: Int64) {
        recordStart = offset
        recordIsTooDeep = false
        recordHasLineBreaks = false
        buffer.beginRecord()
    }

    /// Says that what began was no record.
    func discardRecord() {
        recordStart = -1
        buffer.discardRecord()
    }

    /// Says that the open record is nested too deeply: of its bytes, only the first are kept.
    func passOverTooDeepRecord() {
        recordIsTooDeep = true
        buffer.truncateRecord(to: Self.headLength)
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
        guard skipLimit.takesNext(of: path) else { return leaveOutRecord(path: path, boundary: boundary) }
        copy(to: offset)
        if isFull { try seal(isLast: false) }
        let length = offset - recordStart
        if recordIsTooDeep || length > maxRecordBytes {
            passOver(length)
        } else {
            buffer.truncateRecord(to: Int(length))
            if hasLineBreaks ?? recordHasLineBreaks { buffer.replaceLineBreaks(isUnparsed: settings.isUnparsed) }
            buffer.endRecord()
        }
        layout.append(from: recordStart, to: offset, path: path)
        recordEnd = boundary
        recordStart = -1
        outside.recordEnded()
        isFull = written + buffer.lineEnd + layout.weight >= writer.chunkSize && boundary >= minimumEnd
        if buffer.lineEnd >= portion { try writeLines() }
        skipLimit.pass(path)
        if skipLimit.isPassed { throw LimitReached() }
    }

    /// Says that the open record ends here and is not wanted: its bytes belong to the gap before the next one.
    private func leaveOutRecord(path: Int, boundary: Int64) {
        discardRecord()
        skipLimit.pass(path)
        recordEnd = boundary
        outside.recordEnded()
    }

    /// Leaves the open record's line empty, and keeps its first bytes beside it.
    private func passOver(_ length: Int64) {
        buffer.truncateRecord(to: Int(min(length, Int64(Self.headLength))))
        layout.passOverNext(
            from: recordStart,
            length: length,
            isTooDeep: recordIsTooDeep,
            line: buffer.line,
            head: Data(buffer: buffer.record)
        )
        buffer.discardRecord()
        buffer.endLine()
    }

    /// Copies the open record's bytes up to `offset`, but no more than may be needed.
    @inline(__always)
    private func copy(to offset: Int64) {
        let from = recordStart + Int64(buffer.recordCount)
        let limit =
            recordStart + (recordIsTooDeep ? Int64(Self.headLength) : max(maxRecordBytes, Int64(Self.headLength)))
        let count = Int(min(offset, limit) - from)
        guard count > 0 else { return }
        buffer.append(block.bytes(from: from), count)
        if blockHasLineBreaks { recordHasLineBreaks = true }
    }

    /// True if no record after this position is wanted.
    package var hasReachedLimit: Bool { skipLimit.isPassed }

    // MARK: Beside the records

    /// Counts a value outside of the record paths, and watches its bytes up to its end.
    ///
    /// - Parameters:
    ///   - start: its first byte in the source, or its key's, in this block or in the record that was thought to have begun.
    ///   - isMember: whether it begins with its key.
    func beginOutside(_ name: String, at start: Int64, isMember: Bool = false) {
        outside.begin(name, at: start, isMember: isMember, in: sourceBlock, openRecord: openRecord)
    }

    /// Says that the value outside of the record paths that has begun, if one has, ends at `end`.
    @inline(__always)
    func endOutside(at end: Int64) {
        outside.end(at: end, in: sourceBlock)
    }

    /// Counts a key on the way to records that is not UTF-8.
    func countInvalidKey(_ name: String) {
        outside.countInvalidKey(name)
    }

    /// Says that the collections of these record paths were found, whether or not anything is in them.
    func findCollections(_ paths: UInt64) {
        missingPaths.find(paths)
    }

    /// The line of an offset, from 1, and its column, from 1 in bytes.
    ///
    /// - Parameter offset: in this block, or in a token that this block continues with.
    /// - Returns: both.
    func lineAndColumn(at offset: Int64) -> (line: Int64, column: Int64) {
        boundaries.lineAndColumn(at: offset, in: sourceBlock)
    }

    // MARK: Chunks

    /// Records of each path since the split began or was resumed.
    var recordsPerPath: [Int64] { layout.recordsPerPath }

    /// Seals the last chunk of a source that ended, whole, where the last block ended, or after the last record that is
    /// wanted.
    package func finish() throws {
        discardRecord()
        try seal(isLast: true)
    }

    /// Seals the last chunk of a source in which something is wrong: it ends with the last record before that.
    func finish(asBad fault: String) throws {
        discardRecord()
        try seal(isLast: true, fault: fault)
    }

    /// Seals the last chunk of a source of which no more is to be read: no record after this position is wanted.
    func finishAtSampleEnd() throws {
        skipLimit.close()
        try finish()
    }

    /// Seals what is complete of a source in which something is wrong.
    func finishAtFault() throws {
        discardRecord()
        if layout.records > 0 { try seal(isLast: false) }
    }

    /// Writes the whole lines that are in memory.
    private func writeLines() throws {
        try writer.append(buffer.lines)
        buffer.dropLines()
        written = Int(writer.count)
    }

    private func seal(isLast: Bool, fault: String? = nil) throws {
        let endsWithSource = isLast && !hasReachedLimit && fault == nil
        var (end, sourceHash) =
            endsWithSource ? boundaries.endWithSource(sourceBlock) : boundaries.end(at: recordEnd, in: sourceBlock)
        let paths = layout.pathRuns
        end.enclosing = endsWithSource ? "" : enclosing
        end.recordsBefore = skipLimit.recordsBefore
        let (outsideCounts, outsideValues) = outside.take(all: isLast)
        end.outsideBytes = outside.keptBytes > 0 ? outside.keptBytes : nil
        end.missingPaths = missingPaths.left(besides: paths, skipLimit.recordsBefore)
        try writeLines()
        let entry = ChunkEntry(
            number: writer.nextNumber,
            source: source,
            firstByte: layout.firstByte,
            endByte: end.byteOffset,
            sourceHash: sourceHash,
            firstOrdinal: layout.firstOrdinal,
            records: layout.records,
            paths: paths,
            gaps: layout.gapRuns,
            bytes: writer.count,
            checksum: writer.checksum,
            rejects: layout.rejects,
            outside: outsideCounts,
            outsideValues: outsideValues,
            end: end,
            isLast: isLast,
            fault: fault
        )
        try writer.seal(entry)
        written = 0
        layout.beginNext(after: entry.endByte)
        isFull = false
        try onSealed(entry)
    }
}
