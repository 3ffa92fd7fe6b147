import Foundation
import ImportModel

/// Cuts NDJSON at its line breaks, without a look at what the lines hold.
///
/// Made, used and dropped by one thread.
final class LineSplitter {
    private let builder: ChunkBuilder
    private let matcher: RecordMatcher
    private let maxRecordBytes: Int64
    /// Just past the last byte of the open line that is no white space.
    private var textEnd: Int64 = -1
    /// Whether there was a line with text.
    private(set) var hasValues = false

    init(builder: ChunkBuilder, matcher: RecordMatcher, maxRecordBytes: Int) {
        self.builder = builder
        self.matcher = matcher
        self.maxRecordBytes = Int64(maxRecordBytes)
    }

    /// Cuts one more block, which the builder has entered.
    ///
    /// - Throws: whatever the builder throws.
    func split(_ block: UnsafePointer<UInt8>, _ count: Int) throws {
        let base = builder.blockBase
        var start = 0
        while start < count {
            let found = memchr(block + start, 0x0A, count - start)
            let end = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(block) } ?? count
            if !builder.hasOpenRecord {
                while start < end, ByteScan.isSpace(block[start]) { start += 1 }
                if start < end {
                    builder.beginRecord(at: base + Int64(start))
                    hasValues = true
                }
            }
            var last = end
            while last > start, ByteScan.isSpace(block[last - 1]) { last -= 1 }
            if last > start { textEnd = base + Int64(last) }
            if found != nil, builder.hasOpenRecord {
                try builder.endRecord(at: textEnd, path: 0, boundary: base + Int64(end))
            }
            start = end + 1
        }
    }

    /// Takes the last line, if the source does not end with a line break.
    ///
    /// - Parameter isResumed: whether there were records before this split began.
    /// - Throws: `ScanFault` if the line breaks off or there was no line at all, and whatever the builder throws.
    func finish(isResumed: Bool) throws {
        guard hasValues || isResumed else {
            throw ScanFault(kind: .empty, byteOffset: builder.blockBase, message: "there is no JSON value")
        }
        guard builder.hasOpenRecord else { return }
        if try isTruncated(builder.openRecord) {
            throw ScanFault(
                kind: .truncated,
                byteOffset: builder.blockBase,
                message: "the last line ends inside a value"
            )
        }
        try builder.endRecord(at: textEnd, path: 0, boundary: builder.blockBase)
    }

    /// Whether JSON begins here and does not end.
    ///
    /// A line that is too large anyway is not looked at to its end.
    private func isTruncated(_ line: ByteView) throws -> Bool {
        guard Int64(line.count) < maxRecordBytes else { return false }
        let parser = YajlParser(handler: RecordScanner(checking: matcher))
        try parser.handler.beginPiece(line.base, line.count, base: 0)
        guard parser.parse(line) == .consumed else { return false }
        if case .failed = parser.finish() { return true }
        return false
    }
}
