import Foundation
import ImportModel
import ImportSources

/// Works out what a new job is to do: its sources, where their records are, and which entity they are.
///
/// It reads the beginning of each source and writes nothing.
package struct JobPlanner {
    package var options: JobOptions
    package let opener: SourceOpener
    package let interruption: Interruption
    /// Told what was found by itself, in words.
    package private(set) var announce: (MessageText) -> Void
    /// The store's tables that no import has made.
    package var theirTables: () throws -> [String] = { [] }
    /// True if an earlier import into the store was given the same names of attributes.
    package var areNamesKnown: () throws -> Bool = { false }

    package init(
        options: JobOptions,
        opener: SourceOpener,
        interruption: Interruption,
        announce: @escaping (MessageText) -> Void
    ) {
        self.options = options
        self.opener = opener
        self.interruption = interruption
        self.announce = announce
    }

    /// The same, and nothing is said.
    var silent: JobPlanner {
        var planner = self
        planner.announce = { _ in }
        return planner
    }

    /// What was planned, with the stream of standard input as far as it was read.
    package struct Plan {
        package let sources: [StoredJob.Source]
        /// Sources that cannot be opened a second time, already open, by their index in the job.
        package let open: [Int: SourceStream]
    }

    /// A source with its shape.
    package struct Shaped {
        package let description: SourceDescription
        package let shape: SourceShape
        /// The source, already open, if it cannot be opened a second time.
        package let open: SourceStream?
        /// The entity at each record path, where the records of all sources name them; else nil.
        package let entities: [String]?
    }

    /// Works out a job.
    ///
    /// - Parameters:
    ///   - entities: those of other sources that were given, which the store has already.
    ///   - known: what the store has of the sources' entities, by their names in lower case.
    /// - Throws: `ImportError` when a source cannot be read, or its records cannot be found or named.
    package func plan(
        _ descriptions: [SourceDescription],
        beside entities: [String] = [],
        known: Known = { _ in [:] }
    ) throws -> Plan {
        let shaped = try shapes(of: descriptions, beside: entities, known: known)
        let sources = try sources(of: shaped.map { ($0.description, $0.shape, $0.entities) })
        var open: [Int: SourceStream] = [:]
        for (index, source) in shaped.enumerated() { open[index] = source.open }
        return Plan(sources: sources, open: open)
    }

    /// The sources of chunks that were cut before.
    ///
    /// - Throws: `ImportError` when their records cannot be named.
    package func plan(_ chunks: ChunkSource) throws -> [StoredJob.Source] {
        let header = chunks.header
        guard options.skip == 0, options.limit == nil else {
            throw ImportError(
                .optionsConflict,
                "\(.skip) and \(.limit) decide what is split, and the chunks of \(chunks.directory.path) are split already",
                advice: "Give them to the split (\(call: .splitting)), or import the sources themselves."
            )
        }
        guard header.shapes.allSatisfy({ $0.fileColumn == options.fileColumn }) else {
            throw ImportError(
                .optionsConflict,
                "\(.fileColumn) differs from that of the split that made the chunks of \(chunks.directory.path)",
                advice: "Give the same, or import the sources themselves."
            )
        }
        guard header.shapes.allSatisfy({ $0.isEmpty == true || ($0.headers != nil) == options.headerRow }) else {
            throw ImportError(
                .optionsConflict,
                "\(.headerRow) is another than that of the split that made the chunks of \(chunks.directory.path)",
                advice: "Give the same, or import the sources themselves."
            )
        }
        var planner = self
        if options.model == nil { planner.options.entity = options.entity ?? header.entity }
        let isNamed = planner.options.entity != nil || options.model != nil
        return try planner.sources(
            of: header.sources.indices.map { index in
                (header.sources[index], header.shapes[index], isNamed ? nil : header.entities?[index])
            }
        )
    }

    private func sources(
        of shaped: [(SourceDescription, SourceShape, entities: [String]?)]
    ) throws -> [StoredJob.Source] {
        // SQLite does not tell tables apart by case.
        var names: [String: String] = [:]
        let sources = try shaped.map { description, shape, named in
            let entities = try (named ?? entities(of: shape, description)).map { name in
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
        let overrides = InferenceOverrides(options, areKnown: try areNamesKnown())
        guard options.model == nil || overrides.isEmpty else {
            throw ImportError(
                .optionsConflict,
                "\(.identifier), \(.types) and \(.storages) are for an inferred model, and a model file is given",
                advice: "Say it in the model file (\"identifier\", \"type\", \"storage\"), or leave \(.model) out."
            )
        }
        guard options.model == nil || options.nested == JobOptions().nested else {
            throw ImportError(
                .optionsConflict,
                "\(.nested) is for an inferred model, and a model file is given",
                advice: "Say it in the model file (\"relationships\"), or leave \(.model) out."
            )
        }
        if let model = options.model { try overrides.checkNullTexts(model) }
        var entities: [String] = []
        for name in sources.flatMap(\.entities) where !entities.contains(name) { entities.append(name) }
        try overrides.check(entities: entities)
    }

    /// The sources that the arguments stand for.
    ///
    /// - Parameter known: as of `SourceListing`.
    /// - Throws: `ImportError` when there is none, one is not there, or standard input is named twice.
    package func list(
        _ arguments: [String],
        known: ([SourceDescription]) throws -> [SourceDescription?]? = { _ in nil }
    ) throws -> SourceListing {
        guard !arguments.isEmpty else {
            throw ImportError(.optionInvalid, "no source is given", advice: "Give at least one; nothing was touched.")
        }
        let selection = SourceSelection(options)
        var listing = try SourceListing(arguments, selection, opener, interruption, known: known, announce)
        listing.decode(from: options.encoding)
        guard listing.sources.filter({ !$0.isRepeatable }).count <= 1 else {
            throw ImportError(
                .sourceReadOnce,
                "several sources are streams, which can be read only once",
                advice: "Give - (or a pipe) once at most."
            )
        }
        return listing
    }

    // MARK: Which entity they are

    /// The entity of a source with one record path; nil where its record path decides.
    package func entity(of source: SourceDescription) -> String? {
        if let entity = options.entity { return entity }
        if let model = options.model { return model.entities.count == 1 ? model.entities[0].name : nil }
        return source.namingPath.map(SourceNames.name)
    }

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
        if shape.paths.count > 1 {
            let names = shape.paths.map { SourceNames.lastKey(of: $0) ?? "" }
            guard !names.contains(""), Set(names.map(\.asciiLowercased)).count == names.count else {
                throw ImportError(
                    .entityUnnamed,
                    "the record paths do not name their entities",
                    advice: "Give a model with \(.model)."
                )
            }
            return names
        }
        guard let path = source.namingPath else {
            throw ImportError(
                .entityUnnamed,
                at: source.name,
                "has no file name to name its table",
                advice: "Give the table's name with \(anyOf: .entity)."
            )
        }
        return [SourceNames.name(of: path)]
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
        // A collection under the name of an entity, or of its table, has that entity's records.
        if let key = SourceNames.lastKey(of: path),
            let entity = model.entities.first(where: { $0.name.hasSameBytes(as: key) })
                ?? model.entities.first(where: { $0.table.asciiLowercased == key.asciiLowercased })
        {
            return entity.name
        }
        throw ImportError(
            .entityUnnamed,
            "the model does not say which entity the records at \(path) are",
            advice:
                "Give the entity's \"records\" in the model, or \(anyOf: .entity); the key of a collection that is the "
                + "name of an entity says it, too."
        )
    }
}
