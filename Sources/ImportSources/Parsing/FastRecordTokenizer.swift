import ImportModel

/// The short way to a tape: a line that is plainly JSON needs no second look by yajl.
struct FastRecordTokenizer {
    /// The containers that are open.
    private var open: [UInt32]
    /// Those of the line before.
    private let keys = PreviousKeyCache()

    /// - Parameter maxDepth: how many containers may be inside each other, from 1.
    init(maxDepth: Int) {
        open = Array(repeating: 0, count: min(maxDepth, FastJSON.mostLevels))
    }

    /// Puts a line on the tape that is one JSON value (RFC 8259) with white space around it, as yajl would.
    ///
    /// The bytes are not checked to be UTF-8.
    ///
    /// - Parameter line: one line with the LF that ends it.
    /// - Returns: false for everything else; the tape then has nothing of use.
    mutating func read(_ line: ByteView, onto tape: inout RecordTape) -> Bool {
        guard line.count > 1, line.count < Int(UInt32.max), line[line.count - 1] == 0x0A else { return false }
        return open.withUnsafeMutableBufferPointer { open in
            tape.fill { [keys] tokens in
                guard let first = tokens.baseAddress, let stack = open.baseAddress else { return -1 }
                var output = TapeOutput(tokens: first, capacity: tokens.count, open: stack)
                return Self.read(line, maxDepth: open.count, keys, &output)
            }
        }
    }

    /// - Returns: the number of tokens, -1 for what is left to yajl, nil where there is no room for them.
    @inline(__always)
    private static func read(_ line: ByteView, maxDepth: Int, _ keys: PreviousKeyCache, _ output: inout TapeOutput)
        -> Int?
    {
        let last = line.count - 1
        var index = 0
        FastJSON.skipSpace(line.base, &index, &output)
        index = FastJSON.end(of: index, in: line.base, last: last, maxDepth: maxDepth, keys, &output)
        guard index >= 0 else { return output.hasRoom ? -1 : nil }
        FastJSON.skipSpace(line.base, &index, &output)
        return index == last ? output.count : -1
    }
}

/// Writes tokens to memory that lies there.
private struct TapeOutput: FastJSONHandler {
    static var spaceHasLineFeeds: Bool { false }

    let tokens: UnsafeMutablePointer<RecordTape.Token>
    let capacity: Int
    /// The tokens of the containers that are open.
    let open: UnsafeMutablePointer<UInt32>
    var count = 0
    private var depth = 0

    init(tokens: UnsafeMutablePointer<RecordTape.Token>, capacity: Int, open: UnsafeMutablePointer<UInt32>) {
        self.tokens = tokens
        self.capacity = capacity
        self.open = open
    }

    @inline(__always)
    var hasRoom: Bool { count &+ 2 <= capacity }

    @inline(__always)
    mutating func lineBreak() {}

    @inline(__always)
    mutating func string(from start: Int, to end: Int, hasEscapes: Bool) {
        append(.string, start, end, hasEscapes: hasEscapes, next: count &+ 1)
    }

    @inline(__always)
    mutating func scalar(_ kind: JSONKind, from start: Int, to end: Int) {
        append(kind, start, end, hasEscapes: false, next: count &+ 1)
    }

    @inline(__always)
    mutating func open(_ kind: JSONKind, at start: Int) {
        open[depth] = UInt32(truncatingIfNeeded: count)
        depth &+= 1
        append(kind, start, start, hasEscapes: false, next: 0)
    }

    @inline(__always)
    mutating func close(at end: Int) {
        depth &-= 1
        let container = Int(open[depth])
        tokens[container].length = UInt32(truncatingIfNeeded: end) &- tokens[container].start
        tokens[container].next = UInt32(truncatingIfNeeded: count)
    }

    @inline(__always)
    private mutating func append(_ kind: JSONKind, _ start: Int, _ end: Int, hasEscapes: Bool, next: Int) {
        tokens[count] = RecordTape.Token(
            kind: kind,
            hasEscapes: hasEscapes,
            start: UInt32(truncatingIfNeeded: start),
            length: UInt32(truncatingIfNeeded: end &- start),
            next: UInt32(truncatingIfNeeded: next)
        )
        count &+= 1
    }
}
