import ImportModel

/// What is rewritten of a source before its records are looked for.
package struct FoundForm {
    package let form: SourceForm
    /// What looks at the rewritten text.
    package let detector: ShapeDetector
    package var detection: ShapeDetector.Detection
    /// True if all of the source has to be seen to be sure.
    package var isUnsure = false
    /// True if the parts of a prefix have the names that were asked for.
    package var isPrefixNamed = false
}

/// What a job says of the forms of its sources.
package struct FormHints: Sendable {
    /// What a document is read as; nil for what it looks like.
    package var shape: ShapePolicy?
    /// The names of the parts of what is before the object on each line.
    package var prefix: [String]?
    /// How much of a value is held, in bytes.
    package var maxBytes = 64 << 20
    /// The keys that a model reads, and whether it reads arrays as values.
    package var modelKeys: Set<String> = []
    package var readsArrays = false
    /// How other sources of the entity are read; nil where that says nothing.
    package var others: KnownForm?
    /// The record paths that are asked for.
    package var paths: [RecordPath] = []

    package init() {}
}

extension ShapeDetector {
    /// The form of a source that is rewritten; nil for one that is read as it is.
    ///
    /// - Parameters:
    ///   - sample: its first bytes, as they are.
    ///   - asked: what the job says of it.
    package func form(of sample: [UInt8], _ asked: FormHints) -> FoundForm? {
        guard !hints.isStrict else { return nil }
        if let found = formOfText(sample, asked) { return found }
        let areLists = asked.paths.allSatisfy { $0.steps.count == 2 && $0.steps[1] == .anyElement }
        if areLists, !hints.hasModel || !asked.paths.isEmpty, areBulkLines {
            let detection = Detection.found(layout: .stream, paths: [], reason: "bulk lines")
            return FoundForm(form: SourceForm(.bulk, maxBytes: asked.maxBytes), detector: self, detection: detection)
        }
        guard isSound else { return nil }
        if asked.shape != .records, !isLines, !hints.areLinesNamed || asked.shape != nil, let found = table(asked),
            case .found(_, let paths, _) = found.detection,
            asked.paths.isEmpty
                ? !hints.hasModel || asked.shape != nil || areRead(found.form, asked) : asked.paths == paths
        {
            return found
        }
        return formOfValues(sample, asked)
    }

    /// True if a model reads the columns of rows, and nothing of the document around them.
    private func areRead(_ rows: SourceForm, _ asked: FormHints) -> Bool {
        let around = recordKeys(at: .root).map(\.text)
        return rows.kind == .rows && asked.modelKeys.isDisjoint(with: around)
            && !asked.modelKeys.isDisjoint(with: rows.names ?? [])
    }

    /// How many first lines are looked at.
    private static let judgedText = 100
    /// So many lines of text may follow a document that has others before it.
    private static let mostNotesAfter = 3

    // MARK: Text around JSON

    private func formOfText(_ sample: [UInt8], _ asked: FormHints) -> FoundForm? {
        let begins = sample.first { !ByteScan.isSpace($0) }
        // JSON that begins with a bracket has no text before it, but for the objects that are keys of Kafka's messages.
        let mayBeKey = begins == UInt8(ascii: "{") && sample.prefix { $0 != 0x0A }.contains(0x09)
        guard !isLines || !lines.isFirstValue,
            !isSound || mayBeKey || begins != UInt8(ascii: "{") && begins != UInt8(ascii: "[")
        else {
            return nil
        }
        var lines =
            sample.split(separator: 0x0A).lazy.filter { !$0.allSatisfy(ByteScan.isSpace) }
            .prefix(Self.judgedText + 1).map { Array($0) } as [[UInt8]]
        // The last one may break off.
        if lines.count > Self.judgedText || !isWhole && lines.count > 1 { lines.removeLast() }
        guard let first = lines.first?.first(where: { !ByteScan.isSpace($0) }) else { return nil }
        let isJSON = isSound && !topLevelValues.isEmpty
        func count(_ isOne: (ByteView) -> Bool) -> Int {
            lines.count { line in line.withUnsafeBufferPointer { isOne(ByteView($0)) } }
        }
        let isOpen = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        if !isOpen, !isJSON, count({ EventRewriter.field(of: $0) != nil }) * 3 >= lines.count * 2,
            count({ EventRewriter.field(of: $0) == "data" && $0.buffer.contains(UInt8(ascii: "{")) }) > 0
        {
            return around(SourceForm(.events, maxBytes: asked.maxBytes), sample, asked, "server-sent events")
        }
        if !isJSON || lines.count > 1 || mayBeKey, count({ PrefixRewriter.parts(of: $0) != nil }) * 3 >= lines.count * 2
        {
            let form = SourceForm(.prefix, names: prefixNames(lines, asked.prefix), maxBytes: asked.maxBytes)
            var hints = hints
            hints.areLinesNamed = true
            let detector = ShapeDetector(form.rewritten(sample), isWhole: isWhole, hints: hints)
            // What brackets are around in a log is not always JSON.
            guard detector.lines.judgedValues * 3 >= detector.lines.judged * 2 else { return nil }
            let reason = "an object on each line, after other text"
            return FoundForm(
                form: form,
                detector: detector,
                detection: .found(layout: .lines, paths: [.root], reason: reason),
                isPrefixNamed: asked.prefix != nil
            )
        }
        guard !isJSON, let note = noteCount(lines, isFramed: isLines),
            !lines.contains(where: { $0.starts(with: "```".utf8) }),
            ![TextBeginning.sql, TextBeginning.markup].contains(TextBeginning.kind(of: sample))
        else { return nil }
        return around(SourceForm(.notes, maxBytes: asked.maxBytes), sample, asked, "\(note) between text")
    }

    /// The names of the parts of a prefix, none of which is a key of the objects; nil for the usual one.
    private func prefixNames(_ lines: [[UInt8]], _ asked: [String]?) -> [String]? {
        guard asked != [PrefixRewriter.none] else { return asked }
        let given = asked ?? [PrefixRewriter.attribute]
        let names = given.map { given in
            lines.reduce(given) { name, line in
                line.withUnsafeBufferPointer { buffer in
                    PrefixRewriter.parts(of: ByteView(buffer)).map { PrefixRewriter.free(name, besides: $0.object) }
                        ?? name
                }
            }
        }
        return names == [PrefixRewriter.attribute] ? asked : names
    }

    /// What is between text: a document that all text is before, or values that take two thirds of the lines; nil for neither.
    ///
    /// - Parameter isFramed: whether there must be text before and after them, as lines may be notes that are values by themselves.
    private func noteCount(_ lines: [[UInt8]], isFramed: Bool) -> String? {
        var (rewriter, output) = (NoteRewriter(wraps: false, dropsText: true), [UInt8]())
        let areNotes = lines.map { line in
            let before = output.count
            rewriter.add((line + [0x0A])[...], to: &output)
            return output[before...].allSatisfy(ByteScan.isSpace)
        }
        let notes = areNotes.count(where: \.self)
        guard notes > 0, notes < lines.count else { return nil }
        let (head, tail) = (areNotes.prefix { $0 }.count, areNotes.reversed().prefix { $0 }.count)
        // A few lines may follow, as psql counts rows.
        if head > 0, tail <= Self.mostNotesAfter, !isFramed || tail > 0, head + tail == notes { return "a document" }
        return notes * 3 <= lines.count && !isFramed ? "values" : nil
    }

    /// Text around values, which is outside of the records.
    private func around(_ form: SourceForm, _ sample: [UInt8], _ asked: FormHints, _ what: String) -> FoundForm? {
        var form = form
        form.dropsText = true
        let plain = ShapeDetector(form.rewritten(sample), isWhole: isWhole, hints: hints)
        guard plain.isSound, !plain.topLevelValues.isEmpty, case .found(_, var paths, let reason) = plain.detection
        else {
            return nil
        }
        let isElement = asked.paths == [RecordPath(steps: [.anyElement])] && paths == [.root]
        if !asked.paths.isEmpty, !isElement { paths = asked.paths }
        form.dropsText = paths == [.root] && !asked.paths.isEmpty
        if asked.paths.isEmpty || isElement, paths == [.root] {
            form.wraps = true
            paths = [RecordPath(steps: [.anyElement])]
        }
        let detector = form.wraps ? ShapeDetector(Self.wrapped(form, sample), isWhole: isWhole, hints: hints) : plain
        let words = form.kind == .events ? "server-sent events" : "\(reason), text around it left out"
        return FoundForm(
            form: form,
            detector: detector,
            detection: .found(layout: .stream, paths: paths, reason: words)
        )
    }

    private static func wrapped(_ form: SourceForm, _ sample: [UInt8]) -> [UInt8] {
        var form = form
        form.dropsText = true
        return form.rewritten(sample)
    }

    /// True if the first values are actions of Elasticsearch's bulk lines, each but deletions with a document behind it.
    private var areBulkLines: Bool {
        guard isSound, topLevelValues.count > 1, isLines else { return false }
        var (documents, action) = (0, BulkRewriter.Action?.none)
        for value in topLevelValues.prefix(Self.judgedText) where tape.tokens[value].next != 0 {
            guard let before = action else {
                action = bytes(of: value) { BulkRewriter.action(of: $0) }
                if action == nil { return false }
                if action?.name == "delete" { action = nil }
                continue
            }
            action = nil
            let keys = before.name == "update" ? members(of: value).map { key($0.key) } : ["doc"]
            guard tape.tokens[value].kind == .object, keys.contains(where: ["doc", "script", "upsert"].contains)
            else { return false }
            if keys.contains("doc") { documents += 1 }
        }
        return documents > 0
    }

    // MARK: Values in wrappers

    /// Values that are in wrappers: enough of them, or as in other sources of the entity.
    private func formOfValues(_ sample: [UInt8], _ asked: FormHints) -> FoundForm? {
        guard let found = wrapper(asked, detection),
            asked.others?.kind == found.form || found.isSure && (asked.others == nil || found.form == .dynamoDB)
        else { return nil }
        var form = rewritten(SourceForm(found.form, path: found.path, maxBytes: asked.maxBytes), sample)
        // An item is a record, whatever lists it has.
        if found.form == .dynamoDB, found.path == .root, !form.detector.isLines, hints.paths.isEmpty {
            form.detection = .found(layout: .stream, paths: [.root], reason: "an item")
        }
        return form
    }

    /// The wrappers that all values are in, and where the records are; nil for none.
    func wrapper(_ asked: FormHints, _ detection: Detection) -> (
        form: SourceForm.Kind, path: RecordPath, isSure: Bool
    )? {
        let readsTypes = asked.modelKeys.contains { $0 == "Item" || DynamoDBType(rawValue: $0) != nil }
        func isWanted(_ path: RecordPath) -> Bool { asked.paths.isEmpty || asked.paths == [path] }
        if !readsTypes, let (path, isSure) = pathOfItems(detection), isWanted(path) {
            return (.dynamoDB, path, isSure)
        }
        guard asked.shape != .records, !asked.readsArrays, case .found(_, let paths, _) = detection, paths.count == 1,
            isWanted(paths[0]), areBoxed(at: paths[0])
        else { return nil }
        return (.boxes, paths[0], firstValues(at: paths[0]).count { tape.tokens[$0].next != 0 } > 1)
    }

    private func rewritten(_ form: SourceForm, _ sample: [UInt8]) -> FoundForm {
        var form = form
        form.isOfLines = isLines
        let detector = ShapeDetector(form.rewritten(sample), isWhole: isWhole, hints: hints)
        return FoundForm(form: form, detector: detector, detection: detector.detection)
    }

    /// Where items are whose values all are DynamoDB's, and whether that is beyond doubt; nil where there are none.
    private func pathOfItems(_ detection: Detection) -> (path: RecordPath, isSure: Bool)? {
        var paths = [[], [.anyElement], [.key("Items"), .anyElement]].map { RecordPath(steps: $0) }
        if case .found(_, let found, _) = detection, found.count == 1, !paths.contains(found[0]) { paths += found }
        for path in paths {
            let found = firstValues(at: path)
            let items = found.filter { tape.tokens[$0].kind == .object && tape.tokens[$0].next != 0 }
            guard !items.isEmpty, items.count + 1 >= found.count, items.allSatisfy({ isItem($0, 1) }) else { continue }
            return (path, path == paths[2] || items.allSatisfy { isItem($0, 2) })
        }
        return nil
    }

    /// - Parameter needed: how many values an item has at least that is not under `Item`.
    private func isItem(_ value: Int, _ needed: Int) -> Bool {
        var (members, needed) = (members(of: value), needed)
        if members.count == 1, key(members[0].key) == "Item", tape.tokens[members[0].value].kind == .object,
            !bytes(of: members[0].value, { DynamoDBType.isValue($0) })
        {
            (members, needed) = (self.members(of: members[0].value), 1)
        }
        return members.count >= needed
            && members.allSatisfy { member in
                let token = tape.tokens[member.value]
                guard token.kind == .object, token.next != 0 else { return false }
                return bytes(of: member.value) { DynamoDBType.isValue($0) }
            }
    }

    private func areBoxed(at path: RecordPath) -> Bool {
        let records = firstValues(at: path).filter { tape.tokens[$0].next != 0 }
        let counts = records.map { members(of: $0).count }
        // A list of one is no box.
        return counts.count { $0 > 1 } * 2 >= max(1, counts.count) && !counts.contains(0)
            && records.allSatisfy { members(of: $0).allSatisfy { isBox($0.value) } }
    }

    private func isBox(_ value: Int) -> Bool {
        let elements = children(of: value, limit: 2)
        return tape.tokens[value].kind == .array && elements.count == 1
            && ![.object, .array].contains(tape.tokens[elements[0]].kind)
    }

    func firstValues(at path: RecordPath) -> [Int] {
        topLevelValues.prefix(Self.judgedLines).flatMap { values(at: path.steps[...], in: $0) ?? [] }
    }

    func bytes<Result>(of value: Int, _ body: (ByteView) -> Result) -> Result {
        let token = tape.tokens[value]
        return text.withUnsafeBufferPointer { body(ByteView($0)[Int(token.start)..<Int(token.start + token.length)]) }
    }
}
