import ImportModel

/// Parses one line of a chunk at a time into a tape.
///
/// Made and used by one worker.
///
/// A line must be one JSON value and nothing else; each is read by itself, so a broken line spoils no other. A tokenizer
/// takes what is plainly JSON, and yajl judges the rest.
final class RecordReader {
    /// What a line turned out to be.
    enum Outcome: Equatable {
        /// One JSON value, now on the tape.
        case record
        /// Not JSON, or more than one value; where, counted from the beginning of the line.
        case malformed(at: Int)
        /// Nested more deeply than allowed.
        case tooDeep
    }

    private let parser: YajlParser<RecordTape>
    // Changed in `read(line:)` only, which does not call itself: the check would take as long as a short record.
    @exclusivity(unchecked) private var tokenizer: RecordTokenizer

    /// - Parameter maxDepth: how many containers may stand inside each other, from 1.
    init(maxDepth: Int) {
        parser = YajlParser(handler: RecordTape(maxDepth: maxDepth))
        tokenizer = RecordTokenizer(maxDepth: maxDepth)
    }

    /// The tape of the last line read.
    @inline(__always)
    var tape: RecordTape {
        _read { yield parser.handler }
    }

    /// Lends the tokens of the last line read.
    @inline(__always)
    func withTokens(_ body: (UnsafeBufferPointer<RecordTape.Token>) -> Void) {
        parser.handler.withTokens(body)
    }

    /// Parses a line.
    ///
    /// - Parameter line: the line with the LF that ends it, which also ends a number at the top level.
    func read(line: ByteView) -> Outcome {
        if tokenizer.read(line, onto: &parser.handler) { return .record }
        parser.handler.begin(line)
        switch parser.parse(line) {
        case .consumed:
            if parser.handler.values == 1, parser.handler.depth == 0 { return .record }
            parser.restart()
            return .malformed(at: parser.handler.values == 0 ? 0 : line.count - 1)
        case .stopped:
            parser.restart()
            return .tooDeep
        case .failed(let offset):
            parser.restart()
            return .malformed(at: min(offset, line.count))
        }
    }
}
