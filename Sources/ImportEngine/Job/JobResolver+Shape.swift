import ImportModel
import ImportSources

/// What the store already knows of where the records of sources are.
extension JobResolver {
    /// What the store has of entities of these names, by their names in lower case.
    ///
    /// - Parameter job: one that does not count; nil for none.
    package func known(of names: [String], excluding job: Int64?) throws -> [String: KnownRecords] {
        guard options.records.isEmpty else { return [:] }
        var known = try journal.knownRecords(of: Set(names.map(\.asciiLowercased)), excluding: job)
        guard !known.isEmpty else { return known }
        for entity in try options.model?.entities ?? continued(names) {
            let from = entity.attributes.flatMap(\.from) + entity.relationships.flatMap(\.from).flatMap(\.paths)
            known[entity.name.asciiLowercased]?.haveIdentifier = !entity.identifier.isEmpty
            known[entity.name.asciiLowercased]?.keys = Set(
                from.filter(\.isWithinRecord).compactMap(\.keys.first).map { BytewiseString($0) }
            )
        }
        return known
    }

    private func continued(_ names: [String]) throws -> [EntityDescription] {
        let source = StoredJob.Source(
            description: SourceDescription(name: "-", path: nil, member: nil, size: nil, modified: nil),
            shape: SourceShape(layout: .stream, paths: []),
            entities: names
        )
        let job = StoredJob(options: options, sources: [source], model: nil, chunkDirectory: "")
        return try journal.continuedEntities(of: job).values.map(\.entity)
    }

    /// The job that takes the place of one, where a source of which it has committed no record is laid out otherwise by now, or
    /// an archive has more members by now; nil where they are not.
    package func replacement(for job: StoredJob) throws -> Decision? {
        guard job.retry == nil, job.change == nil, job.isReadableAgain else { return nil }
        let arguments = job.sources.map(\.description).files
        // Where a source is gone, chunks may be all that is needed.
        let isCompressed = job.sources.contains(where: \.description.isCompressed)
        let marker = try journal.marker(of: job)
        var planner = planner
        planner.options = job.options
        func now() throws -> [SourceDescription] {
            try planner.silent.list(arguments).sources.given(as: job.sources.map(\.description))
        }
        let hasGrown = isCompressed ? (try? now()).map(job.hasBegun) ?? false : false
        guard try hasGrown || marker.recordOrdinal == 0 || job.state == .failed && job.id == journal.lastJob()?.id
        else { return nil }
        let resolver = JobResolver(
            store: store,
            options: job.options,
            run: run,
            planner: planner,
            chunksBase: chunksBase,
            isPlanning: isPlanning,
            journal: journal
        )
        func shapes() throws -> [SourceShape] {
            let shapes = try planner.silent.shapes(of: now()) { try resolver.known(of: $0, excluding: job.id) }
            // What goes on after an earlier part has its shape.
            return shapes.enumerated().map { index, shaped in
                guard shapes.count == job.sources.count, job.sources[index].description.earlier != nil else {
                    return shaped.shape
                }
                return job.sources[index].shape
            }
        }
        // Of a job that has records, chunks may be all that is needed.
        guard let shapes = try marker.recordOrdinal == 0 || hasGrown ? shapes() : try? shapes() else { return nil }
        let left = job.sources.indices.dropFirst(marker.byteOffset > 0 ? marker.source + 1 : marker.source)
        let changed = shapes.count == job.sources.count ? left.first { shapes[$0] != job.sources[$0].shape } : 0
        guard let changed = hasGrown ? 0 : changed else { return nil }
        if hasGrown || marker.recordOrdinal > 0 {
            let how = hasGrown ? "its archive has more files" : "its records are elsewhere"
            planner.announce(
                "\(job.sources[changed].description.displayName): \(how) than when the import stopped, so it starts over"
            )
        }
        let sources = try now()
        let own = Set(job.sources.compactMap(\.description.key))
        let isPart = job.sources.contains { $0.description.earlier != nil || $0.description.replaces != nil }
        // What the job left out as it was in already stays left out.
        let known =
            try isPart || sources.contains { !($0.key.map(own.contains) ?? false) }
            ? resolver.knownSources(sources) : nil
        return try resolver.begin(
            sources,
            given: job.given,
            nil,
            known?.hasAll == true ? nil : known,
            replacing: job
        )
    }
}

extension StoredJob {
    /// True if it is an unfinished one of these files, of which archives have more members by now.
    package func hasBegun(_ now: [SourceDescription]) -> Bool {
        state != .finished && retry == nil && change == nil && !takesChunks && sources.count < now.count
            && sources.map(\.description).files == now.files
    }
}
