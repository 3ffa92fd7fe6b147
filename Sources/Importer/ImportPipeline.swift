import Foundation
import ImportChanges
import ImportEngine
import ImportMigration
import ImportModel
import ImportSQLite
import ImportSources
import Synchronization

// More than 300 lines: half of them document its initialisers and the two forms, in a task and on a thread, of what it does.
/// Imports JSON sources into a store.
///
/// Create one pipeline per run and call `run()`. You can read `progress` and use `interruption` from any thread or task meanwhile.
public final class ImportPipeline: Sendable {
    /// The progress of the run, for observers.
    public let progress = ImportProgress()
    /// Interrupts the run when requested.
    public let interruption = Interruption()
    /// The center that posts a notification of every commit.
    public let merges: MergeCenter

    /// The number, in the store, of the job that the run has started or resumed.
    ///
    /// It is nil before the job is started, and if the run failed because the store's file is no longer at its path; a file that is
    /// there now belongs to someone else.
    public var job: Int64? { begunJob.withLock { $0 } }
    private let begunJob = Mutex<Int64?>(nil)
    /// Whether it has been run, or has read what can be read once only.
    private let isSpent = Atomic(false)

    /// What is to be done.
    package enum Request: Sendable {
        case sources([String], JobOptions)
        case resume(ErrorLimit?)
        case retry(RetryRequest)
        case mirror(Int64, MirrorOptions)
    }

    let store: String
    let request: Request
    let runOptions: RunOptions
    let opener: SourceOpener
    /// Its chunk directory has this path with `.chunks` after it, where none is given.
    private let chunksBase: String
    /// Makes what it imports into; nil for the SQLite store at the path `store`.
    private let destinationMaker: (@Sendable (Interruption) throws -> any RecordDestination)?
    private let transformers: TransformerRegistry

    private init(
        _ request: Request,
        _ store: String,
        _ run: RunOptions,
        _ transformers: TransformerRegistry,
        _ merges: MergeCenter,
        _ opener: SourceOpener = SourceOpener()
    ) {
        self.store = StoreFile.resolved(store)
        chunksBase = self.store
        destinationMaker = nil
        self.request = request.prepared
        runOptions = run
        self.transformers = transformers
        self.merges = merges
        self.opener = Self.opener(opener, run)
    }

    private static func opener(_ opener: SourceOpener, _ run: RunOptions) -> SourceOpener {
        var opener = opener
        opener.opensSameFile = run.follows
        return opener
    }

    /// Prepares what is asked for in a store that is no SQLite file; nothing is touched before `run`.
    ///
    /// - Parameters:
    ///   - store: what people call the store.
    ///   - chunksBeside: the path that, with `.chunks` after it, is the chunk directory where none is given.
    ///   - destination: makes the way into it, each time that the pipeline looks or runs; is given what may end that.
    package init(
        _ request: Request,
        named store: String,
        chunksBeside path: String,
        _ run: RunOptions,
        _ transformers: TransformerRegistry,
        _ merges: MergeCenter,
        _ destination: @escaping @Sendable (Interruption) throws -> any RecordDestination
    ) {
        self.store = store
        chunksBase = path
        destinationMaker = destination
        self.request = request.prepared
        runOptions = run
        opener = Self.opener(SourceOpener(), run)
        self.transformers = transformers
        self.merges = merges
    }

    /// Prepares an import of `sources` into `store`; nothing is read or written before `run`.
    ///
    /// - Parameters:
    ///   - sources: paths or URLs of files, `-` for standard input, or one chunk directory.
    ///   - store: the location of the SQLite file, which is created if it does not exist.
    ///   - job: the options that determine the imported rows.
    ///   - run: the options that do not.
    ///   - transformers: the transformers that the model names. The store keeps only their names: pass the same at every resume.
    ///   - merges: the center that posts commits.
    public convenience init(
        sources: [any FileLocation],
        into store: any FileLocation,
        job: JobOptions,
        run: RunOptions,
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) {
        self.init(.sources(sources.map(\.filePath), job), store.filePath, run, transformers, merges)
    }

    /// Prepares an import of a program's own records into `store`.
    ///
    /// Records are encoded as JSON without loss, and imported as standard input is: split into chunks, coerced by the model (or
    /// inferred), merged by identifiers, counted. Values fetched as their original types are equal to the imported ones, dates and
    /// decimals with all their digits, unless a model has types with fewer.
    ///
    /// To resume, create a new pipeline with the same records from the first one on: those that are committed already are compared by
    /// their hash and skipped. So records must be encoded the same each time. Dictionaries and sets are sorted for that.
    ///
    /// - Parameters:
    ///   - records: the records, iterated over once, on a thread of the import. While an iterator waits, it cannot be interrupted.
    ///   - entity: the name of their entity.
    ///   - store: the location of the SQLite file, which is created if it does not exist.
    ///   - job: the options that determine the imported rows; `records` and `entity` are ignored.
    ///   - run: the options that do not.
    ///   - transformers: the transformers that the model names.
    ///   - merges: the center that posts commits.
    public convenience init<Records: Sequence>(
        records: sending Records,
        entity: String,
        into store: any FileLocation,
        job: JobOptions = JobOptions(),
        run: RunOptions = RunOptions(),
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) where Records.Element: Encodable & Sendable {
        let given = ProgramRecords(records, of: entity)
        let request = Self.request(given, entity, job)
        self.init(request, store.filePath, run, transformers, merges, SourceOpener(records: given))
    }

    /// Prepares an import of a program's own records from an asynchronous sequence into `store`.
    ///
    /// Records are imported as those of a `Sequence`. An interrupted import stops waiting and cancels the task that iterates. If the
    /// sequence throws, the source ends there: the records before are imported, and the run fails.
    ///
    /// - Parameters:
    ///   - records: the records, iterated over once, in a task that is at most a few blocks of 64 KiB ahead of the import.
    ///   - entity: the name of their entity.
    ///   - store: the location of the SQLite file, which is created if it does not exist.
    ///   - job: the options that determine the imported rows; `records` and `entity` are ignored.
    ///   - run: the options that do not.
    ///   - transformers: the transformers that the model names.
    ///   - merges: the center that posts commits.
    public convenience init<Records: AsyncSequence & Sendable>(
        records: Records,
        entity: String,
        into store: any FileLocation,
        job: JobOptions = JobOptions(),
        run: RunOptions = RunOptions(),
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) where Records.Element: Encodable & Sendable {
        let given = ProgramRecords(asynchronous: records, of: entity)
        let request = Self.request(given, entity, job)
        self.init(request, store.filePath, run, transformers, merges, SourceOpener(records: given))
    }

    /// The job of a program's own records: each line is one, whatever it holds.
    private static func request(_ records: ProgramRecords, _ entity: String, _ job: JobOptions) -> Request {
        var job = job
        job.records = [.root]
        job.entity = entity
        return .sources([records.name], job)
    }

    /// Prepares to resume the interrupted import of `store`.
    ///
    /// - Parameters:
    ///   - store: the location of the SQLite file.
    ///   - run: the options that do not change the imported rows.
    ///   - maxErrors: the new limit of rejects; nil to leave the limit as it is.
    ///   - transformers: the transformers that the import was started with.
    ///   - merges: the center that posts commits.
    public convenience init(
        resuming store: any FileLocation,
        run: RunOptions,
        maxErrors: ErrorLimit? = nil,
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) {
        self.init(.resume(maxErrors), store.filePath, run, transformers, merges)
    }

    /// Prepares to import repaired rejects from a file, as a job of its own that closes their entries.
    ///
    /// A retry that was interrupted is resumed; a finished one is not repeated.
    ///
    /// - Parameters:
    ///   - file: the repair file, written by `StoreInspection.exportRejects` and edited; nil to import the stored records again as they
    ///     are, under `model`.
    ///   - store: the location of the SQLite file.
    ///   - model: the model to import with; nil for the model of the rejects' job.
    ///   - selection: the stored rejects to retry if there is no file; only open ones are retried.
    ///   - run: the options that do not change the imported rows.
    ///   - transformers: the transformers that the models name.
    ///   - merges: the center that posts commits.
    public convenience init(
        retrying file: (any FileLocation)?,
        in store: any FileLocation,
        model: ModelDescription? = nil,
        selection: RejectSelection = RejectSelection(),
        run: RunOptions,
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) {
        self.init(
            .retry(RetryRequest(file: file?.filePath, selection, model: model)),
            store.filePath,
            run,
            transformers,
            merges
        )
    }

    /// Prepares to import rejects that a program has repaired, as a job of its own that closes their entries.
    ///
    /// The records are kept in a file beside the store until the retry is finished, so it can be resumed without them. Passing all of
    /// them once more, or those that are still open, resumes it, too. Without any record nothing is done.
    ///
    /// - Parameters:
    ///   - records: at most one record for each reject; iterated over once, before the first of them is imported.
    ///   - store: the location of the SQLite file.
    ///   - model: the model to import with; nil for the model of the rejects' job.
    ///   - run: the options that do not change the imported rows.
    ///   - transformers: the transformers that the models name.
    ///   - merges: the center that posts commits.
    public convenience init<Records: Sequence>(
        retrying records: sending Records,
        in store: any FileLocation,
        model: ModelDescription? = nil,
        run: RunOptions = RunOptions(),
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) where Records.Element == RepairedRecord {
        let request = RetryRequest(records: .given(ProgramRepairs(records)), model: model)
        self.init(.retry(request), store.filePath, run, transformers, merges)
    }

    /// Prepares to make the deletions that a job has withheld (``ImportReport/withheld``), without its sources.
    ///
    /// - Parameters:
    ///   - job: the number of a finished job in the store that was started with ``JobOptions/mirror``.
    ///   - store: the location of the SQLite file.
    ///   - options: what is allowed beyond the job's own options; their scope is ignored.
    ///   - run: the options that do not change the result; only `durability` is used.
    ///   - transformers: the transformers that the model names.
    ///   - merges: the center that posts the deletions.
    public convenience init(
        mirroring job: Int64,
        in store: any FileLocation,
        options: MirrorOptions,
        run: RunOptions = RunOptions(),
        transformers: TransformerRegistry = .standard,
        merges: MergeCenter = MergeCenter()
    ) {
        self.init(.mirror(job, options), store.filePath, run, transformers, merges)
    }

    /// The result of a run.
    public struct Outcome: Sendable {
        /// The report of the job, over all of its runs.
        public let report: ImportReport
        /// True if the job was finished before this run, so that no record was imported.
        public let wasAlreadyFinished: Bool
        /// True if the job was finished before this run, and some of its objects have been deleted since; ``RunOptions/again`` imports them
        /// again.
        public var isPartial = false
        /// True if ``report`` is of the last job that has imported some of the sources, and other jobs have imported others.
        public var isOfSeveralJobs = false
        /// The report of the interrupted job that was finished first; nil if there was none, or nothing was imported after it.
        public var resumed: ImportReport?
        /// What is wrong with each source that was not imported to its end, by this run or an earlier one (``BadSourcePolicy/skip``).
        public var badSources: [String] = []
        /// The indexes that this run built although the job was finished before.
        public var builtIndexes: [String] = []
    }

    /// Runs the import until it finishes, is interrupted or fails, on a thread of its own and its workers.
    ///
    /// Cancelling the task interrupts the import as `interruption` does: running commits are finished, and another pipeline can resume
    /// the job.
    ///
    /// - Returns: the report of the finished job.
    /// - Throws: `CancellationError` when the task is cancelled, else `ImportError`: commits made before stay, and the job can be
    ///   resumed. With `.usage` when the pipeline has been run before, with `.noResources` when the system gives no thread.
    public func run() async throws -> Outcome {
        try spend()
        do {
            return try await SystemThread.run(to: "run the import", interruption) { [self] in try importAll() }
        } catch {
            // Also where there was no thread to note it.
            if progress.snapshot.end == nil { progress.end(after: error) }
            throw error
        }
    }

    /// Runs the import until it finishes, is interrupted or fails; blocks the calling thread.
    ///
    /// - Returns: the report of the finished job.
    /// - Throws: `ImportError`: commits made before stay, and the job can be resumed. With `.usage` when the pipeline has been run
    ///   before.
    public func run() throws -> Outcome {
        try spend()
        return try importAll()
    }

    private func importAll() throws -> Outcome {
        try importAll(into: try destination())
    }

    func destination() throws -> any RecordDestination {
        if let destinationMaker { return try destinationMaker(interruption) }
        let destination = SQLiteDestination(store, durability: runOptions.durability, interruption)
        destination.rowSelection = RecordPredicate.selectRows
        return destination
    }

    /// - Parameter destination: the store; the import phase is specialised for its type.
    func importAll(into destination: some RecordDestination) throws -> Outcome {
        try progress.ending {
            defer { merges.close() }
            try merges.open()
            if runOptions.follows { return try follow(into: destination) }
            var (outcome, hasMore) = try importOnce(into: destination)
            guard hasMore else { return outcome }
            // What was interrupted is finished; what was given beside it comes next.
            var (last, _) = try importOnce(into: try self.destination())
            if last.wasAlreadyFinished {
                outcome.badSources += last.badSources.filter { !outcome.badSources.contains($0) }
                return outcome
            }
            last.resumed = outcome.report
            return last
        }
    }

    /// - Parameter followed: the round of a run that follows its sources, which keeps the lock; nil for a run that ends with them.
    /// - Returns: whether sources were given beside those of a job that was resumed.
    func importOnce(into destination: some RecordDestination, _ followed: FollowedRun? = nil) throws
        -> (Outcome, hasMore: Bool)
    {
        defer { if followed == nil { destination.unlock() } }
        do {
            return try journey(to: destination, followed)
        } catch {
            throw destination.explain(error)
        }
    }

    /// The phases of an import, from its store's lock to its report.
    private func journey(to destination: some RecordDestination, _ followed: FollowedRun?) throws
        -> (Outcome, hasMore: Bool)
    {
        let interruption = interruption.child()
        try interruption.check()
        try check(destination)
        try destination.lock()
        if case .mirror(let job, let options) = request {
            let (report, wasDone) = try WithheldDeletionJob(context: context(interruption), destination: destination)
                .run(
                    job,
                    options
                )
            return (Outcome(report: report, wasAlreadyFinished: wasDone), false)
        }
        let decision = try destination.tidyingUp {
            try decide(in: destination, isPlanning: false, interruption, followed)
        }
        try checkDisk(decision)
        // Not before all is known that refuses the import.
        if runOptions.migrates { try migration?.run(progress, interruption) }
        if case .nothing(let job, let isPartial, let isOneJob) = decision {
            var outcome = try conclude(job, isPartial: isPartial, in: destination)
            (outcome.isOfSeveralJobs, outcome.badSources) = (!isOneJob, job.badBefore)
            return (outcome, false)
        }
        if let job = decision.job, job.change != nil {
            return (try change(job, decision, in: destination, context(interruption)), false)
        }
        try checkStoreModel(decision)
        var context = context(interruption)
        context.followed = followed
        let begun = try StartPhase(context, in: destination).start(decision)
        begunJob.withLock { $0 = begun.job.id }
        defer { if destination.isLost { begunJob.withLock { $0 = nil } } }
        let report = try begun.go { try Self.phases($0, into: destination) }
        if let job = followed?.job { begunJob.withLock { $0 = job } }
        var outcome = Outcome(report: report, wasAlreadyFinished: false)
        outcome.badSources = report.badSources + (decision.job?.badBefore ?? [])
        return (outcome, mayHaveMore(decision))
    }

    /// True if sources may have been given beside those of a job that was resumed, or begun once more in place of what was begun.
    private func mayHaveMore(_ decision: JobResolver.Decision) -> Bool {
        switch decision {
        case .resume(_, _, let hasMore): return hasMore
        case .begin(let job, _, .some, nil):
            guard case .sources = request else { return false }
            return !runOptions.restart && !job.takesChunks && job.options.mirror == nil
        case .begin, .nothing: return false
        }
    }

    /// - Throws: `ImportError` with `.usage` when there is nothing more to run.
    private func spend() throws {
        guard !isSpent.exchange(true, ordering: .relaxed) else { throw spent }
    }

    private var spent: ImportError {
        ImportError(
            .pipelineSpent,
            at: store,
            "this pipeline has been run already, or has read from a source that can be read once only",
            advice: "Make a new pipeline for each run."
        )
    }

    /// What an import does with a job that is open, from where it is to its end.
    static func phases(_ begun: JobRun, into destination: some RecordDestination) throws {
        var run = try SourceVerification(begun).verify()
        if run.job.model == nil || run.forgetsModel { run = try run.inferModel() }
        repeat {
            run = try destination.importRecords(of: run)
        } while try run.takesBackUnresolved()
        try run.settle()
        try run.judge()
        try run.mirror()
        try run.finish()
    }

    private func check(_ destination: some RecordDestination) throws {
        try destination.check()
        if case .sources = request { return try (destination as? SQLiteDestination)?.checkFolder() ?? () }
        guard destination.exists else { throw ImportError.noStore(at: store) }
    }

    /// Nothing is left to be imported; indexes may have been asked for only now.
    private func conclude(
        _ job: StoredJob,
        isPartial: Bool,
        in destination: some RecordDestination
    ) throws -> Outcome {
        if !job.updates.isEmpty {
            // Files that were touched or have moved need not be read the next time.
            let journal = try destination.open(for: nil)
            try journal.update(job.updates)
            _ = try destination.close(after: job)
        }
        let built = try destination.build(StoreIndexes(wanted: runOptions.indexes), of: job, interruption)
        let leftOut =
            runOptions.indexes.isEmpty ? [] : try destination.read { try $0.wordsOfIndexesLeftOut(of: job) }
        destination.tidyUp()
        progress.update {
            $0.messages += built.map { "built the index \($0)" as MessageText } + leftOut
            $0.phase = .finished
        }
        return Outcome(
            report: try job.updates.isEmpty ? destination.report(of: job) : destination.report(of: job.id),
            wasAlreadyFinished: true,
            isPartial: isPartial,
            builtIndexes: built
        )
    }

    /// Resumes a patch or an undo, or retries changes.
    private func change(
        _ job: StoredJob,
        _ decision: JobResolver.Decision,
        in destination: some RecordDestination,
        _ context: RunContext
    ) throws -> Outcome {
        guard let destination = destination as? SQLiteDestination else {
            throw ImportError(.fault, at: store, "changes of a store that is not SQLite's")
        }
        do {
            let report = try ChangeJobResumer(context: context, destination: destination).run(job, decision)
            return Outcome(report: report, wasAlreadyFinished: false)
        } catch let stop as ConflictStop {
            throw ImportError.conflicts(Int64(stop.conflicts.count), at: store, isBegun: true)
        }
    }

    /// What the model that is given changes of the store; nil without one.
    private var migration: AutomaticMigration? {
        guard destinationMaker == nil, case .sources(_, let job) = request else { return nil }
        return job.model.map { AutomaticMigration(store: store, model: $0, transformers: transformers) }
    }

    private func checkStoreModel(_ decision: JobResolver.Decision) throws {
        if case .begin(_, _, nil, nil) = decision { try migration?.check() }
    }

    private func checkDisk(_ decision: JobResolver.Decision) throws {
        guard case .begin(let job, _, _, _) = decision else { return }
        let diskSpace = DiskSpaceCheck(job: job, store: store, opener: opener, chunkSize: Int64(runOptions.chunkSize))
        if let warning = try diskSpace.check() {
            progress.update { $0.messages.append(warning) }
        }
    }

    private func context(_ interruption: Interruption) -> RunContext {
        RunContext(
            store: store,
            options: runOptions,
            opener: opener,
            transformers: transformers,
            progress: progress,
            interruption: interruption,
            merges: merges,
            onBeginning: { [self] job in begunJob.withLock { $0 = job } }
        )
    }

    /// What the request means for the store as it is.
    private func decide(
        in destination: some RecordDestination,
        isPlanning: Bool,
        _ interruption: Interruption,
        _ followed: FollowedRun? = nil
    ) throws -> JobResolver.Decision {
        var options = JobOptions()
        if case .sources(_, let given) = request {
            try given.check()
            options = given
        }
        if followed != nil { options.onBadSource = .skip }
        try runOptions.check()
        try checkModel()
        guard options.nul == .error || !destination.textsHaveNUL else {
            throw ImportError(
                .optionsConflict,
                at: store,
                "\(.nul, options.nul.rawValue) is for a server's database: a SQLite store keeps U+0000",
                advice: "Leave it out."
            )
        }
        let planner = JobPlanner(options: options, opener: opener, interruption: interruption) { [progress] text in
            progress.update { $0.messages.append(text) }
        }
        return try destination.read { journal in
            let resolver = JobResolver(
                store: store,
                options: options,
                run: runOptions,
                planner: planner,
                chunksBase: chunksBase,
                isPlanning: isPlanning,
                journal: journal,
                followed: followed
            )
            switch request {
            case .sources(let arguments, _): return try resolver.decide(importing: arguments)
            case .resume(let maxErrors): return try resolver.decideToResume(maxErrors)
            case .retry(let request): return try resolver.decide(retrying: request, in: destination)
            case .mirror: throw ImportError(.fault, at: store, "deleting is not importing")
            }
        }
    }

    /// A model that a program has made may be what no file could say.
    private func checkModel() throws {
        let model: ModelDescription?
        switch request {
        case .sources(_, let job): model = job.model
        case .retry(let request): model = request.model
        case .resume, .mirror: model = nil
        }
        try JobResolver.check(model, transformers)
    }

    /// The plan of `run`, without changing anything; blocks the calling thread.
    ///
    /// If a source is standard input, its first MiB is read, so the pipeline cannot be run afterwards.
    ///
    /// - Throws: `ImportError`, as `run` would before its first record.
    public func plan() throws -> ImportPlan { ImportPlan(try look(interruption.child()), into: store, runOptions) }

    /// The plan of `run`, without changing anything.
    ///
    /// If a source is standard input, its first MiB is read, so the pipeline cannot be run afterwards.
    ///
    /// - Throws: `ImportError`, as `run` would before its first record.
    public func plan() async throws -> ImportPlan {
        let interruption = interruption.child()
        return try await SystemThread.run(to: "plan the import", interruption) { [self] in
            ImportPlan(try look(interruption), into: store, runOptions)
        }
    }

    /// The plan of `run`, with the result of importing the first records of new sources; blocks the calling thread.
    ///
    /// The records are imported into a temporary store in the temporary directory. If a source is standard input, its first MiB is read,
    /// so the pipeline cannot be run afterwards. A mirror is imported whole, into a copy of the store there: its deletions are known
    /// only then.
    ///
    /// - Throws: `ImportError`, as `plan` does.
    public func preview() throws -> ImportPreview { try preview(interruption.child()) }

    /// The plan of `run`, with the result of importing the first records of new sources.
    ///
    /// The records are imported into a temporary store in the temporary directory. If a source is standard input, its first MiB is read,
    /// so the pipeline cannot be run afterwards.
    ///
    /// - Throws: `ImportError`, as `plan` does.
    public func preview() async throws -> ImportPreview {
        let interruption = interruption.child()
        return try await SystemThread.run(to: "preview the import", interruption) { [self] in
            try preview(interruption)
        }
    }

    /// What the request means for the store as it is, for a call that does not run it.
    private func look(_ interruption: Interruption) throws -> JobResolver.Decision {
        guard !isSpent.load(ordering: .relaxed) else { throw spent }
        let destination = try destination()
        try check(destination)
        let decision = try decide(in: destination, isPlanning: true, interruption)
        if runOptions.migrates { try migration?.plan(progress, interruption) } else { try checkStoreModel(decision) }
        if case .begin(_, let open, _, _) = decision, !open.isEmpty { try spend() }
        if case .retry(let request) = request, case .given = request.records { try spend() }
        return decision
    }

    private func preview(_ interruption: Interruption) throws -> ImportPreview {
        let decision = try look(interruption)
        let plan = ImportPlan(decision, into: store, runOptions)
        if case .begin(let job, let open, nil, nil) = decision, job.options.mirror != nil {
            return ImportPreview(plan: plan, sample: nil, mirror: try previewTool(job, open).mirror())
        }
        guard case .begin(let job, let open, let replaced, nil) = decision, !job.takesChunks else {
            return ImportPreview(plan: plan, sample: nil)
        }
        let isChangedBefore = replaced != nil || runOptions.migrates
        return ImportPreview(plan: plan, sample: try previewTool(job, open, isChangedBefore).sample())
    }

    private func previewTool(
        _ job: StoredJob,
        _ open: [Int: SourceStream],
        _ isChangedBefore: Bool = false
    ) throws -> PreviewTool {
        PreviewTool(
            job: job,
            open: open,
            store: store,
            textsHaveNUL: try destination().textsHaveNUL,
            run: runOptions,
            isChangedBefore: isChangedBefore,
            opener: opener,
            transformers: transformers,
            interruption: interruption,
            announce: { [progress] messages in progress.update { $0.messages += messages } },
            phases: { try Self.phases($0, into: $1) }
        )
    }
}
