import Foundation
import ImportModel
import ImportSources

/// One run of one job, as each phase leaves it to the next.
package struct JobRun {
    /// How an earlier run left the job.
    package struct PreviousRun {
        package let state: ImportReport.State
        package let message: String?
        package let indexes: StoreIndexes
    }

    package let context: RunContext
    package let destination: any Destination
    package let journal: any Journal
    package let directory: ChunkDirectory
    /// nil where this run begins the job.
    package let previous: PreviousRun?
    /// Time that the job had taken before, in seconds.
    package let secondsBefore: Double
    package let started: ContinuousClock.Instant
    /// Where inference begins, by entity; nil for what the store itself has.
    package let continued: [String: ExistingEntity]?
    package var job: StoredJob
    /// Sources that are open already, by their index in the job.
    package var open: [Int: SourceStream]
    /// True if the sources of a job that was there before were given again, to be compared with it.
    package var isGiven = false
    /// What was wrong with a source when its records were inferred: what is before it is imported first.
    package var fault: ImportError?
    /// True if the job's model was inferred from other records than there are: all are looked at again, and imported again.
    package var forgetsModel = false
    /// The chunks that this very run has cut, all of them, so that they need no second look; nil where there may be others.
    package var cutChunks: [ChunkEntry]?

    package var limits: SplitLimits { SplitLimits(job.options) }

    /// The time that the job has taken up to now, in all of its runs.
    package var seconds: Double { secondsBefore + (ContinuousClock.now - started).inSeconds }

    package func marker() throws -> Marker { try forgetsModel ? Marker() : journal.marker(of: job) }

    /// Makes sure that all sources are imported: chunks that were cut by somebody else may be only the beginning.
    ///
    /// - Throws: `ImportError` with `.splitUnfinished`.
    package func checkCompleteness() throws {
        guard try marker().source < job.sources.count else { return }
        throw ImportError(
            .splitUnfinished,
            at: directory.path,
            "the split that made these chunks was not finished",
            advice: "Everything in them is imported. Finish the split, then resume."
        )
    }

    /// Does the run's phases and closes the store.
    ///
    /// - Returns: the job's report.
    /// - Throws: `ImportError`; the store then says that the job is interrupted or failed, as far as it still can. One that was
    ///   made for a job that cannot be done goes again.
    package func go(_ phases: (JobRun) throws -> Void) throws -> ImportReport {
        do {
            try notingFailures(phases)
            return try destination.close(after: context.followed?.join(job, journal) ?? job)
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
    package struct Refusal: Error {
        package let error: ImportError
    }

    /// Leaves a job that was there before as it was, and takes one that this run has begun out of the store again.
    ///
    /// - Returns: what this run ends with.
    package func refuse(_ error: ImportError) throws -> any Error {
        guard let previous else {
            abandon()
            return error
        }
        let state = previous.state == .running ? .interrupted : previous.state
        try journal.putBack(job, state, previous.message, seconds: seconds, previous.indexes)
        return Refusal(error: error)
    }

    /// Takes the job out of the store again, as it cannot be done as it is asked for: the next one may ask otherwise.
    package func abandon() {
        do {
            if let reset = try journal.remove(job) { context.merges.enqueue(reset) }
        } catch {
            return
        }
        removeLeft()
    }

    /// What a run ends with at a source in which something is wrong: of a job that has no record yet, nothing is left.
    ///
    /// - Parameter fault: what is wrong.
    package func ended(by fault: ImportError) -> ImportError {
        guard [.notJSON, .cannotDecompress].contains(fault.reason), (try? journal.recordCounts(of: job).read) == 0
        else { return fault }
        abandon()
        return fault.advising("No record was imported. Correct or complete the source, then \(.sameAgain).")
    }

    // MARK: What it leaves behind

    /// All is in the store: that something cannot be removed is no failure of the import, and the next run tries again.
    package func removeLeft() { try? journal.removeLeftFiles() }
}
