import ImportModel

/// Cuts JSON documents: a scanner finds the records by yajl's events, and takes those that are plainly JSON by itself.
///
/// Made, used and dropped by one thread.
final class DocumentSplitter {
    /// A token that continues for longer is no longer shown to yajl byte by byte.
    static let defaultLongToken = 64 << 10

    /// How much is fed to yajl at once where plain records may follow.
    private static let firstPiece = 16

    private let builder: ChunkBuilder
    private let parser: YajlParser<RecordScanner>
    private let longToken: Int64

    /// - Parameters:
    ///   - builder: what gathers the records.
    ///   - matcher: the record paths.
    ///   - maxDepth: records nested more deeply are passed over, in containers, from 1.
    ///   - enclosing: the opening tokens of the containers that enclose the beginning.
    ///   - isResumed: whether there were values before the beginning.
    ///   - longToken: how many bytes of a token yajl sees at least, if it spans blocks; more than any key of a path has.
    /// - Throws: `ImportError` if `enclosing` does not fit the record paths.
    init(
        builder: ChunkBuilder,
        matcher: RecordMatcher,
        maxDepth: Int,
        enclosing: String,
        isResumed: Bool,
        longToken: Int
    ) throws {
        self.builder = builder
        self.longToken = Int64(max(longToken, 6 * matcher.longestKey + 16))
        let scanner = RecordScanner(
            builder: builder,
            matcher: matcher,
            maxDepth: maxDepth,
            topLevelValues: isResumed && enclosing.isEmpty ? 1 : 0
        )
        parser = YajlParser(handler: scanner)
        if !enclosing.isEmpty { try prime(enclosing) }
    }

    private func prime(_ enclosing: String) throws {
        parser.handler.beginPriming()
        // The space ends the number that may be last.
        let bytes = Array((enclosing + " ").utf8)
        let status = try bytes.withUnsafeBufferPointer { buffer in
            let view = ByteView(buffer)
            try parser.handler.beginPiece(view.base, view.count, base: 0)
            return parser.parse(view)
        }
        guard status == .consumed else {
            throw parser.handler.failure
                ?? ImportError(.fault, "the split cannot go on: its enclosing tokens are not JSON")
        }
        parser.handler.endPriming()
    }

    /// True if there was any value, or the beginning of one.
    var hasValues: Bool { parser.handler.topLevelValues > 0 || parser.handler.places.tail.start >= 0 }

    /// Cuts one more block, which the builder has entered.
    ///
    /// yajl sees what is between and around the records, those that are not plainly JSON or continue in another block, and
    /// the one before a row of plain ones. What is fed to it at once is therefore short at first.
    ///
    /// - Parameters:
    ///   - block: the bytes; unchanged when this returns.
    ///   - count: how many they are, from 1.
    /// - Throws: `ScanError` for what is wrong in it, and whatever the builder throws.
    func split(_ block: UnsafeMutablePointer<UInt8>, _ count: Int) throws {
        // yajl takes form feed and vertical tab for white space, and JSON has them nowhere.
        let sound = ByteScan.firstFormFeed(block, count)
        // Either is a control character that no loop over plain JSON runs past; else the last byte has to be one.
        let last = min(sound, count - 1)
        let base = builder.blockBase
        var index = 0
        var length = Self.firstPiece
        var measured: Int64 = -1
        while index < sound {
            let plain = try withStop(at: last, in: block) {
                try parser.handler.takePlainRecords(from: index, in: block, last: last, base: base)
            }
            if plain > index {
                index = plain
                length = Self.firstPiece
                if index == sound { break }
            }
            var end = min(sound, index + length)
            length *= 2
            let tail = parser.handler.places.tail
            if tail.start >= 0, base + Int64(index) - tail.start > longToken {
                let dispensable = tail.dispensable(in: block + index, sound - index)
                if dispensable > 0 {
                    parser.handler.skipToken()
                    index += dispensable
                    if index == sound { break }
                }
                // Up to the end of an escape that the token breaks off in, or its end.
                end = min(sound, index + max(1, tail.escapeRest))
                if dispensable > 0, block[index] == UInt8(ascii: "\\") { end = min(sound, index + 6) }
            } else if parser.handler.containerStart != measured {
                // Up to the end of the record that has begun, so that plain ones may follow.
                measured = parser.handler.containerStart
                let recordEnd = withStop(at: last, in: block) {
                    parser.handler.endOfOpenRecord(in: block, last: last, base: base)
                }
                if recordEnd > index { end = recordEnd }
            }
            try parse(block, index, end)
            index = end
        }
        if sound < count {
            throw ScanError(
                kind: .syntax,
                byteOffset: builder.blockBase + Int64(sound),
                message: "form feed or vertical tab, which JSON allows nowhere"
            )
        }
    }

    /// Makes the byte at `last` one that nothing runs past while `body` is at work.
    @inline(__always)
    private func withStop<Result>(
        at last: Int,
        in block: UnsafeMutablePointer<UInt8>,
        _ body: () throws -> Result
    ) rethrows -> Result {
        let byte = block[last]
        block[last] = 0
        defer { block[last] = byte }
        return try body()
    }

    /// Says that the source ends here.
    ///
    /// - Throws: `ScanError` if it breaks off or has no value, and whatever the builder throws.
    func finish() throws {
        guard hasValues else {
            throw ScanError(kind: .empty, byteOffset: builder.blockBase, message: "there is no JSON value")
        }
        parser.handler.beginEnd(base: builder.blockBase)
        switch parser.finish() {
        case .consumed: try parser.handler.endSource()
        case .stopped: throw stopped()
        case .failed:
            throw ScanError(
                kind: .truncated,
                byteOffset: builder.blockBase,
                message: "the source ends inside a value"
            )
        }
    }

    private func parse(_ block: UnsafePointer<UInt8>, _ start: Int, _ end: Int) throws {
        try parser.handler.beginPiece(block + start, end - start, base: builder.blockBase + Int64(start))
        switch parser.parse(ByteView(base: block + start, count: end - start)) {
        case .consumed: parser.handler.endPiece()
        case .stopped: throw stopped()
        case .failed(let offset):
            let message = parser.failureMessage()
            let place = parser.handler.places.place(ofFailureAt: offset, message: message)
            let index = Int(place - builder.blockBase)
            let byte = (start..<end).contains(index) ? block[index] : nil
            throw ScanError(kind: .syntax, byteOffset: place, message: YajlErrorText.words(for: message, at: byte))
        }
    }

    private func stopped() -> any Error {
        parser.handler.failure ?? ImportError(.fault, "the split stopped without a reason")
    }
}
