import ImportModel
import ImportSources
import Synchronization

/// The workers that look at every record before there is a model.
package final class InferenceWorkers: Sendable {
    private let sources: [StoredJob.Source]
    private let options: JobOptions
    private let removesChunks: Bool
    private let progress: ImportProgress
    private let interruption: Interruption
    /// How many keys a record has at most.
    private let keys: Int
    private let limits: InferenceLimits
    private let merged = Mutex<[String: EntityStatistics]>([:])

    package init(
        sources: [StoredJob.Source],
        options: JobOptions,
        removesChunks: Bool,
        readsBytes: Bool = false,
        progress: ImportProgress,
        interruption: Interruption
    ) {
        self.sources = sources
        self.options = options
        self.removesChunks = removesChunks
        self.progress = progress
        self.interruption = interruption
        keys = sources.flatMap(\.shape.keys).map(\.count).max() ?? 0
        var limits = NestingRules(options).limits
        if readsBytes { limits.forms.formUnion(.bytes) }
        self.limits = limits
    }

    /// Runs the workers until all chunks are looked at.
    ///
    /// - Parameters:
    ///   - workers: how many, from 1.
    ///   - feed: hands them the chunks; returns what was wrong with a source, or nil.
    /// - Returns: what `feed` returned.
    /// - Throws: `ImportError`.
    package func run(workers: Int, feed: @escaping (ChunkQueue) throws -> ImportError?) throws -> ImportError? {
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
        let reader = ChunkReader(options)
        var statistics: [String: EntityStatistics] = [:]
        while let item = try queue.take() {
            try reader.open(item.chunks)
            for (place, chunk) in item.chunks.enumerated() {
                try interruption.check()
                if place > 0 { reader.takeNext() }
                look(at: chunk.entry, reader, &statistics)
            }
            if removesChunks, let first = item.chunks.first {
                try first.directory.remove(chunk: first.entry.fileNumber)
            }
            progress.update {
                for chunk in item.chunks {
                    $0.importedBytes += chunk.entry.endByte - chunk.entry.firstByte
                    $0.importedRecords += Int64(chunk.entry.records)
                }
            }
        }
        merged.withLock { merged in
            for (name, own) in statistics {
                if merged[name] == nil { merged[name] = own } else { merged[name]?.merge(own) }
            }
        }
    }

    /// Looks at the records of the chunk that is being read.
    private func look(at chunk: ChunkEntry, _ reader: ChunkReader, _ statistics: inout [String: EntityStatistics]) {
        let names = sources[chunk.source].entities
        // Taken out of the dictionary meanwhile, so that each is changed in place.
        var byPath = names.map {
            statistics.removeValue(forKey: $0) ?? EntityStatistics(limits: limits, keys: keys)
        }
        let columns = sources[chunk.source].columns
        for path in byPath.indices { byPath[path].name(columns: columns?[path]) }
        reader.read(chunk.records) { line in
            guard case .record = line.content else { return true }
            let parsed = reader.record(of: line)
            // A row of another length is a reject.
            if let columns, !parsed.tape.mayBeRow(columns[line.path].count, at: 2 * line.keys) { return true }
            let path = names.firstIndex(of: names[line.path]) ?? line.path
            byPath[path].add(
                parsed.tape,
                record: line.bytes,
                root: 2 * line.keys,
                ordinal: line.ordinal,
                keys: line.keys
            )
            return true
        }
        for (name, own) in zip(names, byPath) where own.records > 0 {
            if statistics[name] == nil { statistics[name] = own } else { statistics[name]?.merge(own) }
        }
    }

    /// The model that fits all records that were seen, but for what was said of it, and what was noticed on the way.
    ///
    /// - Parameters:
    ///   - textsHaveNUL: whether the store's texts may have U+0000.
    ///   - stored: what a store has of its entities, by their names.
    ///   - isTaken: whether a store has a table of this name, or anything else, that is not to be continued.
    ///   - areNamesKnown: whether an earlier import was given the same names of attributes.
    /// - Returns: the entities of records first, then those of arrays within them.
    /// - Throws: `ImportError` when what was said of it cannot be.
    package func model(
        textsHaveNUL: Bool = true,
        continuing stored: [String: ExistingEntity] = [:],
        isTaken: @escaping (String) throws -> Bool = { _ in false },
        areNamesKnown: Bool = false
    ) throws -> (model: ModelDescription, notices: [MessageText]) {
        let statistics = merged.withLock { $0 }
        let overrides = InferenceOverrides(options, areKnown: areNamesKnown)
        var rules = NestingRules(options)
        rules.textsHaveNUL = textsHaveNUL || options.nul == .replace
        rules.fileColumn = sources.lazy.compactMap(\.shape.fileColumn).first
        try rules.check(continuing: stored)
        var roots: [(name: String, path: String)] = []
        for source in sources {
            for (name, path) in zip(source.entities, source.shape.paths)
            where !roots.contains(where: { $0.name == name }) {
                roots.append((name, path))
            }
        }
        let identifiers = try overrides.identifiers(of: roots.map(\.name))
        var names = Self.tableNames(besides: roots.map(\.name), stored, isIdentified: !identifiers.isEmpty, isTaken)
        let inferred = try roots.enumerated().map { index, root in
            try InferredEntities(
                of: statistics[root.name] ?? EntityStatistics(limits: limits, keys: keys),
                named: root.name,
                records: try? RecordPath(root.path),
                keyNames: keyNames(of: root.name),
                continuing: stored[root.name],
                identifier: identifiers[index] ?? [],
                rules: rules,
                names: &names
            )
        }
        let children = inferred.flatMap { $0.entities.dropFirst() }
        var model = ModelDescription(entities: inferred.map { $0.entities[0] } + children)
        let empty = Set(roots.map(\.name).filter { (statistics[$0]?.records ?? 0) == 0 })
        try rules.check(inferred.map(\.arrays), isEmpty: !empty.isEmpty || areNamesKnown)
        if !areNamesKnown { try checkParsedKeys(statistics, isEmpty: !empty.isEmpty) }
        try overrides.apply(to: &model, records: roots.count, empty: empty)
        // Anyone who has chosen an identifier needs no candidates.
        let named = Set(model.entities.filter { !$0.identifier.isEmpty }.map(\.name))
        let seen = inferred.flatMap(\.notices)
        let references = rules.policy == .tables ? ReferenceCandidates(in: model.entities, seen).notices : []
        let notices = (seen + references).filter { notice in
            switch notice.finding {
            case .identifierCandidate: !named.contains(notice.entity)
            case .decimals:
                overrides.types.isEmpty && overrides.storages.isEmpty || model.isDecimal(notice.path, of: notice.entity)
            default: true
            }
        }
        return (model, InferenceNotice.lines(notices, children: Set(children.map(\.name))))
    }

    /// Makes sure that some record has each key whose texts are taken apart.
    private func checkParsedKeys(_ statistics: [String: EntityStatistics], isEmpty: Bool) throws {
        let keys = statistics.values.flatMap { own in
            own.children(of: EntityStatistics.record).map { own.key(of: $0) }
        }
        let isPartial = statistics.values.contains { $0.paths[EntityStatistics.record].isFull }
        guard !isEmpty, !isPartial,
            let path = options.parse?.first(where: { path in !keys.contains(path.keys.first ?? "") })
        else { return }
        throw ImportError(
            .unknownAttribute,
            "\(.parse): no record has the key \(path.keys.first ?? "")"
                + "\(NameSuggestion.question(for: path.keys.first ?? "", among: keys))",
            advice: "Nothing was imported."
        )
    }

    /// What the keys further out are called: by the keys that their objects are under.
    private func keyNames(of entity: String) -> [String] {
        let paths = sources.flatMap { source in zip(source.entities, source.shape.paths).filter { $0.0 == entity } }
            .compactMap { try? RecordPath($0.1) }
        return (1..<max(1, keys)).map { level in
            let name = paths.first { $0.keyCount > level }?.name(ofKey: level)
            return ColumnNames.wanted(for: (name.map { [$0] } ?? []) + ["key"])
        }
    }

    /// What gives child tables names beside these.
    private static func tableNames(
        besides roots: [String],
        _ stored: [String: ExistingEntity],
        isIdentified: Bool,
        _ isTaken: @escaping (String) throws -> Bool
    ) -> TableNames {
        var names = TableNames(isTaken: isTaken)
        for root in roots {
            names.reserve(root)
            if isIdentified { names.reserve("\(root)_identifier") }
        }
        func reserve(_ continued: ExistingEntity) {
            names.reserve(continued.entity.name)
            names.reserve(continued.entity.table)
            continued.children.values.forEach(reserve)
        }
        stored.values.forEach(reserve)
        return names
    }
}

extension ModelDescription {
    /// True if an attribute of an entity that is read at a path is a decimal.
    fileprivate func isDecimal(_ path: AttributePath, of entity: String) -> Bool {
        let entity = entities.first { $0.name == entity }
        return entity?.attributes.contains { $0.from.contains(path) && $0.type == .decimal && $0.ownForm == nil }
            ?? false
    }
}
