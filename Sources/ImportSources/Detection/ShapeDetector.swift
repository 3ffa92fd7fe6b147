import ImportModel

/// Finds out how a source's records are laid out, and where they are, from its first bytes.
///
/// It tries readings of them one after the other, the most careful first, and makes no guesses about what comes later.
package struct ShapeDetector {
    /// The reason for a shape where there is nothing to judge by: what is wrong is said when it is read.
    package static let noValue = "no JSON value was found"
    /// The reason for record paths that other sources have.
    package static let asBefore = "as before"

    /// What is known of a source besides its bytes.
    package struct Hints: Sendable, Hashable {
        /// True if each line is a record by the source's name (`.ndjson`), also when there is one line.
        package var areLinesNamed = false
        /// Where records of the same entity are in other sources, the likeliest first.
        package var paths: [RecordPath] = []
        /// The keys that those records have; empty where they are not known.
        package var keys: Set<BytewiseString> = []
        /// True if other collections of a document are left outside of the records.
        package var leaveOthers = false
        /// Keys that lead to what records hold, where that is known: no record path begins with them.
        package var nested: [[String]] = []
        /// True if a model says what is in the records.
        package var hasModel = false
        /// What the entities of the model, where it has several, and their tables are called, in lower case.
        package var entities: Set<String> = []
        /// True if each of several collections is an entity.
        package var takesAll = false
        /// True if only JSON is taken for JSON.
        package var isStrict = false
        /// True if records are rows, the first of which has the names of their columns.
        package var haveHeader = false
        /// True if the text has what is of interest of all of a document (`DocumentSkeleton`).
        package var isSkeleton = false

        package init(
            areLinesNamed: Bool = false,
            paths: [RecordPath] = [],
            keys: Set<BytewiseString> = [],
            nested: [[String]] = [],
            hasModel: Bool = false
        ) {
            self.areLinesNamed = areLinesNamed
            self.paths = paths
            self.keys = keys
            self.nested = nested
            self.hasModel = hasModel
        }
    }

    /// What was found out.
    package enum Detection: Sendable, Hashable {
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
    package struct Candidate: Sendable, Hashable {
        /// What holds the records.
        package enum Kind: String, Sendable, Hashable {
            case array = "array of objects"
            case keyed = "objects by key"
            case keyedArrays = "arrays of objects by key"
            /// Rows without the names of their columns.
            case arrays
        }

        package let path: RecordPath
        package let kind: Kind
        /// How many elements or members were seen.
        package let count: Int
        /// True if these were all; otherwise there are more past the sample.
        package let isWhole: Bool
        /// How many of the sample's bytes it takes.
        package let bytes: Int
        /// How many elements the first of its arrays has; 0 where it has none.
        package var width = 0
        /// The first byte of a key on its path that is not UTF-8, in the sample; nil where all are.
        ///
        /// The path has U+FFFD in such a key, and does not lead here.
        package var invalidKeyOffset: Int?

        /// For a list of candidates: `array of 243 or more objects`.
        package var words: String {
            let count = isWhole ? "\(count)" : "\(count) or more"
            return switch kind {
            case .array: "array of \(count) objects"
            case .keyed: "\(count) objects by key"
            case .keyedArrays: "\(count) arrays of objects by key"
            case .arrays: self.count == 0 ? "empty array" : "\(count) arrays"
            }
        }
    }

    /// Containers nested more deeply than this are not looked into.
    package static let maxDepth = 256
    /// How many lines, or values one after the other, are looked into to judge the rest.
    package static let judgedLines = 100

    package let text: [UInt8]
    package let isWhole: Bool
    package let lines: LineCount
    /// The tokens of the sample, up to its end, its first fault, or where it is nested too deeply.
    ///
    /// Those of the first lines alone where each line is a value by itself.
    package let tape: RecordTape
    /// The tokens of the values at the top level.
    package let topLevelValues: [Int]
    /// True if the sample is JSON as far as it goes.
    package let isSound: Bool

    /// What is known besides.
    package var hints: Hints

    /// Reads the beginning of a source, which is UTF-8 without a byte order mark.
    ///
    /// - Parameters:
    ///   - sample: the first bytes, a MiB or so.
    ///   - isWhole: whether this is all of the source.
    ///   - hints: what is known besides.
    package init(_ sample: [UInt8], isWhole: Bool, hints: Hints = Hints()) {
        self.hints = hints
        // A line feed ends a last line, and a number, that nothing else ends.
        let text = isWhole && sample.last != UInt8(ascii: "\n") ? sample + [UInt8(ascii: "\n")] : sample
        self.isWhole = isWhole
        lines = LineCount(text, isWhole: isWhole, taking: hints.isStrict ? nil : .record)
        let judged = lines.areValues ? lines.judgedEnd : text.count
        var read = Self.parse(text, judged)
        if !read.isJSON, !hints.isStrict,
            let (json, scanner) = text.withUnsafeBufferPointer({ LenientScanner.scan(ByteView($0), .document) })
        {
            read = Self.parse(json, judged)
            read.tape.becomeLenient(nulls: scanner.nulls)
            self.text = json
        } else {
            self.text = text
        }
        tape = read.tape
        topLevelValues = Self.values(in: tape, from: 0, to: tape.count)
        // yajl takes form feed and vertical tab for white space, and JSON has them nowhere.
        let spaces = text.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { ByteScan.firstFormFeed($0, buffer.count) < buffer.count } ?? false
        }
        // Separators tell values apart (RFC 7464): one that breaks off does not go on with the next.
        isSound = read.isJSON && (!spaces || lines.areValues) && sample.first != 0x1E
    }

    /// Reads the first `count` bytes of a text.
    private static func parse(_ text: [UInt8], _ count: Int) -> (tape: RecordTape, isJSON: Bool) {
        let parser = YajlParser(handler: RecordTape(maxDepth: maxDepth))
        let status = text.withUnsafeBufferPointer { buffer in
            let view = ByteView(buffer)[0..<count]
            parser.handler.begin(view)
            return parser.parse(view)
        }
        if case .failed = status { return (parser.handler, false) }
        return (parser.handler, true)
    }

    /// The shape of the source.
    ///
    /// Of something that is not JSON it is the shape before the fault, so that the splitter comes to the fault and reports it.
    package var detection: Detection {
        if text.allSatisfy(Self.isWhiteSpace) {
            return isWhole ? .empty : root(text.isEmpty ? Self.noValue : "nothing but white space so far")
        }
        for reading in Self.readings {
            if let detection = reading(self) { return detection }
        }
        return root("a single value")
    }

    /// The readings of a source, the most careful first; nil where one does not apply.
    private static let readings: [@Sendable (ShapeDetector) -> Detection?] = [
        \.asBefore, \.asArrays, \.asLines, \.asValues, \.asDescribed, \.asCollection, \.asEmptyPage, \.asObject,
    ]

    /// Keeps what was kept before: the records where other sources of the same entity have them.
    private var asBefore: Detection? {
        let path = hints.paths.first { leads(to: $0) } ?? hints.paths.lazy.compactMap { one(of: $0) }.first
        let isEmptyObject = object.map { tape.tokens[$0].next == 1 } ?? false
        // Nothing at all is no record where records are inside of something.
        return (path ?? (isEmptyObject && !hints.paths.contains(.root) ? hints.paths.first : nil)).map { path in
            withNewCollections(path)
                ?? .found(layout: path == .root && isLines ? .lines : .stream, paths: [path], reason: Self.asBefore)
        }
    }

    /// The collections that are no part of the records at some paths.
    package func collections(besides paths: [RecordPath]) -> [Candidate] {
        collections.filter { other in other.kind != .arrays && paths.allSatisfy { Self.isApart(other.path, $0) } }
    }

    /// True if what is at neither path is within what is at the other one.
    private static func isApart(_ path: RecordPath, _ other: RecordPath) -> Bool {
        !zip(path.steps, other.steps).allSatisfy { step, other in
            step == other || [step, other].contains { $0 == .anyMember || $0 == .anyElement }
        }
    }

    /// Keeps besides the elements of collections that were empty, or not there, in other sources of the same entity.
    private func withNewCollections(_ path: RecordPath) -> Detection? {
        guard hints.takesAll, !hints.leaveOthers, path != .root, let found = asCollection,
            case .found(let layout, let paths, _) = found
        else { return nil }
        if paths.contains(path) { return paths.count > 1 ? found : nil }
        guard paths.allSatisfy({ Self.isApart($0, path) }) else { return nil }
        return .found(layout: layout, paths: [path] + paths, reason: "\(paths.count + 1) collections\(extent)")
    }

    /// Where an object is in place of the array of those that other sources have, as XML's one element is written.
    private func one(of path: RecordPath) -> RecordPath? {
        guard path.steps.last == .anyElement, path.steps.dropLast().last != .anyElement, let value = object,
            let found = values(at: path.steps.dropLast(), in: value), found.count == 1,
            tape.tokens[found[0]].kind == .object
        else { return nil }
        let one = RecordPath(steps: Array(path.steps.dropLast()))
        let keys = recordKeys(at: one)
        let shared = hints.keys.intersection(keys).count
        return shared > 0 && shared * 2 >= min(hints.keys.count, keys.count) ? one : nil
    }

    /// Keeps the elements of all arrays: one, one after the other, or one per line.
    private var asArrays: Detection? {
        guard let first = topLevelValues.first, tape.tokens[first].kind == .array else { return nil }
        if topLevelValues.count == 1, !isLines {
            // Where lines are records, one of scalars is a row.
            let isRow =
                hints.areLinesNamed && lines.begun == 1 && !children(of: first, limit: 1).isEmpty
                || hints.paths.first == .root && !hints.keys.isEmpty && isOneRow
            // A header row without rows.
            if hints.haveHeader, !isRow, !isEmpty(first), areScalars(first) { return root("a header row") }
            return isRow && !isArrayOfObjects(first) ? nil : elements("a top-level array")
        }
        guard areArraysOfObjects(topLevelValues) else { return nil }
        return elements(isLines ? "an array of objects per line" : "arrays one after the other")
    }

    /// Keeps every line.
    private var asLines: Detection? {
        guard isLines || hints.areLinesNamed && lines.begun == 1 && lines.values == lines.ended else { return nil }
        return .found(layout: .lines, paths: [.root], reason: "one value per line")
    }

    /// Keeps every value.
    private var asValues: Detection? {
        if topLevelValues.isEmpty { return root(Self.noValue) }
        if topLevelValues.count > 1 { return root("values one after the other") }
        guard object != nil else { return root("a single value") }
        return hints.areLinesNamed ? root("a single value over several lines") : nil
    }

    /// Keeps the objects beside the descriptions of their columns.
    private var asDescribed: Detection? {
        guard object != nil, !hints.hasModel else { return nil }
        return describedRecords.map { .found(layout: .stream, paths: [$0], reason: "objects beside their columns") }
    }

    /// Keeps the elements of one collection in an object; the rest is counted.
    private var asCollection: Detection? {
        let all = collections
        let named = all.filter { $0.kind != .arrays }
        // What describes the columns of records is none of them.
        let candidates = named.filter { candidate in !named.contains { describes(candidate, $0) } }
        guard let first = candidates.first else { return rows(among: all) }
        if candidates.count > 1, hints.takesAll { return several(candidates, besides: all) }
        let ofModel = candidates.filter { candidate in
            for case .key(let key) in candidate.path.steps.reversed() {
                return hints.entities.contains(key.asciiLowercased)
            }
            return false
        }
        if candidates.count > 1, !ofModel.isEmpty { return several(ofModel, besides: all) }
        let largest = candidates.first { $0.bytes * 20 >= text.count * 19 }
        guard let chosen = candidates.count == 1 ? first : largest else { return .ambiguous(candidates) }
        // The columns of rows that are on another page.
        if let path = hints.paths.first, candidates.count == 1, all.count == 1, describesColumns(chosen),
            path.steps.last == .anyElement, path != chosen.path
        {
            return .found(layout: .stream, paths: [path], reason: Self.asBefore)
        }
        // Rows whose columns the objects describe.
        let rows = all.filter { other in
            other.kind == .arrays
                && (other.width > 0 && (other.bytes > chosen.bytes || other.width == chosen.count)
                    || other.count == 0 && describesColumns(chosen))
        }
        if rows.count == 1, rows[0].count == 0, describesColumns(chosen) {
            return .found(layout: .stream, paths: [rows[0].path], reason: "an empty array of rows")
        }
        guard rows.isEmpty else { return .ambiguous([chosen] + rows) }
        guard chosen.invalidKeyOffset == nil else { return .unnameable(chosen) }
        let reason =
            "\(candidates.count == 1 ? "the only" : "by far the largest") \(chosen.kind.rawValue)\(extent)"
        return .found(layout: .stream, paths: [chosen.path], reason: reason)
    }

    private var extent: String { isWhole || hints.isSkeleton ? "" : " at its beginning" }

    /// Keeps the elements of all collections, each an entity.
    private func several(_ candidates: [Candidate], besides all: [Candidate]) -> Detection {
        if let unnameable = candidates.first(where: { $0.invalidKeyOffset != nil }) { return .unnameable(unnameable) }
        let largest = candidates.map(\.bytes).max() ?? 0
        let rows = all.filter { rows in
            rows.kind == .arrays
                && (rows.bytes > largest || candidates.contains { describesColumns($0) && $0.count == rows.width })
        }
        guard rows.isEmpty, candidates.count <= RecordMatcher.maximumPaths else { return .ambiguous(candidates + rows) }
        let count = candidates.count
        let reason = count == 1 ? "the only collection that is an entity's" : "\(count) collections\(extent)"
        return .found(layout: .stream, paths: candidates.map(\.path), reason: reason)
    }

    /// Keeps nothing: the one collection of the object is empty, and besides there are at most counts.
    private var asEmptyPage: Detection? {
        object.flatMap { emptyCollection(in: $0) }.flatMap {
            isNested($0) ? nil : .found(layout: .stream, paths: [$0], reason: "an empty array")
        }
    }

    private var asObject: Detection? { root("a single object") }

    /// The object that is the source's one value; nil where it is not that.
    private var object: Int? {
        topLevelValues.count == 1 && tape.tokens[topLevelValues[0]].kind == .object ? topLevelValues[0] : nil
    }

    /// True if the source is one object, whose records may be at several record paths.
    package var isOneObject: Bool { object != nil && !isLines && !hints.areLinesNamed }

    /// True if the source is one line with an array of scalars, which are records or a row.
    package var isOneRow: Bool {
        guard topLevelValues.count == 1, lines.begun == 1 else { return false }
        return tape.tokens[topLevelValues[0]].kind == .array && !isEmpty(topLevelValues[0])
            && areScalars(topLevelValues[0])
    }

    /// True if the source's lines are arrays of scalars.
    package var areRows: Bool {
        isLines
            && topLevelValues.prefix(Self.judgedLines).allSatisfy {
                tape.tokens[$0].kind == .array && !isEmpty($0) && areScalars($0)
            }
    }

    /// The collections in the object that is the source's one value, in their order.
    package var collections: [Candidate] {
        (object.map { candidates(in: $0) } ?? []).filter { !isNested($0.path) }
    }

    private func isNested(_ path: RecordPath) -> Bool {
        hints.nested.contains { keys in path.steps.starts(with: keys.map { .key($0) }) }
    }

    private func root(_ reason: String) -> Detection {
        .found(layout: .stream, paths: [.root], reason: reason)
    }

    private func elements(_ reason: String) -> Detection {
        .found(layout: .stream, paths: [RecordPath(steps: [.anyElement])], reason: reason)
    }

    /// True if two thirds of these, but for empty ones, are arrays of objects, as when files of arrays are joined.
    private func areArraysOfObjects(_ values: [Int]) -> Bool {
        let judged = values.prefix(Self.judgedLines).filter { value in
            tape.tokens[value].kind != .array || !children(of: value, limit: 1).isEmpty
        }
        return !judged.isEmpty && judged.count(where: isArrayOfObjects) * 3 >= judged.count * 2
    }

    package static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t")
    }
}
