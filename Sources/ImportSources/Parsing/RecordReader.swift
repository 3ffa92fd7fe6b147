import ImportModel

/// Parses one line of a chunk at a time into a tape.
///
/// Made and used by one worker.
///
/// A line must be one JSON value and nothing else; each is read by itself, so a broken line spoils no other. A tokenizer
/// takes what is plainly JSON, and yajl judges the rest.
@usableFromInline package final class RecordReader {
    /// What a line turned out to be.
    package enum Outcome: Equatable {
        /// One JSON value, now on the tape.
        case record
        /// Not JSON, or more than one value; where, counted from the beginning of the line.
        case malformed(at: Int)
        /// Nested more deeply than allowed.
        case tooDeep
    }

    private let parser: YajlParser<RecordTape>
    /// That of the parser, which lives as long.
    @usableFromInline let lastTape: UnsafeMutablePointer<RecordTape>
    // Changed in `read(line:)` only, which does not call itself: the check would take as long as a short record.
    @exclusivity(unchecked) private var tokenizer: FastRecordTokenizer
    /// What is taken for JSON besides JSON; nil for nothing.
    private let scope: LenientScanner.Scope?
    /// What was found in the last line that is nearly JSON.
    package private(set) var counts = LenientCounts()

    /// - Parameters:
    ///   - maxDepth: how many containers may be inside each other, from 1.
    ///   - scope: what is taken for JSON besides JSON; nil for nothing.
    package init(maxDepth: Int, taking scope: LenientScanner.Scope? = nil) {
        self.scope = scope
        parser = YajlParser(handler: RecordTape(maxDepth: maxDepth))
        lastTape = parser.handlerAddress
        tokenizer = FastRecordTokenizer(maxDepth: maxDepth)
    }

    /// The tape of the last line read.
    @inline(__always)
    @inlinable package var tape: RecordTape {
        _read { yield lastTape.pointee }
    }

    /// True if the last line read is nearly JSON, but not JSON.
    @inline(__always)
    @inlinable package var isLenient: Bool { lastTape.pointee.isLenient }

    /// Lends the tokens of the last line read.
    @inline(__always)
    @inlinable package func withTokens(_ body: (UnsafeBufferPointer<RecordTape.Token>) -> Void) {
        lastTape.pointee.withTokens(body)
    }

    /// Parses a line.
    ///
    /// - Parameter line: the line with the LF that ends it, which also ends a number at the top level.
    package func read(line: ByteView) -> Outcome {
        return tokenizer.read(line, onto: &lastTape.pointee) ? .record : readSlowly(line)
    }

    /// Reads a line that is not plainly JSON.
    @inline(never)
    private func readSlowly(_ line: ByteView) -> Outcome {
        let outcome = parse(line)
        guard let scope, case .malformed = outcome, let (text, scanner) = LenientScanner.scan(line, scope) else {
            return outcome
        }
        let isRecord = text.withUnsafeBufferPointer { text in
            tokenizer.read(ByteView(text), onto: &lastTape.pointee) || parse(ByteView(text)) == .record
        }
        guard isRecord else { return outcome }
        lastTape.pointee.becomeLenient(nulls: scanner.nulls)
        counts = scanner.counts
        return .record
    }

    /// Lets yajl parse a line.
    private func parse(_ line: ByteView) -> Outcome {
        let outcome = judge(line)
        if outcome != .record { parser.restart() }
        // yajl takes form feed and vertical tab for white space, and JSON has them nowhere.
        let space = ByteScan.firstFormFeed(line.base, line.count)
        guard space < line.count else { return outcome }
        guard case .malformed(let place) = outcome else { return .malformed(at: space) }
        return .malformed(at: min(place, space))
    }

    private func judge(_ line: ByteView) -> Outcome {
        lastTape.pointee.begin(line)
        switch parser.parse(line) {
        case .consumed:
            if let second = tape.startOfSecondValue { return .malformed(at: second) }
            if tape.values == 1, tape.depth == 0 { return .record }
            return .malformed(at: tape.values == 0 ? 0 : line.count - 1)
        case .stopped: return .tooDeep
        case .failed(let stop):
            var places = TokenLocator()
            places.begin(line.base, line.count, base: 0)
            places.lastEnd = tape.lastEnd
            return .malformed(at: Int(places.place(ofFailureAt: stop, message: parser.failureMessage())))
        }
    }
}
