import ImportModel
import ImportSources

/// What is in already is not imported a second time.
extension JobResolver {
    /// Makes sure that no source is given twice.
    ///
    /// - Throws: `ImportError` with `.usage`.
    func checkGivenOnce(_ descriptions: [SourceDescription]) throws {
        var given: Set<BytewiseString> = []
        for source in descriptions {
            guard let key = source.key, !given.insert(key).inserted else { continue }
            throw ImportError(
                .alreadyImported,
                at: source.name,
                "is given more than once",
                advice: "Give it once, or \(.again) to import its records each time."
            )
        }
    }

    /// The files that are as they were when they were imported, so that they need not be looked into.
    ///
    /// Nil for others, and where an archive had several members.
    ///
    /// - Parameter jobs: gets the newest jobs with one of the files.
    func untouched(_ files: [SourceDescription], _ jobs: inout [StoredJob]) throws -> [SourceDescription?]? {
        var places: [BytewiseString: Int] = [:]
        for (place, file) in files.enumerated() { if let key = file.key { places[key] = place } }
        var found: [SourceDescription?]?
        try journal.forEachJob(withOneOf: files) { job in
            jobs.append(job)
            for source in job.sources.reversed() {
                let was = source.description
                guard let place = was.key.flatMap({ places.removeValue(forKey: $0) }) else { continue }
                var file = files[place]
                guard SourceCheck.isUntouched(file, since: was) else { continue }
                file.isCompressed = was.isCompressed
                if found == nil { found = Array(repeating: nil, count: files.count) }
                found?[place] = file
            }
            return !places.isEmpty
        }
        return found
    }

    /// True if all sources of an unfinished import of the same options are given, and perhaps others.
    func isAmong(_ descriptions: [SourceDescription], _ job: StoredJob) -> Bool {
        guard job.retry == nil, job.change == nil, differences(from: job, takesChunks: false).isEmpty else {
            return false
        }
        let given = Set(descriptions.compactMap(\.key))
        // Nothing more is wanted of what is gone.
        return job.sources.map(\.description).allSatisfy { $0.isGone == true || $0.key.map(given.contains) ?? false }
    }

    /// Makes sure that no unfinished import with the same options has one of the sources, and others that are not given.
    ///
    /// - Throws: `ImportError` with `.usage`.
    func checkUnfinished(_ descriptions: [SourceDescription], _ unfinished: [StoredJob]) throws {
        for job in unfinished
        where job.retry == nil && job.change == nil && differences(from: job, takesChunks: false).isEmpty {
            let own = Set(job.sources.compactMap(\.description.key))
            let both = descriptions.filter { $0.key.map(own.contains) ?? false }
            guard !both.isEmpty else { continue }
            throw ImportError(
                .jobUnfinished,
                at: store,
                "the import of \(Self.list(job.sources.map(\.description))) is not finished, and has "
                    + "\(Self.list(both)) among its sources",
                advice: "Finish it with \(call: .resuming(store: store)), then give what is new; "
                    + "\(.again) imports all of it."
            )
        }
    }

    /// What the store has of the sources, as far as it was imported from where this import would find it, into the same entities.
    ///
    /// - Throws: `ImportError`, also where a source has changed and its records cannot be merged.
    ///
    /// - Parameter newest: the newest jobs of each, where they were read already.
    func knownSources(_ descriptions: [SourceDescription], newest: [StoredJob] = []) throws -> KnownSources {
        let check = SourceCheck(
            opener: planner.opener,
            interruption: planner.interruption,
            beginnings: followed?.beginnings
        )
        var parts: Set<BytewiseString> = []
        let known = try KnownSources(
            of: descriptions,
            newest: newest,
            in: store,
            journal,
            check,
            replaces: run.replacesSources,
            followed: followed
        ) { job, source in
            let before = job.options
            let records = options.records.map(\.description)
            guard records.isEmpty || records == source.shape.paths else { return false }
            guard before.skip == options.skip, before.limit == options.limit else {
                if let key = source.description.key { parts.insert(key) }
                return false
            }
            if let model = options.model {
                let names = Set(model.entities.map { BytewiseString($0.name) })
                guard source.entities.allSatisfy({ names.contains(BytewiseString($0)) }) else { return false }
            }
            if before.model != nil, options.model == nil, options.entity == nil {
                // Where there is one table, it is called as the source is.
                let name = planner.entity(of: source.description)?.asciiLowercased
                return source.entities.count != 1 || source.entities[0].asciiLowercased == name
            }
            return options.entity == nil
                ? before.entity == nil || options.model != nil : source.entities == [options.entity]
        }
        let both = zip(descriptions, known.answers).filter { source, answer in
            guard case .new = answer else { return false }
            return source.key.map(parts.contains) ?? false
        }
        if !both.isEmpty {
            planner.announce(
                "\(Self.list(both.map(\.0))): some of the records were imported with another \(.skip) or \(.limit), and are not "
                    + "told from those that are imported now"
            )
        }
        return known
    }

    /// An unfinished job whose sources have moved since it stopped, with the files that they are in now.
    ///
    /// What is committed of a source tells where it is. Where nothing is, what is at its path is imported.
    func relocated(_ job: StoredJob, _ descriptions: [SourceDescription]) throws -> StoredJob {
        let check = SourceCheck(opener: planner.opener, interruption: planner.interruption)
        var job = job
        var places: [BytewiseString: Int] = [:]
        for (place, source) in descriptions.enumerated() { if let key = source.key { places[key] = place } }
        var free = Set(descriptions.indices)
        var lost: [Int] = []
        let marker = try journal.marker(of: job)
        for (index, source) in job.sources.enumerated() where source.description.isGone != true {
            let place = source.description.key.flatMap { places[$0] }
            let now = place.map { descriptions[$0] }
            let isPart = source.description.earlier != nil
            let hasPart = index == marker.source && marker.chunkRecords > 0
            guard try isPart || hasPart || !journal.committed(of: job, source: index).ranges.isEmpty else {
                if followed != nil { try describeAnew(&job.sources[index].description, now, in: descriptions) }
                continue
            }
            if let now, let place {
                let isThere =
                    try SourceCheck.isUntouched(now, since: source.description)
                    || begins(now, as: job, source: index, check)
                if isThere {
                    if followed != nil {
                        job.sources[index].description.inode = now.inode
                        // It ends behind its last whole line, or where it ended when the job began: what has come since is for
                        // the next round.
                        if index >= marker.source, let end = now.end {
                            job.sources[index].description.end = min(source.description.end ?? end, end)
                        }
                    }
                    free.remove(place)
                    continue
                }
            }
            lost.append(index)
        }
        for index in lost {
            let was = job.sources[index].description
            let place = try free.sorted().first { try begins(descriptions[$0], as: job, source: index, check) }
            guard let place else {
                // Who follows sources goes on with what comes: what was not read of this one is lost.
                if followed != nil { job.sources[index].description.isGone = true }
                continue
            }
            let now = descriptions[place]
            planner.announce("\(now.displayName) was \(was.displayName): the import goes on in it")
            job.sources[index].description = was.located(at: now)
            if followed != nil { job.sources[index].description.inode = now.inode }
            if let key = was.key {
                // Its earlier parts are there, too.
                job.updates.append(SourceUpdate(key: key, job: job.id, now: now, hasGrown: true))
            }
            free.remove(place)
        }
        return job
    }

    /// Finds the file of a source of which nothing is committed, which may have another name by now, or describes the one that is at its
    /// path.
    private func describeAnew(
        _ source: inout SourceDescription,
        _ now: SourceDescription?,
        in descriptions: [SourceDescription]
    ) throws {
        guard source.inode != now?.inode else { return }
        if let same = descriptions.first(where: { $0.inode == source.inode && $0.member == source.member }) {
            source = source.located(at: same)
        } else if let now {
            let stream = try planner.opener.open(now.plain, interruption: planner.interruption)
            let described = try now.fingerprinted(stream.peek().bytes)
            (source.fingerprint, source.opening) = (described.fingerprint, described.opening)
            (source.inode, source.end) = (now.inode, now.end)
        }
    }

    /// True if a source begins with all that is committed of one, and as far as nothing is known of that, as that one began.
    private func begins(
        _ now: SourceDescription,
        as job: StoredJob,
        source index: Int,
        _ check: SourceCheck
    ) throws -> Bool {
        let was = job.sources[index].description
        guard try check.begins(now, as: job, source: index, journal) else { return false }
        guard try was.earlier == nil && journal.committed(of: job, source: index).ranges.isEmpty,
            !was.beginnings.isEmpty
        else { return true }
        let stream = try planner.opener.open(now.plain, interruption: planner.interruption)
        return try !now.fingerprinted(stream.peek().bytes).beginnings.isDisjoint(with: was.beginnings)
    }

    /// Works out what is to be imported of the sources.
    ///
    /// - Parameters:
    ///   - known: what the store has of them; nil where all of them are to be imported.
    ///   - replacing: a job whose place is taken.
    func plan(
        _ descriptions: [SourceDescription],
        _ known: KnownSources?,
        replacing: StoredJob?
    ) throws -> JobPlanner.Plan {
        guard let known else {
            return try planner.plan(descriptions) { try self.known(of: $0, excluding: replacing?.id) }
        }
        var (new, places) = ([SourceDescription](), [Int]())
        var sources: [(place: Int, source: StoredJob.Source)] = []
        for (place, answer) in known.answers.enumerated() {
            var source = descriptions[place]
            switch answer {
            case .known: continue
            case .grown(let part):
                let isOfKinds = part.description.form?.foundKinds != nil
                sources.append((place, isOfKinds ? try withNewKinds(part, source, known.entities) : part))
            case .new, .changed:
                if case .changed(let job) = answer { source.replaces = job }
                new.append(source)
                places.append(place)
            }
        }
        var open: [Int: SourceStream] = [:]
        if !new.isEmpty {
            do {
                // Where records are is said of what is there first.
                let planner = followed?.job == nil ? planner : planner.silent
                let plan = try planner.plan(new, beside: known.entities) { try self.known(of: $0, excluding: nil) }
                sources += zip(places, plan.sources).map { ($0, $1) }
                for (index, stream) in plan.open { open[places[index]] = stream }
            } catch let error as ImportError where error.reason == .sourceEmpty && known.job != nil {
                // Beside others, what is empty has no records yet.
            }
        }
        sources.sort { $0.place < $1.place }
        let streams = sources.enumerated().compactMap { index, source in open[source.place].map { (index, $0) } }
        return JobPlanner.Plan(sources: sources.map(\.source), open: Dictionary(uniqueKeysWithValues: streams))
    }

    /// The part of a grown source whose records are of kinds, of which there may be more by now.
    private func withNewKinds(
        _ part: StoredJob.Source,
        _ now: SourceDescription,
        _ entities: [String]
    ) throws -> StoredJob.Source {
        let plan = try planner.plan([now], beside: entities) { try self.known(of: $0, excluding: nil) }
        var source = plan.sources[0]
        let (kinds, before) = (source.description.form?.foundKinds ?? [], part.description.form?.foundKinds ?? [])
        let other = ValueChange.otherKind
        guard kinds.starts(with: before.filter { $0 != other }), kinds.contains(other) || !before.contains(other),
            source.description.form?.kinds == part.description.form?.kinds
        else {
            throw ImportError(
                .optionsConflict,
                at: now.name,
                "has grown, and its records were told apart otherwise when it was imported",
                advice: "Give the same \(.entityBy), or import all of it with \(.again)."
            )
        }
        source.description.earlier = part.description.earlier.map { earlier in
            var end = earlier.end
            end.recordsBefore = end.recordsBefore.map { counts in source.shape.paths.map { _ in counts.first ?? 0 } }
            return SourceDescription.EarlierPart(job: earlier.job, end: end, hash: earlier.hash)
        }
        return source
    }

    /// The names of the first sources, and how many more there are.
    static func list(_ sources: [SourceDescription]) -> String {
        let names = sources.prefix(5).map(\.displayName).joined(separator: ", ")
        return sources.count > 5 ? "\(names) and \(sources.count - 5) more" : names
    }
}
