import ImportModel

/// Finds out whether a source's text is rewritten.
package struct FormFinder {
    private let asked: FormHints
    private let opener: SourceOpener
    private let interruption: Interruption

    package init(_ options: JobOptions, paths: [RecordPath], opener: SourceOpener, interruption: Interruption) {
        var asked = FormHints()
        asked.shape = options.shape
        asked.prefix = options.prefix
        asked.maxBytes = options.maxRecordBytes
        asked.paths = paths
        self.asked = asked
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
    package func notice(of source: SourceDescription) -> MessageText? {
        let name = source.displayName
        return switch form.kind {
        case .rows, .columns: "\(name): \(.shape, "records") reads the document as it is written"
        case .prefix where form.names == nil:
            "\(name): the text before each object is \(PrefixRewriter.attribute); \(.prefix) names its parts, or drops it (none)"
        case .dynamoDB: "\(name): DynamoDB's typed values are read as what is in them"
        case .boxes: "\(name): each value is in an array of its own, and is read without that"
        case .prefix, .events, .notes: nil
        }
    }
}
