import Foundation
import ImportModel

/// Works out what a new job is to do: its sources, where their records are, and which entity they are.
///
/// It reads the beginning of each source and writes nothing.
struct JobPlanner {
    let options: JobOptions
    let opener: SourceOpener
    let interruption: Interruption
    /// Told what was found by itself, in words.
    let announce: (ImportText) -> Void

    /// What was planned, with the stream of standard input as far as it was read.
    struct Plan {
        let sources: [StoredJob.Source]
        /// Sources that cannot be opened a second time, already open, by their index in the job.
        let open: [Int: SourceStream]
    }

    /// A source with its shape.
    struct Shaped {
        let description: SourceDescription
        let shape: SourceShape
        /// The source, already open, if it cannot be opened a second time.
        let open: SourceStream?
    }

    /// Looks at the beginning of each source.
    ///
    /// - Parameter arguments: paths, or `-`.
    /// - Throws: `ImportError` when a source cannot be read, or its records cannot be found.
    func shapes(_ arguments: [String]) throws -> [Shaped] {
        // What was found by itself, in words, and of which sources.
        var findings: [(words: String, sources: [String])] = []
        var trees: [ImportText] = []
        defer {
            for (words, sources) in findings {
                announce("\(sources.count == 1 ? sources[0] : "\(sources.count) sources"): \(words)")
            }
            trees.forEach(announce)
        }
        return try describe(arguments).map { description in
            let stream = try opener.open(description, interruption: interruption)
            let sample = try stream.peek()
            let (shape, words, ownTrees) = try shape(of: sample, description)
            trees += ownTrees
            if let words {
                if let index = findings.firstIndex(where: { $0.words == words }) {
                    findings[index].sources.append(description.displayName)
                } else {
                    findings.append((words, [description.displayName]))
                }
            }
            return Shaped(
                description: description.fingerprinted(sample.bytes),
                shape: shape,
                open: description.isRepeatable ? nil : stream
            )
        }
    }

    /// Works out a job.
    ///
    /// - Parameter arguments: paths, or `-`.
    /// - Throws: `ImportError` when a source cannot be read, or its records cannot be found or named.
    func plan(_ arguments: [String]) throws -> Plan {
        let shaped = try shapes(arguments)
        let sources = try sources(of: shaped.map { ($0.description, $0.shape) })
        var open: [Int: SourceStream] = [:]
        for (index, source) in shaped.enumerated() { open[index] = source.open }
        return Plan(sources: sources, open: open)
    }

    /// The sources of chunks that were cut before.
    ///
    /// - Throws: `ImportError` when their records cannot be named.
    func plan(_ chunks: ChunkSource) throws -> [StoredJob.Source] {
        let header = chunks.header
        guard options.skip == 0, options.limit == nil else {
            throw ImportError(
                .optionsConflict,
                "\(.skip) and \(.limit) say what is cut, and the chunks of \(chunks.directory.path) are cut already",
                advice: "Give them to the split (\(call: .splitting)), or import the sources themselves."
            )
        }
        return try sources(of: zip(header.sources, header.shapes).map { ($0, $1) })
    }

    private func sources(of shaped: [(SourceDescription, SourceShape)]) throws -> [StoredJob.Source] {
        // SQLite does not tell tables apart by case.
        var names: [String: String] = [:]
        let sources = try shaped.map { description, shape in
            let entities = try entities(of: shape, description).map { name in
                let known = names[name.asciiLowercased] ?? name
                names[name.asciiLowercased] = known
                return known
            }
            return StoredJob.Source(description: description, shape: shape, entities: entities)
        }
        try checkOverrides(of: sources)
        return sources
    }

    /// What is said of an inferred model must fit the entities, and is not for a model that is given.
    private func checkOverrides(of sources: [StoredJob.Source]) throws {
        let overrides = InferenceOverrides(options)
        guard options.model == nil || overrides.isEmpty else {
            throw ImportError(
                .optionsConflict,
                "\(.identifier) and \(.types) are for a model that is inferred, and there is a model file",
                advice: "Say it in the model file (\"identifier\", \"type\"), or leave \(.model) out."
            )
        }
        guard options.model == nil || options.nested == JobOptions().nested else {
            throw ImportError(
                .optionsConflict,
                "\(.nested) is for a model that is inferred, and there is a model file",
                advice: "Say it in the model file (\"relationships\"), or leave \(.model) out."
            )
        }
        var entities: [String] = []
        for name in sources.flatMap(\.entities) where !entities.contains(name) { entities.append(name) }
        try overrides.check(entities: entities)
    }

    /// The sources that the arguments stand for.
    ///
    /// - Throws: `ImportError` when there is none, one is not there, or standard input is named twice.
    func describe(_ arguments: [String]) throws -> [SourceDescription] {
        guard !arguments.isEmpty else {
            throw ImportError(.optionInvalid, "no source is given", advice: "Give at least one; nothing was touched.")
        }
        let descriptions = try arguments.flatMap { try opener.describe($0, interruption: interruption) }
        guard descriptions.filter({ !$0.isRepeatable }).count <= 1 else {
            throw ImportError(
                .sourceReadOnce,
                "more than one source can only be read once",
                advice: "Give - (or a pipe) once at most."
            )
        }
        return descriptions
    }

    // MARK: Where records are

    /// The record paths that were asked for, by the command line or else by the model.
    private var askedPaths: [RecordPath] {
        if !options.records.isEmpty { return options.records }
        return options.model?.entities.compactMap(\.records) ?? []
    }

    /// The keys that lead to what a record's relationships hold: an object that has them is a record itself.
    private var nestedKeys: [[String]] {
        guard let model = options.model, !model.isFlat else { return [] }
        let destinations = Set(model.entities.flatMap(\.relationships).map { ExactText($0.destination) })
        let roots = model.entities.filter { entity in
            options.entity.map { $0 == entity.name } ?? !destinations.contains(ExactText(entity.name))
        }
        let hierarchy = EntityHierarchy(model.entities)
        let ancestors = roots.flatMap { root in
            hierarchy.index(of: root.name).map { hierarchy.chain(of: $0).map { model.entities[$0] } } ?? []
        }
        return ancestors.flatMap(\.relationships).flatMap(\.from).map { source in
            switch source {
            case .value(let path), .members(let path): path.keys
            case .identifier(let paths): paths.first?.keys ?? []
            }
        }.filter { !$0.isEmpty }
    }

    /// A source's shape, and in words what was found by itself.
    private func shape(
        of sample: SourceStream.Sample,
        _ source: SourceDescription
    ) throws -> (SourceShape, words: String?, trees: [ImportText]) {
        try checkBeginning(of: sample.bytes, source)
        var detector = ShapeDetector(sample.bytes, isWhole: sample.isWhole)
        detector.nested = nestedKeys
        let found = detector.detection
        if case .empty = found {
            throw ImportError(
                .sourceEmpty,
                at: source.name,
                "has no JSON value",
                advice: "An import without records needs an empty array: []."
            )
        }
        if GivenRecords.isName(source.name), sample.bytes == GivenRecords.none {
            return (SourceShape(layout: .document, paths: GivenRecords.shapeOfNone), nil, [])
        }
        let asked = askedPaths
        guard asked.isEmpty else {
            return (SourceShape(asked: asked, found: found, isExplicit: !options.records.isEmpty), nil, [])
        }
        switch found {
        case .found(let layout, let paths, let reason):
            let texts = paths.map(\.description)
            let words = "records at \(texts.joined(separator: ", ")) (\(reason))"
            guard reason != ShapeDetector.noValue else { return (SourceShape(layout: layout, paths: texts), nil, []) }
            let trees = paths.flatMap { treeLines(at: $0, detector, source) }
            return (SourceShape(layout: layout, paths: texts), words, trees)
        case .unnameable(let candidate):
            throw ImportError(
                .notUTF8,
                at: source.name,
                position: ImportError.Position(byteOffset: candidate.invalidKeyOffset.map(Int64.init)),
                "\(candidate.path) has a key that is not UTF-8, at byte "
                    + "\(candidate.invalidKeyOffset ?? 0)",
                advice: "Records there have no path that could be named. Convert the file to UTF-8."
            )
        case .ambiguous(let candidates):
            let list: [ImportText] = candidates.map {
                $0.invalidKeyOffset == nil
                    ? "  \(.records, $0.path.description)   (\($0.words))"
                    : "  \($0.path) has a key that is not UTF-8 and cannot be named"
            }
            throw ImportError(
                .recordsAmbiguous,
                at: source.name,
                "records could be at several record paths",
                advice: "Say which with one or more of:\n\(list.joined(separator: "\n"))"
            )
        case .empty:
            throw ImportError(.sourceEmpty, at: source.name, "has no JSON value")
        }
    }

    /// Says that the records at a path that was found hold more of their kind, which stay inside of them.
    private func treeLines(at path: RecordPath, _ detector: ShapeDetector, _ source: SourceDescription) -> [ImportText]
    {
        let levels = detector.treeLevels(at: path)
        guard levels.count > 1 else { return [] }
        let more = detector.isWhole ? "" : " or more"
        let nested = levels.dropFirst().reduce(0) { $0 + $1.count }
        var lines: [ImportText] = [
            "\(source.displayName): a tree: records at \(path) hold \(nested)\(more) objects of the same shape, which stay "
                + "inside of them; choose one of the levels with \(.records):"
        ]
        lines += levels.prefix(4).map {
            "  \(.records, $0.path.description)   (\($0.count)\(more) objects)"
        }
        let deeper = levels.dropFirst(4).reduce(0) { $0 + $1.count }
        if deeper > 0 { lines.append("  … and \(deeper)\(more) on \(levels.count - 4) deeper levels") }
        return lines
    }

    /// What cannot begin a JSON value is not JSON at all; nothing is begun for it.
    private func checkBeginning(of sample: [UInt8], _ source: SourceDescription) throws {
        let whiteSpace: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
        guard let place = sample.firstIndex(where: { !whiteSpace.contains($0) }) else { return }
        let beginnings = Set("{[\"-0123456789tfn".utf8)
        guard beginnings.contains(sample[place]) else {
            throw ImportError(
                .notJSON,
                at: source.name,
                position: ImportError.Position(byteOffset: Int64(place)),
                "is not JSON: byte \(place) cannot begin a value",
                advice: "Give JSON, plain or compressed; nothing was imported."
            )
        }
    }

    // MARK: Which entity they are

    private func entities(of shape: SourceShape, _ source: SourceDescription) throws -> [String] {
        if let model = options.model { return try shape.paths.map { try entity(at: $0, in: model) } }
        if let entity = options.entity {
            guard shape.paths.count == 1 else {
                throw ImportError(
                    .optionsConflict,
                    "\(.entity) names the records of one record path, and there are \(shape.paths.count)",
                    advice: "Leave it out: each record path's last key names its entity."
                )
            }
            return [entity]
        }
        if shape.paths.count > 1 { return try Self.names(of: shape.paths) }
        guard let path = source.path else {
            throw ImportError(
                .entityUnnamed,
                at: source.name,
                "has no file name to name its table",
                advice: "Give the table's name with \(anyOf: .entity)."
            )
        }
        return [Self.name(of: source.member ?? path)]
    }

    private func entity(at path: String, in model: ModelDescription) throws -> String {
        if let name = options.entity {
            guard model.entities.contains(where: { $0.name == name }) else {
                throw ImportError(
                    .unknownEntity,
                    "the model has no entity \(name)",
                    advice: "It has: \(model.entities.map(\.name).joined(separator: ", ").printable)."
                )
            }
            return name
        }
        if let entity = model.entities.first(where: { $0.records?.description == path }) { return entity.name }
        if model.entities.count == 1 { return model.entities[0].name }
        throw ImportError(
            .entityUnnamed,
            "the model does not say which entity the records at \(path) are",
            advice: "Give the entity's \"records\" in the model, or \(anyOf: .entity)."
        )
    }
}

extension ShapeDetector.Candidate {
    /// `array of 63 objects`.
    fileprivate var words: String {
        let count = isWhole ? "\(count)" : "\(count) or more"
        return switch kind {
        case .array: "array of \(count) objects"
        case .keyed: "\(count) objects by key"
        case .keyedArrays: "\(count) arrays of objects by key"
        }
    }
}
