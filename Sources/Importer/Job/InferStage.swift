import ImportModel
import Synchronization

/// The workers that look at every record before there is a model.
final class InferStage: Sendable {
    private let sources: [StoredJob.Source]
    private let options: JobOptions
    private let removesChunks: Bool
    private let progress: ImportProgress
    private let interruption: Interruption
    private let merged = Mutex<[String: EntityStatistics]>([:])

    init(
        sources: [StoredJob.Source],
        options: JobOptions,
        removesChunks: Bool,
        progress: ImportProgress,
        interruption: Interruption
    ) {
        self.sources = sources
        self.options = options
        self.removesChunks = removesChunks
        self.progress = progress
        self.interruption = interruption
    }

    /// Runs the workers until all chunks are looked at.
    ///
    /// - Parameters:
    ///   - workers: how many, from 1.
    ///   - feed: hands them the chunks; returns what was wrong with a source, or nil.
    /// - Returns: what `feed` returned.
    /// - Throws: `ImportError`.
    func run(workers: Int, feed: @escaping (ChunkQueue) throws -> ImportError?) throws -> ImportError? {
        let queue = ChunkQueue(capacity: workers + 2)
        return try WorkerPool.run(
            workers,
            on: queue,
            interruption: interruption,
            stop: { queue.fail($0) },
            work: { try self.work(queue) },
            feed: { try feed(queue) }
        )
    }

    /// One worker's life: until there are no more chunks.
    private func work(_ queue: ChunkQueue) throws {
        let reader = ChunkReader(maxDepth: options.maxDepth)
        var statistics: [String: EntityStatistics] = [:]
        while let item = try queue.take() {
            try interruption.check()
            try reader.open(item.chunk)
            let names = sources[item.chunk.entry.source].entities
            // Taken out of the dictionary meanwhile, so that each is changed in place.
            var byPath = names.map { statistics.removeValue(forKey: $0) ?? EntityStatistics() }
            reader.read(item.chunk.entry.records) { line in
                guard case .record = line.content else { return true }
                let parsed = reader.record(of: line)
                let path = names.firstIndex(of: names[line.path]) ?? line.path
                byPath[path].add(
                    parsed.tape,
                    record: line.bytes,
                    root: line.root,
                    ordinal: line.ordinal,
                    key: line.isKeyed ? parsed.tape.token(1, in: line.bytes) : nil
                )
                return true
            }
            for (name, own) in zip(names, byPath) where own.records > 0 {
                if statistics[name] == nil { statistics[name] = own } else { statistics[name]?.merge(own) }
            }
            let entry = item.chunk.entry
            if removesChunks { try item.chunk.directory.remove(chunk: entry.number) }
            progress.update {
                $0.importedBytes += entry.endByte - entry.firstByte
                $0.importedRecords += Int64(entry.records)
            }
        }
        merged.withLock { merged in
            for (name, own) in statistics {
                if merged[name] == nil { merged[name] = own } else { merged[name]?.merge(own) }
            }
        }
    }

    /// The model that fits all records that were seen, but for what was said of it, and what was noticed on the way.
    ///
    /// - Parameter stored: what a store has of its entities, by their names.
    /// - Throws: `ImportError` when what was said of it cannot be.
    func model(
        continuing stored: [String: ContinuedEntity] = [:]
    ) throws -> (model: ModelDescription, notices: [ImportText]) {
        let statistics = merged.withLock { $0 }
        var entities: [EntityDescription] = []
        var notices: [InferenceNotice] = []
        for source in sources {
            for (name, path) in zip(source.entities, source.shape.paths)
            where !entities.contains(where: { $0.name == name }) {
                let gathered = statistics[name] ?? EntityStatistics()
                let (entity, seen) = gathered.entity(
                    named: name,
                    records: try? RecordPath(path),
                    continuing: stored[name]
                )
                entities.append(entity)
                notices += seen
            }
        }
        var model = ModelDescription(entities: entities)
        let empty = Set(entities.map(\.name).filter { (statistics[$0]?.records ?? 0) == 0 })
        try InferenceOverrides(options).apply(to: &model, empty: empty) { statistics[$0.name]?.isComplete($1) ?? false }
        // Anyone who has chosen an identifier needs no candidates.
        let named = Set(model.entities.filter { !$0.identifier.isEmpty }.map(\.name))
        notices.removeAll { notice in
            guard case .identifierCandidate = notice.finding else { return false }
            return named.contains(notice.entity)
        }
        return (model, InferenceNotice.lines(notices))
    }
}
