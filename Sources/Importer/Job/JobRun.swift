import Foundation
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
    let destination: any Destination
    let journal: any Journal
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

    var limits: SplitLimits { SplitLimits(job.options) }

    /// The time that the job has taken up to now, in all of its runs.
    var seconds: Double { secondsBefore + (ContinuousClock.now - started).inSeconds }

    func marker() throws -> Marker { try journal.marker(of: job) }

    /// Does the run's phases and closes the store.
    ///
    /// - Returns: the job's report.
    /// - Throws: `ImportError`; the store then says that the job is interrupted or failed, as far as it still can. One that was
    ///   made for a job that cannot be done goes again.
    func go(_ phases: (JobRun) throws -> Void) throws -> ImportReport {
        do {
            try notingFailures(phases)
            return try destination.close(after: job)
        } catch {
            destination.fail(job)
            throw error
        }
    }

    private func notingFailures(_ phases: (JobRun) throws -> Void) throws {
        do {
            try phases(self)
        } catch let refusal as Refusal {
            throw refusal.error
        } catch {
            let failure = destination.explain(error)
            // What failed may be the store itself: then a later run still finds `running` without a lock, which says as much.
            try? journal.stop(job, failure.isInterruption ? .interrupted : .failed, failure.message, seconds: seconds)
            throw failure
        }
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
        let state = before.state == .running ? .interrupted : before.state
        try journal.putBack(job, state, before.message, seconds: seconds, before.indexes)
        return Refusal(error: error)
    }

    /// Takes the job out of the store again, as it cannot be done as it is asked for: the next one may ask otherwise.
    func abandon() {
        do {
            if let reset = try journal.remove(job) { context.merges.enqueue(reset) }
        } catch {
            return
        }
        removeLeft()
    }

    // MARK: What it leaves behind

    /// All is in the store: that something cannot be removed is no failure of the import, and the next run tries again.
    func removeLeft() { try? journal.removeLeftFiles() }
}
