import Foundation
import ImportModel
import Synchronization

/// Takes back what a job has done to a store: rows that it has inserted go, those that it has changed or deleted come back with their
/// row ids.
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
/// An undo is a job itself, so that it can be undone, which does again what was undone. A value that has changed since is a conflict
/// (``PatchOptions/conflicts``). A job that was interrupted may be undone, and is over then. It is run once.
public final class UndoPipeline: Sendable {
    /// Shared with observers.
    public let progress = ImportProgress()
    /// Shared with callers that may stop it.
    public let interruption = Interruption()
    /// Announces the commit.
    public let merges: MergeCenter

    private let store: String
    private let number: Int64?
    private let options: PatchOptions
    private let runOptions: RunOptions
    private let isSpent = Atomic(false)
    private let found = Mutex<ImportReport?>(nil)

    /// Prepares to undo a job; nothing is touched before `run`.
    ///
    /// - Parameters:
    ///   - store: the SQLite file's path.
    ///   - job: the job's number; nil for the newest one that is neither undone nor an undo itself.
    ///   - options: of these `conflicts` count.
    ///   - run: of these `durability` counts.
    ///   - merges: where the commit is announced.
    public init(
        of store: String,
        job: Int64? = nil,
        options: PatchOptions = PatchOptions(),
        run: RunOptions = RunOptions(),
        merges: MergeCenter = MergeCenter()
    ) {
        self.store = StoreFile.resolved(store)
        number = job
        self.options = options
        runOptions = run
        self.merges = merges
    }

    /// What has been found out up to now, also where conflicts have stopped the run; nil before that.
    public var report: ImportReport? { found.withLock { $0 } }

    /// Undoes the job, and blocks this thread as long.
    ///
    /// - Returns: the report of the undo.
    /// - Throws: `ImportError` with `.badInput` where what the job has done was not kept, or conflicts stop it (``report`` lists
    ///   them; nothing was written); `.noInput` where there is no such job; `.inUse` where another import has the store.
    @discardableResult
    public func run() throws -> ChangeOutcome {
        guard !isSpent.exchange(true, ordering: .relaxed) else {
            throw ImportError(
                .pipelineSpent,
                at: store,
                "this pipeline has been run already",
                advice: "Make a new pipeline for each run."
            )
        }
        return try progress.ending {
            let destination = SQLiteDestination(store, durability: runOptions.durability, interruption)
            defer {
                destination.unlock()
                merges.close()
            }
            do {
                try merges.open()
                return try run(into: destination)
            } catch {
                throw destination.explain(error)
            }
        }
    }

    private func run(into destination: SQLiteDestination) throws -> ChangeOutcome {
        try destination.check()
        guard destination.exists else {
            throw ImportError(.storeNotFound, at: store, "there is no such store", advice: "Check the path.")
        }
        try destination.lock()
        let context = RunContext(
            store: store,
            options: runOptions,
            opener: SourceOpener(),
            transformers: .standard,
            progress: progress,
            interruption: interruption.child(),
            merges: merges
        )
        let job = UndoJob(context: context, destination: destination)
        let report: ImportReport
        do {
            switch try destination.tidyingUp({ try decide(destination) }) {
            case .resume(let open): report = try job.resume(open, options)
            case .begin(let undone, let isKept):
                if !isKept { try recover(undone, destination) }
                try destination.tidyingUp { try check(undone.id) }
                report = try job.begin(undoing: undone.id, options)
            }
        } catch let stop as ChangeStop {
            if var report = try? StoreInspection(store: store).status() {
                (report.conflicts, report.conflictList) = (Int64(stop.conflicts.count), stop.conflicts)
                found.withLock { [report] in $0 = report }
            }
            throw ImportError.conflicts(Int64(stop.conflicts.count), at: store, isBegun: true)
        }
        found.withLock { $0 = report }
        return .init(report: report, wasAlreadyFinished: false)
    }

    /// Compares the rows with what the job has left; nothing is written where that stops it.
    private func check(_ undone: Int64) throws {
        let check = UndoCheck(store: store, job: undone, options: options, interruption: interruption)
        let findings = try check.run()
        found.withLock { $0 = findings.report }
        if findings.stops > 0 { throw ImportError.conflicts(findings.stops, at: store, isBegun: false) }
    }

    // MARK: What is to be undone

    private enum Decision {
        case begin(StoredJob, isKept: Bool)
        case resume(StoredJob)
    }

    private func decide(_ destination: SQLiteDestination) throws -> Decision {
        try destination.read { journal in
            let jobs = try journal.jobs()
            if let open = jobs.last(where: { $0.state != .finished }), let undone = open.change?.undoes,
                number.map({ $0 == undone || $0 == open.id }) ?? true
            {
                return .resume(open)
            }
            let job = try job(jobs)
            if let open = jobs.last(where: { $0.state != .finished && $0.id != job.id }) {
                throw ImportError(
                    .jobUnfinished,
                    at: store,
                    "job \(open.id) is not finished, and could write over what is brought back",
                    advice: "Finish it with \(call: .resuming(store: store)), then give this command again."
                )
            }
            if StoredJob.isUndone(job.id, jobs), let undo = jobs.last(where: { $0.change?.undoes == job.id }) {
                throw ImportError(
                    .notUndoable,
                    at: store,
                    "job \(job.id) is undone already, by job \(undo.id)",
                    advice: "To do it again, undo that: \(call: .undoing(store: store, job: undo.id))."
                )
            }
            let log = try (journal as? any StoredJournal)?.readIfThere { try UndoLog.exists(job.id, $0) }
            // An import that has no model yet has done nothing.
            let isKept = log == true || job.state != .finished && job.keepsUndo && job.model == nil
            guard isKept || job.state == .finished else { throw notKept(job) }
            if job.state != .finished,
                let later = try (journal as? any StoredJournal)?.readIfThere({ try ImportUndo.superseding(job.id, $0) })
                    ?? nil
            {
                throw ImportError(
                    .notUndoable,
                    at: store,
                    "job \(job.id) is not finished, and its rows cannot be told from those of job \(later), which came to the same "
                        + "tables",
                    advice: "Finish it with \(call: .resuming(store: store)) first."
                )
            }
            return .begin(job, isKept: isKept)
        }
    }

    /// Keeps what it takes to undo a job that has only inserted rows.
    private func recover(_ job: StoredJob, _ destination: SQLiteDestination) throws {
        guard let session = try destination.open() as? StoreSession else { throw notKept(job) }
        let result = Result {
            try session.write { database in
                try StoreSchema.prepareBookkeeping(database, store: store, all: true)
                let isKnown = try ImportUndo.recover(job, database)
                try BookkeepingSchema.dropEmpty(database)
                return isKnown
            }
        }
        try session.close(leavesWAL: true)
        guard try result.get() else { throw notKept(job) }
    }

    private func notKept(_ job: StoredJob) -> ImportError {
        ImportError(
            .notUndoable,
            at: store,
            "what the rows were before job \(job.id) was not kept, or is forgotten",
            advice:
                "Compare the store with one from before the job, and patch it. Imports that only insert rows can be undone as long "
                + "as nobody has changed these; \(.keepsUndo) keeps what any other needs."
        )
    }

    private func job(_ jobs: [StoredJob]) throws -> StoredJob {
        if let number {
            if let job = jobs.first(where: { $0.id == number }) { return job }
            throw ImportError(
                .jobNotFound,
                at: store,
                "has no job \(number)",
                advice: "\(call: .status) lists its jobs."
            )
        }
        if let job = jobs.last(where: { $0.change?.kind != .undo && !StoredJob.isUndone($0.id, jobs) }) { return job }
        throw ImportError(
            .notUndoable,
            at: store,
            "there is no job that could be undone",
            advice: "Name the undo that is to be undone; \(call: .status) lists the jobs."
        )
    }

    // MARK: Forgetting

    /// Forgets what was kept to undo jobs, which cannot be undone then.
    ///
    /// - Parameters:
    ///   - store: the SQLite file's path.
    ///   - job: the job's number; nil for all.
    ///   - age: only those of jobs that were finished at least as long ago.
    /// - Returns: the numbers of the jobs.
    /// - Throws: `ImportError`: `.noInput` when the store is not there or has no such job, `.inUse` where an import has it.
    @discardableResult
    public static func forget(in store: String, job: Int64? = nil, olderThan age: Duration? = nil) throws -> [Int64] {
        try UndoMemory(store: StoreFile.resolved(store)).forget(job, olderThan: age)
    }
}
