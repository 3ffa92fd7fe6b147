import Foundation
import GRDB
import ImportModel

/// One run of one job, as each phase leaves it to the next.
struct JobRun {
    /// How an earlier run left the job.
    struct Before {
        let state: ImportReport.State
        let message: String?
        let indexes: StoreIndexes
    }

    let context: RunContext
    let session: StoreSession
    let directory: ChunkDirectory
    /// nil where this run begins the job.
    let before: Before?
    /// Time that the job had taken before, in seconds.
    let secondsBefore: Double
    let started: ContinuousClock.Instant
    /// Where inference begins, by entity; nil for what the store itself has.
    let continued: [String: ContinuedEntity]?
    var job: StoredJob
    /// Sources that are open already, by their index in the job.
    var open: [Int: SourceStream]
    /// What was wrong with a source when its records were inferred: what is before it is imported first.
    var fault: ImportError?
    /// Whether this very run has cut the chunks that wait, so that they need no second look.
    var hasJustSplit = false

    /// The store's connection.
    var database: DatabaseQueue { session.database }

    func marker() throws -> Marker {
        try database.read { try Marker($0, job: job.id) } ?? Marker()
    }

    var limits: SplitLimits { SplitLimits(job.options) }

    // MARK: Its state

    /// Notes in the store what state the job is in.
    ///
    /// - Parameter body: what else is done in the same transaction.
    mutating func setState<Result>(
        _ state: ImportReport.State,
        message: String? = nil,
        _ body: (Database, StoredJob) throws -> Result = { _, _ in }
    ) throws -> Result {
        let seconds = secondsBefore + (ContinuousClock.now - started).inSeconds
        let result: Result
        (job, result) = try database.write { [job] database in
            var job = job
            try job.setState(state, message: message, seconds: seconds, database)
            return (job, try body(database, job))
        }
        return result
    }

    /// Does the rest of the run; what it fails with is noted in the store.
    ///
    /// - Throws: `ImportError`; the store then says that the job is interrupted or failed, as far as it still can.
    func notingFailures<Result>(_ rest: (JobRun) throws -> Result) throws -> Result {
        do {
            return try rest(self)
        } catch let refusal as Refusal {
            throw refusal.error
        } catch {
            let failure = (error as? DatabaseError).map { ImportError(store: context.store, $0) } ?? error
            note(failure)
            throw failure
        }
    }

    private func note(_ error: any Error) {
        let failure = error as? ImportError
        let isInterruption = failure?.isInterruption == true
        var run = self
        // What failed may be the store itself: then a later run still finds `running` without a lock, which says as much.
        try? run.setState(isInterruption ? .interrupted : .failed, message: failure?.message ?? "\(error)") {
            try $1.removeUnusedAdditions($0)
        }
    }

    /// Closes the store; a finished one leaves WAL mode.
    ///
    /// - Throws: `ImportError` with `.io` when the store's file is no longer in its place.
    func close() throws {
        guard !session.isClosed else { return }
        let isFinished = try? database.read { try StoredJob.isFinished(job.id, $0) }
        try session.close(leavesWAL: isFinished == true)
    }

    // MARK: A job that cannot be done

    /// What ends a run and changes nothing in what the store says of the job.
    struct Refusal: Error {
        let error: ImportError
    }

    /// Leaves a job that was there before as it was, and takes one that this run has begun out of the store again.
    ///
    /// - Returns: what this run ends with.
    func refuse(_ error: ImportError) throws -> any Error {
        guard let before else {
            abandon()
            return error
        }
        var run = self
        try run.setState(before.state == .running ? .interrupted : before.state, message: before.message) {
            try before.indexes.replace(for: $1, $0)
        }
        return Refusal(error: error)
    }

    /// Takes the job out of the store again, as it cannot be done as it is asked for: the next one may ask otherwise.
    func abandon() {
        do {
            if let reset = try database.write({ try job.remove($0) }) { context.merges.enqueue(reset) }
        } catch {
            return
        }
        removeLeft()
    }

    // MARK: What it leaves behind

    /// All is in the store: that something cannot be removed is no failure of the import, and the next run tries again.
    func removeLeft() {
        try? RecordedFile.removeLeft(database, store: context.store)
    }

    /// Does something in the store that takes a while, and that an interruption ends at once, as if it had not begun.
    func interruptibly(_ body: () throws -> Void) throws {
        try context.interruption.check()
        let isRunning = SharedFlag()
        context.interruption.onRequest { [database] in
            isRunning.ifSet { database.interrupt() }
        }
        do {
            defer { isRunning.clear() }
            try body()
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_INTERRUPT {
            throw context.interruption.error
        }
    }
}
