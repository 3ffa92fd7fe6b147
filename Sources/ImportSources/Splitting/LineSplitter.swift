import Foundation
import ImportModel

/// Cuts NDJSON at its line breaks, without a look at what the lines hold.
///
/// Only a line that may break off within an array or object is looked at: it ends with neither `}` nor `]`, or the next line
/// begins with what can follow a closed container in one that is open (`,`, `}`, `]`). If following lines make it whole,
/// all of them are one record; otherwise it is a record by itself, which decoding rejects.
///
/// Made, used and dropped by one thread.
final class LineSplitter {
    private let builder: ChunkBuilder
    private let matcher: RecordMatcher
    private let maxRecordBytes: Int64
    /// Just past the last byte of the open line that is no white space.
    private var textEnd: Int64 = -1
    /// True if there was a line with text.
    private(set) var hasValues = false
    /// True if the open line begins with a container.
    private var opens = false
    /// The last byte of the open line that is no white space.
    private var lastByte: UInt8 = 0

    /// How many lines may follow one that breaks off, to make it whole.
    private static let mostFollowing = 1_000

    /// What a line is together with those that follow it.
    private enum Continuation {
        /// A record by itself.
        case none
        /// One record up to here, in the block.
        case to(Int)
        /// Further bytes decide.
        case unknown
        /// A record that is not whole where the source ends.
        case truncated
    }

    init(builder: ChunkBuilder, matcher: RecordMatcher, maxRecordBytes: Int) {
        self.builder = builder
        self.matcher = matcher
        self.maxRecordBytes = Int64(maxRecordBytes)
    }

    /// Cuts one more block, which the builder has entered.
    ///
    /// - Parameter isLast: whether no bytes follow.
    /// - Returns: how many bytes of the block were cut, the builder's block ends there; those after them are to come again,
    ///   with more of the source behind them.
    /// - Throws: whatever the builder throws.
    func split(_ block: UnsafePointer<UInt8>, _ count: Int, isLast: Bool) throws -> Int {
        let base = builder.blockBase
        var start = 0
        while start < count {
            let found = memchr(block + start, 0x0A, count - start)
            var end = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(block) } ?? count
            if !builder.hasOpenRecord {
                while start < end, ByteScan.isSpace(block[start]) { start += 1 }
                if start < end {
                    builder.beginRecord(at: base + Int64(start))
                    hasValues = true
                    opens = block[start] == UInt8(ascii: "{") || block[start] == UInt8(ascii: "[")
                }
            }
            var last = end
            while last > start, ByteScan.isSpace(block[last - 1]) { last -= 1 }
            if last > start { (textEnd, lastByte) = (base + Int64(last), block[last - 1]) }
            if found != nil, builder.hasOpenRecord {
                var hasLineBreaks: Bool?
                if opens, mayBreakOff(at: end, block, count, isLast: isLast) {
                    switch try continuation(from: end, block, count, isLast: isLast) {
                    case .none: break
                    case .to(let whole):
                        (end, last, hasLineBreaks) = (whole, whole, true)
                        while ByteScan.isSpace(block[last - 1]) { last -= 1 }
                        textEnd = base + Int64(last)
                    case .unknown:
                        builder.endBlock(after: end)
                        return end
                    case .truncated: return count
                    }
                }
                try builder.endRecord(
                    at: textEnd,
                    path: 0,
                    boundary: base + Int64(end),
                    hasLineBreaks: hasLineBreaks
                )
            }
            start = end + 1
        }
        return count
    }

    /// True if the open line, which begins with a container and ends at `end`, may go on in the next one.
    @inline(__always)
    private func mayBreakOff(at end: Int, _ block: UnsafePointer<UInt8>, _ count: Int, isLast: Bool) -> Bool {
        guard lastByte == UInt8(ascii: "}") || lastByte == UInt8(ascii: "]") else { return true }
        var next = end + 1
        while next < count, ByteScan.isSpace(block[next]) { next += 1 }
        guard next < count else { return !isLast }
        return block[next] == UInt8(ascii: ",") || block[next] == UInt8(ascii: "}") || block[next] == UInt8(ascii: "]")
    }

    /// Looks for the line that makes the open one, which ends at `end`, a whole value.
    private func continuation(
        from end: Int,
        _ block: UnsafePointer<UInt8>,
        _ count: Int,
        isLast: Bool
    ) throws -> Continuation {
        // Where the record begins in the block, and at which place in it the largest one ends.
        let first = Int(builder.recordStart - builder.blockBase)
        let limit = first + Int(maxRecordBytes)
        guard end < limit else { return .none }
        let parser = YajlParser(handler: RecordScanner(checking: matcher))
        func takes(_ bytes: ByteView) throws -> Bool {
            try parser.handler.beginPiece(bytes.base, bytes.count, base: 0)
            guard parser.parse(bytes) == .consumed else { return false }
            parser.handler.endPiece()
            return true
        }
        if first < 0 { guard try takes(builder.openRecord) else { return .none } }
        var (start, lineEnd) = (max(0, first), end)
        for _ in 0...Self.mostFollowing {
            // The line feed ends a number, and is none of a text.
            let next = min(lineEnd + 1, count)
            guard try takes(ByteView(base: block + start, count: next - start)) else { return .none }
            guard parser.handler.isWithinContainer else { return lineEnd == end ? .none : .to(lineEnd) }
            guard next < count else {
                // A line that breaks off with a line feed, and is the last one, is as broken as any other.
                let goesOn = (end..<count).contains { !ByteScan.isSpace(block[$0]) }
                return isLast ? (goesOn ? .truncated : .none) : .unknown
            }
            start = next
            let found = memchr(block + start, 0x0A, count - start)
            lineEnd = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(block) } ?? count
            guard lineEnd < limit else { return .none }
            if found == nil, !isLast { return .unknown }
        }
        return .none
    }

    /// Takes the last line, if the source does not end with a line break.
    ///
    /// - Parameter isResumed: whether there were records before this split began.
    /// - Throws: `ScanError` if the line breaks off or there was no line at all, and whatever the builder throws.
    func finish(isResumed: Bool) throws {
        guard hasValues || isResumed else {
            throw ScanError(kind: .empty, byteOffset: builder.blockBase, message: "there is no JSON value")
        }
        guard builder.hasOpenRecord else { return }
        if try isTruncated(builder.openRecord) {
            throw ScanError(
                kind: .truncated,
                byteOffset: builder.blockBase,
                message: "the last line ends inside a value"
            )
        }
        try builder.endRecord(at: textEnd, path: 0, boundary: builder.blockBase)
    }

    /// True if JSON begins here and does not end.
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
