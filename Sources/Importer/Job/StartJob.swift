import GRDB
import ImportModel

/// Begins a job that was planned, or opens one that is in the store.
struct StartJob {
    let context: RunContext
    let session: StoreSession
    /// Where inference begins, by entity; nil for what the store itself has.
    var continued: [String: ContinuedEntity]?
    private let started = ContinuousClock.now

    private var store: String { context.store }
    private var database: DatabaseQueue { session.database }

    /// - Parameter decision: to begin or to resume.
    /// - Throws: `ImportError`; a job that was not in the store is not there then either, nor are chunks of its own.
    func start(_ decision: JobOpening.Decision) throws -> JobRun {
        switch decision {
        case .begin(let job, let open, let replaced, let retry):
            return try begin(job, open, replacing: replaced, retry)
        case .resume(let job), .nothing(let job):
            return try resume(job)
        }
    }

    // MARK: A new job

    private func begin(
        _ planned: StoredJob,
        _ open: [Int: SourceStream],
        replacing replaced: StoredJob?,
        _ retry: RetryPlan?
    ) throws -> JobRun {
        let place = ChunkPlace(path: planned.chunkDirectory, sources: planned.sources.map(\.description))
        let replacedChunks = try replaced.flatMap { try JobChunks.recorded(of: $0, database, store: store) }
        if !planned.takesChunks {
            var left = try database.read { try RecordedFile.left($0) }
            if let replacedChunks { left.append(replacedChunks) }
            try place.check(besides: left)
        }
        var (job, changed, messages) = try RecordedFile.record(database) { database in
            var job = planned
            var messages: [String] = []
            try StoreSchema.prepareBookkeeping(database, store: store)
            try session.keepMode(database)
            try replacedChunks?.save(database)
            var changed = try replaced?.remove(database).map { [$0] } ?? []
            try job.insert(database)
            if let model = job.model {
                let adopted = try job.adopt(model, context.transformers, database, store: store)
                changed += adopted.merges
                messages = adopted.messages
            }
            try StoreIndexes(wanted: context.options.indexes).save(for: job, database)
            try retry?.insert(job, database)
            if !job.takesChunks { try RecordedFile(chunksOf: job, isMade: place.isNew).save(database) }
            return (job, changed, messages)
        }
        context.announce(messages)
        for merge in changed { context.merges.enqueue(merge) }
        let directory: ChunkDirectory
        do {
            try RecordedFile.removeLeft(database, store: store)
            directory = try JobChunks.open(of: &job, context.options, database, store: store)
        } catch {
            _ = try? database.write { [job] in try job.remove($0) }
            try? RecordedFile.removeLeft(database, store: store)
            throw error
        }
        // Nor is a job that --restart begins again removed for an option that does not fit.
        let before = replaced.map { _ in
            JobRun.Before(state: .interrupted, message: nil, indexes: StoreIndexes(wanted: []))
        }
        return run(job, open, in: directory, before, secondsBefore: 0)
    }

    // MARK: A job that is there

    private func resume(_ interrupted: StoredJob) throws -> JobRun {
        var job = interrupted
        // The store may be of an older format.
        try database.write { try StoreSchema.prepareBookkeeping($0, store: store) }
        let directory = try JobChunks.open(of: &job, context.options, database, store: store)
        let indexes = try database.write { [job] database in
            let indexes = try StoreIndexes(of: job, database)
            try RecordedFile(repairFileOf: job)?.saveUnlessKnown(database)
            try job.prepareAgain(database, store: store)
            try StoreIndexes(wanted: context.options.indexes).save(for: job, database)
            try job.saveOptions(database)
            try TableWitness.forget(job.tables, database)
            return indexes
        }
        try RecordedFile.removeLeft(database, store: store)
        let seconds = try database.read { [job] in try Marker($0, job: job.id)?.seconds } ?? 0
        let before = JobRun.Before(state: interrupted.state, message: interrupted.message, indexes: indexes)
        return run(job, [:], in: directory, before, secondsBefore: seconds)
    }

    private func run(
        _ job: StoredJob,
        _ open: [Int: SourceStream],
        in directory: ChunkDirectory,
        _ before: JobRun.Before?,
        secondsBefore: Double
    ) -> JobRun {
        JobRun(
            context: context,
            session: session,
            directory: directory,
            before: before,
            secondsBefore: secondsBefore,
            started: started,
            continued: continued,
            job: job,
            open: open
        )
    }
}
