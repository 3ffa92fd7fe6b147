import ImportModel

/// Finds out how a source's records are laid out, and where they are, from its first bytes.
///
/// It looks at what is there and nothing else: no names of files, no guesses about what comes later.
struct ShapeDetector {
    /// The reason for a shape where there is nothing to judge by: what is wrong is said when it is read.
    static let noValue = "no JSON value was found"

    /// What was found out.
    enum Detection: Sendable, Hashable {
        /// Clear enough to continue with; `reason` says in words how it was decided.
        case found(layout: SourceShape.Layout, paths: [RecordPath], reason: String)
        /// Several collections, none of which is clearly the one; in their order.
        case ambiguous([Candidate])
        /// One collection, with a key on its path that is not UTF-8: no record path names it.
        case unnameable(Candidate)
        /// Nothing but white space.
        case empty
    }

    /// A record path at which records may be.
    struct Candidate: Sendable, Hashable {
        /// What holds the records.
        enum Kind: String, Sendable, Hashable {
            case array = "array of objects"
            case keyed = "objects by key"
            case keyedArrays = "arrays of objects by key"
        }

        let path: RecordPath
        let kind: Kind
        /// How many elements or members were seen.
        let count: Int
        /// Whether these were all; otherwise there are more past the sample.
        let isWhole: Bool
        /// How many of the sample's bytes it takes.
        let bytes: Int
        /// The first byte of a key on its path that is not UTF-8, in the sample; nil where all are.
        ///
        /// The path has U+FFFD in such a key, and does not lead here.
        var invalidKeyOffset: Int?

        /// For a list of candidates: `array of objects, 243 or more`.
        var description: String { "\(kind.rawValue), \(count)\(isWhole ? "" : " or more")" }
    }

    /// Containers nested more deeply than this are not looked into.
    static let maxDepth = 256

    let text: [UInt8]
    let isWhole: Bool
    let lines: LineCount
    /// The tokens of the sample, up to its end, its first fault, or where it is nested too deeply.
    ///
    /// None where each line is a value by itself: that says it all.
    let tape: RecordTape
    /// Whether the sample is JSON as far as it goes.
    let isSound: Bool

    /// Keys that lead to what records hold, where that is known: no record path begins with them.
    var nested: [[String]] = []

    /// Reads the beginning of a source, which is UTF-8 without a byte order mark.
    ///
    /// - Parameters:
    ///   - sample: the first bytes, a MiB or so.
    ///   - isWhole: whether this is all of the source.
    init(_ sample: [UInt8], isWhole: Bool) {
        // A line feed ends a last line, and a number, that nothing else ends.
        let text = isWhole && sample.last != UInt8(ascii: "\n") ? sample + [UInt8(ascii: "\n")] : sample
        self.text = text
        self.isWhole = isWhole
        lines = LineCount(text, isWhole: isWhole)
        guard !lines.areValues else {
            (tape, isSound) = (RecordTape(maxDepth: Self.maxDepth), true)
            return
        }
        let parser = YajlParser(handler: RecordTape(maxDepth: Self.maxDepth))
        let status = text.withUnsafeBufferPointer { buffer in
            parser.handler.begin(ByteView(buffer))
            return parser.parse(ByteView(buffer))
        }
        tape = parser.handler
        // yajl takes form feed and vertical tab for white space, and JSON has them nowhere.
        let spaces = text.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { ByteScan.firstFormFeed($0, buffer.count) < buffer.count } ?? false
        }
        if case .failed = status { isSound = false } else { isSound = !spaces }
    }

    /// The shape of the source.
    ///
    /// Of something that is not JSON it is the shape before the fault, so that the splitter comes to the fault and reports it.
    var detection: Detection {
        if text.allSatisfy(Self.isWhiteSpace) {
            return isWhole ? .empty : root("nothing but white space so far")
        }
        if isLines { return .found(layout: .lines, paths: [.root], reason: "one value per line") }
        let values = topLevelValues
        guard let first = values.first else { return root(Self.noValue) }
        if values.count > 1 {
            if areArraysOfObjects(values) { return elements("arrays one after the other") }
            return root("values one after the other")
        }
        switch tape.tokens[first].kind {
        case .array: return elements("a top-level array")
        case .object: return detection(in: candidates(in: first).filter { !isNested($0.path) })
        default: return root("a single value")
        }
    }

    private func detection(in candidates: [Candidate]) -> Detection {
        guard let first = candidates.first else { return root("a single object") }
        if candidates.count == 1 { return chosen(first, "the only \(first.kind.rawValue)") }
        let dominant = candidates.first { $0.bytes * 20 >= text.count * 19 }
        guard let dominant else { return .ambiguous(candidates) }
        return chosen(dominant, "by far the largest \(dominant.kind.rawValue)")
    }

    private func isNested(_ path: RecordPath) -> Bool {
        nested.contains { keys in path.steps.starts(with: keys.map { .key($0) }) }
    }

    private func chosen(_ candidate: Candidate, _ reason: String) -> Detection {
        guard candidate.invalidKeyOffset == nil else { return .unnameable(candidate) }
        return .found(layout: .stream, paths: [candidate.path], reason: reason)
    }

    private func root(_ reason: String) -> Detection {
        .found(layout: .stream, paths: [.root], reason: reason)
    }

    private func elements(_ reason: String) -> Detection {
        .found(layout: .stream, paths: [RecordPath(steps: [.anyElement])], reason: reason)
    }

    /// The tokens of the values at the top level.
    var topLevelValues: [Int] {
        var values: [Int] = []
        var index = 0
        while index < tape.count {
            values.append(index)
            let next = Int(tape.tokens[index].next)
            if next == 0 { break }
            index = next
        }
        return values
    }

    /// Whether these are arrays and mostly of objects, as when files of arrays are joined.
    private func areArraysOfObjects(_ values: [Int]) -> Bool {
        values.allSatisfy { value in
            guard tape.tokens[value].kind == .array else { return false }
            if tape.tokens[value].next == 0, children(of: value).isEmpty { return true }
            return isArrayOfObjects(value)
        }
    }

    static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t")
    }
}

extension ShapeDetector.Detection {
    /// The layout of a source for which somebody has named the record paths.
    ///
    /// A path into a document asks for one document. `$` takes each value for a record, so it goes with whatever was
    /// found: lines if these are lines, and any number of values if not.
    func layout(forGiven paths: [RecordPath]) -> SourceShape.Layout {
        guard paths == [.root] else { return .document }
        if case .found(.lines, _, _) = self { return .lines }
        return .stream
    }
}
