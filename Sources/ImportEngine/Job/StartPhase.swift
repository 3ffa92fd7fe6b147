import ImportModel
import ImportSources

/// Begins a job that was planned, or opens one that is in the store.
package struct StartPhase {
    package let context: RunContext
    /// Locked.
    package let destination: any Destination
    /// Where inference begins, by entity; nil for what the store itself has.
    package var continued: [String: ExistingEntity]?
    private let started = ContinuousClock.now

    package init(
        _ context: RunContext,
        in destination: any Destination,
        continuing continued: [String: ExistingEntity]? = nil
    ) {
        self.context = context
        self.destination = destination
        self.continued = continued
    }

    /// Opens the store, which is made if it is not there, and starts the job in it.
    ///
    /// - Parameter decision: to begin or to resume.
    /// - Throws: `ImportError`; a job that was not in the store is not there then either, nor are chunks of its own.
    package func start(_ decision: JobResolver.Decision) throws -> JobRun {
        // A worker has a connection and a chunk open; the rest is for the splitter, the checkpoints and sorting an index.
        let workers = context.options.workers
        try ImportError.checkDescriptors(24 + 4 * workers, "to import with \(.workers, "\(workers)")")
        let isBeginning = if case .begin = decision { true } else { false }
        let bytes = isBeginning ? decision.job?.sources.map(\.description).plainSize : nil
        let journal = try destination.open(for: bytes)
        do {
            switch decision {
            case .begin(let job, let open, let replaced, let retry):
                return try begin(job, open, replacing: replaced, retry, journal)
            case .resume(let job, let isGiven, _): return try resume(job, isGiven: isGiven, journal)
            case .nothing(let job, _, _): return try resume(job, isGiven: false, journal)
            }
        } catch {
            destination.abandon()
            throw error
        }
    }

    // MARK: A new job

    private func begin(
        _ planned: StoredJob,
        _ open: [Int: SourceStream],
        replacing replaced: StoredJob?,
        _ retry: (any RetryPlan)?,
        _ journal: any Journal
    ) throws -> JobRun {
        let place = ChunkDirectoryCheck(path: planned.chunkDirectory, sources: planned.sources.map(\.description))
        let chunks = JobChunks(journal: journal, store: context.store)
        let replacedChunks = try replaced.flatMap { try chunks.recorded(of: $0) }
        if !planned.takesChunks {
            var left = try journal.leftFiles()
            if let replacedChunks { left.append(replacedChunks) }
            let isEmpty = try !journal.hasJobs()
            if context.options.chunkDirectory == nil, try isEmpty || journal.unfinishedJobs().isEmpty,
                try place.removeLeft(unless: { try !isEmpty && journal.isFinished(token: $0) })
            {
                context.announce([
                    "\(planned.chunkDirectory.shownPath): chunks of an import that the store does not know are removed"
                ])
            }
            try place.check(besides: left)
        }
        let begun = try journal.begin(
            planned,
            JobStart(
                transformers: context.transformers,
                indexes: StoreIndexes(wanted: context.options.indexes),
                replaced: replaced,
                replacedChunks: replacedChunks,
                retry: retry,
                makesChunkDirectory: place.isNew
            )
        )
        context.announce(begun.messages)
        for merge in begun.merges { context.merges.enqueue(merge) }
        var job = begun.job
        let directory: ChunkDirectory
        do {
            try journal.removeLeftFiles()
            directory = try chunks.open(of: &job, context.options)
        } catch {
            _ = try? journal.remove(job)
            try? journal.removeLeftFiles()
            throw error
        }
        // Nor is a job that is restarted removed for an option that does not fit.
        let previous = replaced.map { _ in
            JobRun.PreviousRun(state: .interrupted, message: nil, indexes: StoreIndexes(wanted: []))
        }
        return run(job, open, in: directory, previous, secondsBefore: 0, journal)
    }

    // MARK: A job that is there

    private func resume(_ interrupted: StoredJob, isGiven: Bool, _ journal: any Journal) throws -> JobRun {
        var job = interrupted
        try journal.bringUp()
        let directory = try JobChunks(journal: journal, store: context.store).open(of: &job, context.options)
        let indexes = try journal.resume(job, building: StoreIndexes(wanted: context.options.indexes))
        try journal.removeLeftFiles()
        let previous = JobRun.PreviousRun(state: interrupted.state, message: interrupted.message, indexes: indexes)
        var run = run(job, [:], in: directory, previous, secondsBefore: try journal.marker(of: job).seconds, journal)
        run.isGiven = isGiven
        return run
    }

    private func run(
        _ job: StoredJob,
        _ open: [Int: SourceStream],
        in directory: ChunkDirectory,
        _ previous: JobRun.PreviousRun?,
        secondsBefore: Double,
        _ journal: any Journal
    ) -> JobRun {
        JobRun(
            context: context,
            destination: destination,
            journal: journal,
            directory: directory,
            previous: previous,
            secondsBefore: secondsBefore,
            started: started,
            continued: continued,
            job: job,
            open: open
        )
    }
}
