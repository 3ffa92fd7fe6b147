import Glibc
import ImportModel

/// The bytes of a chunk that is being filled and that are not written yet: whole lines, then what there is of the record that is
/// open.
///
/// It grows with the largest record, and shrinks again when the lines are dropped.
struct ChunkBuffer: ~Copyable {
    private var bytes: UnsafeMutablePointer<UInt8>
    private var capacity: Int
    private let usualCapacity: Int
    private var count = 0
    /// Just past the last whole line.
    private(set) var lineEnd = 0
    /// Where the open record's own bytes begin, after what its line has before them.
    private var recordStart = 0
    /// What the lines of records that begin have around them.
    var line = RecordLine()

    /// - Parameter usualSize: how many bytes of lines there are at most, but for the last one.
    init(usualSize: Int) {
        usualCapacity = usualSize + (64 << 10)
        capacity = usualCapacity
        guard let memory = malloc(capacity) else {
            // There is no memory for the first lines, at the very beginning.
            fatalError("out of memory")
        }
        bytes = memory.assumingMemoryBound(to: UInt8.self)
    }

    deinit {
        free(bytes)
    }

    /// The whole lines.
    var lines: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: lineEnd) }

    /// What there is of the open record; valid until the next call.
    var record: UnsafeMutableBufferPointer<UInt8> {
        UnsafeMutableBufferPointer(start: bytes + recordStart, count: recordCount)
    }

    /// How many bytes there are of the open record.
    @inline(__always)
    var recordCount: Int { count - recordStart }

    /// Begins a line with a record.
    @inline(__always)
    mutating func beginRecord() {
        if line.keys > 0 { appendHead() }
        recordStart = count
    }

    private mutating func appendHead() {
        reserve(line.head.count)
        for byte in line.head {
            bytes[count] = byte
            count += 1
        }
    }

    /// Copies the bytes that come next in the open record.
    @inline(__always)
    mutating func append(_ source: UnsafePointer<UInt8>, _ length: Int) {
        reserve(length)
        (bytes + count).update(from: source, count: length)
        count += length
    }

    /// Leaves of the open record its first `length` bytes at most.
    @inline(__always)
    mutating func truncateRecord(to length: Int) {
        count = min(count, recordStart + length)
    }

    /// Makes spaces of the CR and LF between the tokens of the open record.
    ///
    /// - Parameter isUnparsed: whether they may also be inside of its strings, where they stay.
    mutating func replaceLineBreaks(isUnparsed: Bool) {
        let record = bytes + recordStart
        if !isUnparsed {
            ByteScan.replaceLineBreaks(record, recordCount)
        } else if memchr(record, 0x0D, recordCount) != nil || memchr(record, 0x0A, recordCount) != nil {
            ByteScan.replaceLineBreaksBetweenStrings(record, recordCount)
        }
    }

    /// Takes the open record's line back.
    mutating func discardRecord() {
        count = lineEnd
        recordStart = lineEnd
    }

    /// Ends the line of the open record.
    @inline(__always)
    mutating func endRecord() {
        for _ in 0..<line.keys { append(UInt8(ascii: "}")) }
        endLine()
    }

    /// Ends the line, which stays empty where its record was discarded.
    @inline(__always)
    mutating func endLine() {
        append(0x0A)
        lineEnd = count
    }

    /// Drops the whole lines; what there is of the open record stays.
    mutating func dropLines() {
        count -= lineEnd
        recordStart -= lineEnd
        memmove(bytes, bytes + lineEnd, count)
        lineEnd = 0
        if capacity > 2 * usualCapacity, count < usualCapacity { resize(to: usualCapacity) }
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        reserve(1)
        bytes[count] = byte
        count += 1
    }

    @inline(__always)
    private mutating func reserve(_ length: Int) {
        if capacity - count < length { grow(length) }
    }

    private mutating func grow(_ length: Int) {
        resize(to: max(count + length, capacity + capacity / 2))
    }

    /// Large blocks of memory are moved by the system without being there twice.
    private mutating func resize(to size: Int) {
        guard let moved = realloc(bytes, size) else {
            // There is less memory than the largest record that the job allows (`maxRecordBytes`); what is committed
            // is safe, and the import can be resumed with more.
            fatalError("out of memory")
        }
        bytes = moved.assumingMemoryBound(to: UInt8.self)
        capacity = size
    }
}
