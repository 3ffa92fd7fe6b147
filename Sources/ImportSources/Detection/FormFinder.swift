import ImportModel

/// Finds out whether a source's text is rewritten.
package struct FormFinder {
    private let asked: FormHints
    /// The key paths of texts that are JSON.
    private let parse: [AttributePath]
    /// The key paths of what says of which entity a record is.
    private let entityBy: [AttributePath]
    private let opener: SourceOpener
    private let interruption: Interruption

    package init(
        _ options: JobOptions,
        paths: [RecordPath],
        others: KnownForm? = nil,
        opener: SourceOpener,
        interruption: Interruption
    ) {
        var asked = FormHints()
        asked.shape = options.shape
        asked.prefix = options.prefix
        asked.maxBytes = options.maxRecordBytes
        asked.paths = paths
        asked.others = others
        let entities = options.model?.entities ?? []
        let attributes = entities.flatMap(\.attributes)
        let read = attributes.flatMap(\.from) + entities.flatMap(\.relationships).flatMap(\.from).flatMap(\.paths)
        asked.modelKeys = Set(read.flatMap { [$0.keys.first, $0.keys.last].compactMap(\.self) })
        asked.readsArrays = attributes.contains { $0.type == .json }
        self.asked = asked
        parse = options.parse ?? []
        entityBy = options.entityBy ?? []
        self.opener = opener
        self.interruption = interruption
    }

    /// The form of a source; nil for one that is read as it is.
    ///
    /// - Parameters:
    ///   - source: what is looked at.
    ///   - stream: the source, of which nothing has been read.
    ///   - sample: its first bytes.
    ///   - detector: what looks at them, or at what is of interest of all of the source.
    /// - Throws: `ImportError` where it has no form that is asked for, or is too long for it.
    package func find(
        in source: SourceDescription,
        _ stream: SourceStream,
        _ sample: SourceStream.Sample,
        _ detector: ShapeDetector
    ) throws -> FoundForm? {
        guard source.form == nil else { return nil }
        var found = detector.form(of: sample.bytes, asked)
        if let unsure = found, unsure.isUnsure { found = try confirmed(unsure, source, stream, detector.hints) }
        if found == nil, !sample.isWhole, !detector.hints.isSkeleton, source.isRepeatable, detector.isOneObject,
            detector.collections.contains(where: { $0.kind == .arrays }),
            let text = try DocumentSkeleton.read({ try opener.open(source, interruption: interruption) })
        {
            // The names of columns may follow their rows.
            var hints = detector.hints
            hints.isSkeleton = true
            found = ShapeDetector(text, isWhole: false, hints: hints).form(of: sample.bytes, asked)
            if found?.isUnsure == true { found = nil }
        }
        if found == nil, let shape = asked.shape, shape != .records {
            throw ImportError(
                .optionsConflict,
                at: source.name,
                "is no document of \(shape.rawValue)",
                advice: "Leave \(.shape) out. Nothing was imported."
            )
        }
        return found
    }

    /// The wrappers that all values of records are in, of however few; nil for none.
    package func wrapper(_ detector: ShapeDetector, _ detection: ShapeDetector.Detection) -> SourceForm.Kind? {
        guard !detector.hints.isStrict, detector.isSound else { return nil }
        return detector.wrapper(asked, detection)?.form
    }

    /// The form that was found with what is asked for of its records besides, and where these are then; nil where there is none.
    ///
    /// - Parameter detector: what looks at the rewritten text, now and then.
    /// - Throws: `ImportError` where the source cannot be read.
    package func complete(
        _ found: FoundForm?,
        _ detector: inout ShapeDetector,
        _ detection: ShapeDetector.Detection,
        _ source: SourceDescription,
        _ sample: SourceStream.Sample
    ) throws -> (form: SourceForm, detection: ShapeDetector.Detection)? {
        guard case .found(let layout, let paths, _) = detection else { return found.map { ($0.form, detection) } }
        let asked = asked.paths.isEmpty ? paths : asked.paths
        var (form, detection) = (found?.form, detection)
        func add(_ own: SourceForm) { form = form?.then(own) ?? own }
        for path in parse.isEmpty ? [] : asked {
            var own = SourceForm(.parse, path: path, names: parse.map(\.description), maxBytes: self.asked.maxBytes)
            own.isOfLines = layout == .lines
            add(own)
        }
        if var bulk = form, bulk.kind == .bulk {
            let indexes = try kinds(bulk, of: source, nil, sample)
            bulk.values = indexes
            form = bulk
            detection = Self.lists(of: indexes, in: .root, reason: "bulk lines, indexes: \(indexes.count)")
        } else if !entityBy.isEmpty, let path = asked.count == 1 ? asked[0] : paths.count == 1 ? paths[0] : nil {
            var own = SourceForm(
                .kinds,
                path: path,
                names: entityBy.map(\.description),
                maxBytes: self.asked.maxBytes
            )
            own.isOfLines = layout == .lines
            let kinds = try kinds(own, of: source, form, sample)
            own.values = kinds
            if !kinds.isEmpty { add(own) }
            let keys = entityBy.map(\.description).joined(separator: ",")
            detection =
                kinds.isEmpty
                ? detection : Self.lists(of: kinds, in: path, reason: "kinds by \(keys): \(kinds.count)")
        }
        guard let form else { return nil }
        if form != found?.form {
            let text = ([form] + (form.others ?? [])).reduce(sample.bytes) { $1.rewritten($0) }
            detector = ShapeDetector(text, isWhole: sample.isWhole, hints: detector.hints)
        }
        return (form, detection)
    }

    /// Where the lists of kinds are.
    private static func lists(of kinds: [String], in path: RecordPath, reason: String) -> ShapeDetector.Detection {
        let paths = kinds.map { RecordPath(steps: path.steps + [.key($0), .anyElement]) }
        return .found(layout: .stream, paths: paths, reason: reason)
    }

    /// The kinds of records of a source that a form finds, in their order; the rest is `other`.
    ///
    /// - Parameter before: how its text is rewritten before that.
    private func kinds(
        _ form: SourceForm,
        of source: SourceDescription,
        _ before: SourceForm?,
        _ sample: SourceStream.Sample
    ) throws -> [String] {
        var (rewriter, output) = (form.rewriter, [UInt8]())
        if source.isRepeatable {
            var rewritten = source
            rewritten.form = before
            let stream = try opener.open(rewritten, interruption: interruption)
            var block = [UInt8](repeating: 0, count: 256 << 10)
            while case let count = try stream.read(into: &block), count > 0 {
                rewriter.add(block[..<count], to: &output)
                output.removeAll(keepingCapacity: true)
            }
        } else {
            let text = (before.map { [$0] + ($0.others ?? []) } ?? []).reduce(sample.bytes) { $1.rewritten($0) }
            rewriter.add(text[...], to: &output)
        }
        rewriter.finish(to: &output)
        let most = RecordMatcher.maximumPaths - 1
        let kinds = rewriter.kinds.filter { $0 != ValueChange.otherKind }
        let hasOthers =
            kinds.count > most || kinds.count < rewriter.kinds.count
            || !source.isRepeatable && !sample.isWhole
        return kinds.prefix(most) + (hasOthers ? [ValueChange.otherKind] : [])
    }

    /// Columns, of which all have been looked through; nil where they are not alike.
    private func confirmed(
        _ found: FoundForm,
        _ source: SourceDescription,
        _ stream: SourceStream,
        _ hints: ShapeDetector.Hints
    ) throws -> FoundForm? {
        guard source.isRepeatable else {
            let all = try stream.peek(limit: asked.maxBytes)
            return all.isWhole ? ShapeDetector(all.bytes, isWhole: true, hints: hints).form(of: all.bytes, asked) : nil
        }
        var (rewritten, first) = (source, [UInt8]())
        rewritten.form = found.form
        do {
            let stream = try opener.open(rewritten, interruption: interruption)
            first = try stream.peek().bytes
            var block = [UInt8](repeating: 0, count: 256 << 10)
            while try stream.read(into: &block) > 0 {}
        } catch let error as ImportError where error.code == .badInput {
            return nil
        }
        let detector = ShapeDetector(first, isWhole: false, hints: hints)
        return FoundForm(form: found.form, detector: detector, detection: found.detection)
    }
}

extension FoundForm {
    /// What is said of the form of a source, besides where its records are; nil for nothing.
    package var notice: MessageText? {
        switch form.kind {
        case .rows, .columns: "\(.shape, "records") reads the document as it is written"
        case .prefix where !isPrefixNamed:
            "the text before each object is \(form.names?[0] ?? PrefixRewriter.attribute); \(.prefix) names its parts, or drops it (none)"
        case .dynamoDB: "DynamoDB's typed values are read as what is in them"
        case .boxes: "each value is in an array of its own, and is read without that"
        case .prefix, .events, .notes, .parse, .folders, .kinds, .bulk: nil
        }
    }
}
