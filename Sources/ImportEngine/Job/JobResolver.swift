import Foundation
import ImportModel
import ImportSources

/// Finds out what a call of the importer means for its store: a new job, an interrupted one to resume, or nothing
/// to do.
package struct JobResolver {
    /// What is to be done.
    package enum Decision {
        /// A job that was planned but is not in the store yet.
        ///
        /// It may replace an interrupted one.
        case begin(StoredJob, open: [Int: SourceStream], replacing: StoredJob? = nil, retry: (any RetryPlan)? = nil)
        /// A job that is in the store and not finished.
        ///
        /// Its sources may have been given again, to be compared, and others with them.
        case resume(StoredJob, isGiven: Bool = false, hasMore: Bool = false)
        /// A job that is in the store and finished; some of the objects that it brought may be gone since.
        ///
        /// Other jobs may have brought some of the sources.
        case nothing(StoredJob, isPartial: Bool = false, isOneJob: Bool = true)

        /// What is to be run; nil for nothing.
        package var job: StoredJob? {
            switch self {
            case .begin(let job, _, _, _), .resume(let job, _, _): job
            case .nothing: nil
            }
        }
    }

    package let store: String
    package let options: JobOptions
    package let run: RunOptions
    package let planner: JobPlanner
    /// The chunk directory has this path with `.chunks` after it, where none is given.
    package let chunksBase: String
    /// True if nothing may be made or changed.
    package let isPlanning: Bool
    package let journal: any JournalReader
    /// The round of a run that follows its sources; nil for a run that ends with them.
    package let followed: FollowedRun?

    package init(
        store: String,
        options: JobOptions,
        run: RunOptions,
        planner: JobPlanner,
        chunksBase: String,
        isPlanning: Bool,
        journal: any JournalReader,
        followed: FollowedRun? = nil
    ) {
        self.store = store
        self.options = options
        self.run = run
        var planner = planner
        planner.theirTables = journal.theirTables
        planner.areNamesKnown = { try journal.hasGiven(options, besides: nil) }
        self.planner = planner
        self.chunksBase = chunksBase
        self.isPlanning = isPlanning
        self.journal = journal
        self.followed = followed
    }

    /// Where this run keeps its chunks.
    private var chunkDirectory: String {
        Self.absolute(run.chunkDirectory ?? chunksBase + ".chunks")
    }

    package static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// What it means to import `arguments`.
    ///
    /// - Parameter arguments: sources, or a chunk directory.
    package func decide(importing arguments: [String]) throws -> Decision {
        try StoreIndexes(wanted: run.indexes).check(options.model)
        let chunks = try followed == nil ? ChunkSource.open(arguments) : nil
        var newest: [StoredJob] = []
        let listing =
            try followed?.listing
            ?? (chunks == nil ? planner.list(arguments) { try untouched($0, &newest) } : nil)
        let (descriptions, given) = (listing?.sources ?? chunks?.header.sources ?? [], listing?.given)
        func isSame(_ job: StoredJob) -> Bool {
            guard job.retry == nil, job.change == nil else { return false }
            // What a folder had when the import began is what it goes on with.
            return Self.areSame(job.sources.map(\.description), descriptions)
                || job.state != .finished && given != nil && job.given == given
        }
        let takesChunks = chunks != nil
        if !takesChunks, !run.again { try checkGivenOnce(descriptions) }
        let isStream = !takesChunks && !descriptions.allSatisfy(\.isRepeatable)
        // Another stream may be imported beside one that stopped.
        // An archive that broke off may have more members by now.
        let unfinished = try journal.unfinishedJobs()
        let began = unfinished.last { job in
            !takesChunks && (job.hasBegun(descriptions) || isAmong(descriptions, job))
        }
        if let open = unfinished.last(where: isSame) ?? began, !(isStream && run.again) {
            guard !run.again else {
                throw ImportError(
                    .jobUnfinished,
                    at: store,
                    "the import of these sources is interrupted, not finished",
                    advice: "Leave \(.again) out to resume it, or give \(.restart) instead."
                )
            }
            guard run.restart else {
                let open = try takesChunks || isStream ? open : relocated(open, descriptions)
                // Others may have been given beside its sources, which may have grown.
                let hasMore = !takesChunks && !isStream && options.mirror == nil
                return try resume(open, takesChunks: takesChunks, hasMore: hasMore)
            }
            guard try !isStream || open.id == journal.lastJob()?.id else {
                throw ImportError(
                    .jobSuperseded,
                    at: store,
                    "another import has run since the one that is to be restarted",
                    advice: ImportError.waysPast(streamInto: store)
                )
            }
            let known = try takesChunks || options.mirror != nil ? nil : knownSources(descriptions)
            return try begin(descriptions, given: given, chunks, known?.hasAll == true ? nil : known, replacing: open)
        }
        if let chunks {
            if !run.again, let done = try finished(descriptions, where: isSame) {
                // What is in already is judged by what is there.
                let presence = try journal.presence(of: done, entities: nil)
                if presence != .gone {
                    try checkUnchanged(done, descriptions)
                    try checkIndexes(of: done)
                    return .nothing(done, isPartial: presence == .partial)
                }
            }
            return try begin(descriptions, given: given, chunks, replacing: nil)
        }
        guard !run.again, options.mirror == nil else {
            return try begin(descriptions, given: given, nil, replacing: nil)
        }
        try checkUnfinished(descriptions, unfinished)
        // Members of archives may be in others.
        let known = try knownSources(descriptions, newest: descriptions.allSatisfy { $0.member == nil } ? newest : [])
        guard let last = known.job else {
            known.lines.forEach(planner.announce)
            return try begin(descriptions, given: given, nil, replacing: nil)
        }
        let isOneJob = isSame(last) && known.updates.isEmpty
        if !known.hasAll || !isOneJob { known.lines.forEach(planner.announce) }
        if known.hasAll { return try nothing(last, known, isOneJob: isOneJob) }
        return try begin(descriptions, given: given, nil, known, replacing: nil)
    }

    /// Nothing is to be imported: all of it is in.
    private func nothing(_ last: StoredJob, _ known: KnownSources, isOneJob: Bool) throws -> Decision {
        try checkIndexes(of: last)
        // What becomes of a source in which something is wrong says nothing of those that are in.
        let differences = differences(from: last, takesChunks: false).filter { $0 != .onBadSource }
        if !differences.isEmpty, followed?.job == nil {
            planner.announce(
                "it was imported \(words(of: differences, in: last)): \(.again) imports it as it is given now"
            )
        }
        var last = last
        (last.updates, last.badBefore) = (known.updates, known.bad)
        return .nothing(last, isPartial: known.isPartial, isOneJob: isOneJob)
    }

    /// The last import of chunks of these sources with the same options, as far as it is finished and not undone.
    private func finished(_ descriptions: [SourceDescription], where isSame: (StoredJob) -> Bool) throws -> StoredJob? {
        guard let first = descriptions.first, descriptions.allSatisfy(\.isRepeatable) else { return nil }
        return try journal.lastJob(withOneOf: [first]) { job in
            try job.state == .finished && isSame(job) && differences(from: job, takesChunks: true).isEmpty
                && !job.isEnded && !journal.isUndone(job.id)
        }
    }

    /// What was given otherwise when the job was begun.
    package func differences(from job: StoredJob, takesChunks: Bool) -> [MessageText.Setting] {
        options.differences(from: job.options) + (takesChunks == job.takesChunks ? [] : [.sources])
    }

    /// How options differ from those of a job, in words.
    private func words(of differences: [MessageText.Setting], in job: StoredJob) -> MessageText {
        let (own, given) = (JobOptions().differences(from: job.options), JobOptions().differences(from: options))
        return differences.map { setting in
            let hadOne = own.contains(setting) || setting == .sources
            let hasOne = given.contains(setting) || setting == .sources
            return "\(hadOne ? hasOne ? "with another" : "with" : "without") \(setting)" as MessageText
        }.joined(separator: ", ")
    }

    private func resume(_ job: StoredJob, takesChunks: Bool, hasMore: Bool) throws -> Decision {
        // One that followed its sources leaves out those in which something is wrong.
        let isPlain = followed != nil || options.onBadSource == JobOptions().onBadSource
        let differences = differences(from: job, takesChunks: takesChunks)
            .filter { !isPlain || $0 != .onBadSource }
        guard differences.isEmpty else {
            throw ImportError(
                .optionsDiffer,
                at: store,
                "the interrupted import was started \(words(of: differences, in: job))",
                advice: takesChunks || job.isReadableAgain
                    ? "Resume it with \(call: .resuming(store: store)), or restart it with \(.restart)."
                    : ImportError.waysPast(streamInto: store)
            )
        }
        if let replacement = try replacement(for: job) { return replacement }
        return .resume(try resumed(job, options.maxErrors), isGiven: true, hasMore: hasMore)
    }

    /// - Parameter maxErrors: how many rejects the job may have from now on; nil to leave that as it is.
    private func resumed(_ job: StoredJob, _ maxErrors: ErrorLimit?) throws -> StoredJob {
        try checkIndexes(of: job)
        if let model = job.model { try checkIdentifiers(of: model, replacing: job) }
        guard let maxErrors else { return job }
        guard job.options.onError != .stop else {
            throw ImportError(
                .optionsConflict,
                at: store,
                "the import was started with \(.onError, "stop"), which \(.maxErrors) does not change",
                advice: "Leave \(.maxErrors) out, or restart with \(.restart) and without \(.onError, "stop")."
            )
        }
        var job = job
        job.options.maxErrors = maxErrors
        try job.options.check()
        return job
    }

    private func checkIndexes(of job: StoredJob) throws {
        // A model that was inferred up to a fault in the source may lack what comes after it.
        try journal.newIndexes(of: run.indexes).check(job.isModelFinal ? job.model : nil)
    }

    /// Nothing is imported either way, so a source that was imported before its inode was noted is believed to be the same.
    private func checkUnchanged(_ job: StoredJob, _ descriptions: [SourceDescription]) throws {
        let check = SourceCheck(opener: planner.opener, interruption: planner.interruption)
        for (index, (before, now)) in zip(job.sources.map(\.description), descriptions).enumerated()
        where !SourceCheck.isUntouched(now, since: before) {
            if SourceCheck.isAlike(now, before), !job.takesChunks,
                try before.inode == nil || check.isSame(now, as: job, source: index, journal)
            {
                continue
            }
            throw ImportError(
                .alreadyImported,
                at: now.name,
                "has changed since it was imported into \(store)",
                advice: "Give \(.again) to import it once more, as a new job."
            )
        }
    }

    package static func areSame(_ one: [SourceDescription], _ other: [SourceDescription]) -> Bool {
        one.count == other.count
            && zip(one, other).allSatisfy {
                $0.path == $1.path && $0.member == $1.member && ($0.path != nil || $0.name == $1.name)
            }
    }

    package func begin(
        _ sources: [SourceDescription],
        given: [String]?,
        _ chunks: ChunkSource?,
        _ known: KnownSources? = nil,
        replacing: StoredJob?
    ) throws -> Decision {
        let plan: JobPlanner.Plan
        if let chunks {
            let limits = chunks.header.limits
            guard options.mirror == nil || limits.skip == 0 && limits.limit == nil else {
                throw ImportError(
                    .optionsConflict,
                    at: chunks.directory.path,
                    "\(.mirror) needs all records, and these chunks were cut with \(.skip) or \(.limit)",
                    advice: "Split the sources without them."
                )
            }
            plan = JobPlanner.Plan(sources: try planner.plan(chunks), open: [:])
        } else {
            plan = try self.plan(sources, known, replacing: replacing)
            if plan.sources.isEmpty, let known, let last = known.job {
                return try nothing(last, known, isOneJob: false)
            }
            try checkStream(plan.sources)
            try journal.checkTables(options.model?.entities.map(\.table) ?? plan.sources.flatMap(\.entities))
        }
        try checkIdentifiers(ofSources: plan.sources, replacing: replacing)
        try sayTables(of: plan.sources)
        var job = StoredJob(
            options: options,
            takesChunks: chunks != nil,
            sources: plan.sources,
            model: options.model,
            chunkDirectory: try chunks?.directory.path ?? freeDirectory(besides: replacing?.id)
        )
        job.given = given
        (job.updates, job.badBefore) = (known?.updates ?? [], known?.bad ?? [])
        job.areNamesKnown = try planner.areNamesKnown()
        job.newIndexes = try journal.newIndexes(of: run.indexes)
        job.keepsUndo = run.keepsUndo || options.mirror != nil || job.replacesSources
        try checkContinuing(job, replacing: replacing)
        return .begin(job, open: plan.open, replacing: replacing)
    }

    /// Makes sure that an inferred model can continue the tables that are there.
    ///
    /// Those of a job that is replaced are gone by then.
    private func checkContinuing(_ job: StoredJob, replacing: StoredJob?) throws {
        guard options.model == nil, replacing == nil else { return }
        try NestingRules(options).check(continuing: journal.continuedEntities(of: job))
    }

    /// A stream that begins as one that was imported to its end is most likely the same one, piped in again.
    private func checkStream(_ sources: [StoredJob.Source]) throws {
        guard !run.again else { return }
        for source in sources.map(\.description)
        where !source.isRepeatable && source.fingerprint != ProgramRecords.fingerprintOfNone {
            guard let fingerprint = source.fingerprint, try journal.hasFinishedStream(fingerprint) else { continue }
            throw ImportError(
                .alreadyImported,
                at: source.name,
                "begins like a stream that \(store) has already",
                advice: "If it is another one, or is meant to be imported once more, give \(.again)."
            )
        }
    }

    /// Tables that nobody has named are said before anything is written.
    private func sayTables(of sources: [StoredJob.Source]) throws {
        guard options.model == nil, options.entity == nil else { return }
        let notice = TableMessage(sources: sources) { try journal.hasTable($0) }
        try notice.lines().forEach(planner.announce)
    }

    /// Where a new job may keep its chunks: interrupted jobs still need theirs, and finished ones may have been asked to
    /// leave theirs in place.
    ///
    /// - Parameter replaced: a job whose place is to be taken; nil for none.
    func freeDirectory(besides replaced: Int64?) throws -> String {
        let wanted = chunkDirectory
        let needed = Set(try journal.unfinishedJobs().filter { $0.id != replaced }.map(\.chunkDirectory))
        var (path, number) = (wanted, 2)
        while try needed.contains(path) || hasChunksOfFinishedJob(path) {
            path = "\(wanted)-\(number)"
            number += 1
        }
        return path
    }

    private func hasChunksOfFinishedJob(_ path: String) throws -> Bool {
        guard run.chunkDirectory == nil, let directory = try? ChunkDirectory(path: path, creates: false),
            let token = try? ChunkManifest.readWhatIsSound(in: directory)?.header.job
        else { return false }
        return try journal.isFinished(token: token) && !journal.leftFiles().contains { $0.token == token }
    }

    /// What it means to resume the store's last interrupted job.
    ///
    /// - Parameter maxErrors: how many rejects it may have from now on; nil to leave that as it is.
    package func decideToResume(_ maxErrors: ErrorLimit?) throws -> Decision {
        if let open = try journal.unfinishedJobs().last {
            if let replacement = try replacement(for: open) { return replacement }
            return .resume(try resumed(open, maxErrors))
        }
        guard let last = try journal.lastJob() else {
            throw ImportError(.storeEmpty, at: store, "holds no import", advice: "Begin one with \(call: .importing).")
        }
        try checkIndexes(of: last)
        return .nothing(last)
    }
}

extension ImportError {
    /// What to do about an import of a stream that stopped, where another one is to be imported.
    static func waysPast(streamInto store: String) -> MessageText {
        "To finish the import that stopped, give its stream again from the beginning (\(call: .resuming(store: store))). "
            + "\(.again) imports this one beside it; \(.restart) imports this one instead, and removes what the other has inserted."
    }
}

/// A directory of chunks that `split` made, given instead of sources.
package struct ChunkSource {
    package let directory: ChunkDirectory
    package let content: ChunkManifest.Content
    package var header: ChunkManifest.Header { content.header }

    /// The chunk directory that is the one argument, or nil if the arguments are sources.
    ///
    /// - Throws: `ImportError` when it has a manifest that is not one of chunks.
    package static func open(_ arguments: [String]) throws -> ChunkSource? {
        guard arguments.count == 1,
            FileManager.default.fileExists(atPath: "\(arguments[0])/\(ChunkManifest.fileName)")
        else { return nil }
        let directory = try ChunkDirectory(path: JobResolver.absolute(arguments[0]), creates: false)
        guard let content = try ChunkManifest.read(in: directory),
            content.header.sources.count == content.header.shapes.count, !content.header.sources.isEmpty
        else {
            throw ImportError(
                .isDirectory,
                at: arguments[0],
                "is no chunk directory: its \(ChunkManifest.fileName) has no sources",
                advice: "Name the files in it, or give a chunk directory made by a split (\(call: .splitting))."
            )
        }
        return ChunkSource(directory: directory, content: content)
    }
}
