import Foundation
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Undoes a job: deletes the rows that it has inserted, and restores those that it has changed or deleted, with their row ids.
///
/// ```swift
/// var options = DifferenceOptions()
/// options.entities = ["people"]
/// let changes = URL(filePath: "monday.changes.ndjson")
/// try StoreDifference(from: "sunday.sqlite", to: "monday.sqlite", options: options).write(to: ChangeSetWriter(changes))
/// try PatchPipeline(changes, into: "sunday.sqlite").run()
/// let outcome = try UndoPipeline(of: "sunday.sqlite").run()
/// print(outcome.report.updated, outcome.report.conflicts ?? 0)
/// ```
///
/// An undo is a job itself, and can be undone, too, which redoes the first job. A value that has changed since is a conflict
/// (``PatchOptions/conflicts``). An import that has only inserted rows can be undone even without stored old values, as long as these rows
/// have not changed. An interrupted job can be undone, but not be resumed afterwards. Create one pipeline per run.
public final class UndoPipeline: Sendable {
    /// The progress of the run, for observers.
    public var progress: ImportProgress { pipeline.progress }
    /// Interrupts the run when requested.
    public var interruption: Interruption { pipeline.interruption }
    /// The center that posts a notification of the commit.
    public var merges: MergeCenter { pipeline.merges }

    private let number: Int64?
    private let options: PatchOptions
    private let pipeline: ChangePipeline
    private var store: String { pipeline.store }

    /// Prepares to undo a job; nothing is read or written before `run`.
    ///
    /// - Parameters:
    ///   - store: the location of the SQLite file.
    ///   - job: the job's number; nil for the newest one that is neither undone nor an undo itself.
    ///   - options: only `conflicts` is used.
    ///   - run: only `durability` is used.
    ///   - merges: the center that posts the commit.
    public init(
        of store: any FileLocation,
        job: Int64? = nil,
        options: PatchOptions = PatchOptions(),
        run: RunOptions = RunOptions(),
        merges: MergeCenter = MergeCenter()
    ) {
        number = job
        self.options = options
        pipeline = ChangePipeline(store.filePath, run, merges)
    }

    /// The report so far, also if conflicts have stopped the run; nil before there is one.
    public var report: ImportReport? { pipeline.report }

    /// Undoes the job; blocks the calling thread.
    ///
    /// - Returns: the report of the undo.
    /// - Throws: `ImportError` with `.badInput` when the old values of the job were not stored, or conflicts stop the undo
    ///   (``report`` lists them; nothing was written); `.noInput` when there is no such job; `.inUse` when another import uses the
    ///   store.
    @discardableResult
    public func run() throws -> ChangeOutcome {
        try pipeline.run { context, destination in
            let job = UndoJob(context: context, destination: destination)
            switch try destination.tidyingUp({ try decide(destination) }) {
            case .resume(let open): return .init(report: try job.resume(open, options), wasAlreadyFinished: false)
            case .begin(let undone, let isKept):
                if !isKept { try recover(undone, context, destination) }
                try destination.tidyingUp { try check(undone.id) }
                return .init(report: try job.begin(undoing: undone.id, options), wasAlreadyFinished: false)
            }
        }
    }

    /// Compares the rows with what the job has left; nothing is written where that stops it.
    private func check(_ undone: Int64) throws {
        let dryRun = UndoDryRun(store: store, job: undone, options: options, interruption: interruption)
        let findings = try dryRun.run()
        pipeline.report = findings.report
        if findings.stops > 0 { throw ImportError.conflicts(findings.stops, at: store, isBegun: false) }
    }

    // MARK: What is to be undone

    private enum Decision {
        case begin(StoredJob, isKept: Bool)
        case resume(StoredJob)
    }

    private func decide(_ destination: SQLiteDestination) throws -> Decision {
        try destination.read { journal in
            let unfinished = try journal.unfinishedJobs()
            if let open = unfinished.last, let undone = open.change?.undoes,
                number.map({ $0 == undone || $0 == open.id }) ?? true
            {
                return .resume(open)
            }
            let job = try job(journal)
            if let open = unfinished.last(where: { $0.id != job.id }) {
                throw ImportError(
                    .jobUnfinished,
                    at: store,
                    "job \(open.id) is not finished, and could overwrite what is restored",
                    advice: "Finish it with \(call: .resuming(store: store)), then \(.sameAgain)."
                )
            }
            if let undo = try journal.undo(of: job.id) {
                throw ImportError(
                    .notUndoable,
                    at: store,
                    "job \(job.id) is undone already, by job \(undo.id)",
                    advice: "To redo it, undo that: \(call: .undoing(store: store, job: undo.id))."
                )
            }
            if let later = try continuation(of: job, journal) {
                throw ImportError(
                    .notUndoable,
                    at: store,
                    "job \(later) has imported what a source of job \(job.id) has grown by since",
                    advice: "Undo that first: \(call: .undoing(store: store, job: later))."
                )
            }
            let log = try (journal as? any SQLiteJournalReader)?.readIfThere { try UndoLog.exists(job.id, $0) }
            // An import that has no model yet has done nothing.
            let isKept = log == true || job.state != .finished && job.keepsUndo && job.model == nil
            if job.state != .finished,
                let later = try (journal as? any SQLiteJournalReader)?.readIfThere({
                    try ImportUndoLog.superseding(job.id, $0)
                })
                    ?? nil
            {
                throw ImportError(
                    .notUndoable,
                    at: store,
                    "job \(job.id) is not finished, and its rows cannot be told from those of job \(later), which changed the same "
                        + "tables",
                    advice: "Finish it with \(call: .resuming(store: store)) first."
                )
            }
            return .begin(job, isKept: isKept)
        }
    }

    /// The last job that goes on after what this one has imported of a source; nil where none does.
    private func continuation(of job: StoredJob, _ journal: any JournalReader) throws -> Int64? {
        try journal.lastJob(withOneOf: job.sources.map(\.description)) { later in
            try later.sources.contains { $0.description.earlier?.job == job.id } && !journal.isUndone(later.id)
        }?.id
    }

    /// Keeps what it takes to undo a job that has only inserted rows.
    private func recover(_ job: StoredJob, _ context: RunContext, _ destination: SQLiteDestination) throws {
        guard let session = try destination.open() as? StoreSession else { throw notKept(job, isMigrated: false) }
        let result = Result {
            try session.write { database in
                try BookkeepingSchema.prepareBookkeeping(database, store: store, all: true)
                var job = job
                if job.state != .finished {
                    // What waits in it will not be done.
                    let sources = SourceRecordReader(of: job, opener: context.opener, interruption: interruption)
                    try job.end(sources, database) { try interruption.check() }
                    try TableFingerprint.record(job.tables, database)
                }
                guard try ImportUndoLog.recover(job, database) else {
                    throw notKept(job, isMigrated: try MigrationHistory.exists(since: job.id, database))
                }
                try BookkeepingSchema.dropEmpty(database)
            }
        }
        try session.close(leavesWAL: true)
        try result.get()
    }

    private func notKept(_ job: StoredJob, isMigrated: Bool) -> ImportError {
        ImportError(
            .notUndoable,
            at: store,
            isMigrated
                ? "job \(job.id) cannot be undone, as the store was migrated to another model after it"
                : "job \(job.id) cannot be undone: what the rows were before it was not kept, or rows that it has inserted have changed "
                    + "since",
            advice:
                "Compare the store with one from before the job, and patch it. \(.keepsUndo) keeps what the undo of an import needs."
        )
    }

    private func job(_ journal: any JournalReader) throws -> StoredJob {
        if let number {
            if let job = try journal.job(number) { return job }
            throw ImportError(
                .jobNotFound,
                at: store,
                "has no job \(number)",
                advice: "\(call: .status) lists its jobs."
            )
        }
        var last: StoredJob?
        try journal.forEachJob { job in
            guard try job.change?.kind != .undo && !journal.isUndone(job.id) else { return true }
            last = job
            return false
        }
        if let last { return last }
        throw ImportError(
            .notUndoable,
            at: store,
            "there is no job to undo",
            advice: "An undo is undone by its number; \(call: .status) lists the jobs."
        )
    }

    // MARK: Forgetting

    /// Removes the stored old values of jobs, which then cannot be undone.
    ///
    /// - Parameters:
    ///   - store: the location of the SQLite file.
    ///   - job: the job's number; nil for all.
    ///   - age: the minimum time since the end of the jobs.
    /// - Returns: the numbers of the jobs.
    /// - Throws: `ImportError`: `.noInput` when there is no such store or job, `.inUse` when an import uses the store.
    @discardableResult
    public static func forget(in store: String, job: Int64? = nil, olderThan age: Duration? = nil) throws -> [Int64] {
        try UndoStorage(store: StoreFile.resolved(store)).forget(job, olderThan: age)
    }
}
