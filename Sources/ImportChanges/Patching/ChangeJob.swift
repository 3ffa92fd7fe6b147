import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Begins, resumes and ends a job that changes what is there.
struct ChangeJob {
    let context: RunContext
    /// Locked.
    let destination: SQLiteDestination

    /// Runs a job to its end.
    ///
    /// - Parameter prepare: begins or resumes it in the store.
    /// - Returns: its report, when it is finished.
    /// - Throws: `ImportError`; `ConflictStop` where conflicts stop it, and it can be resumed.
    func run(_ prepare: (StoreSession) throws -> any ChangeRun) throws -> ImportReport {
        guard let session = try destination.open() as? StoreSession else {
            throw ImportError(.fault, at: context.store, "the store is not open")
        }
        let run: any ChangeRun
        do {
            run = try prepare(session)
        } catch {
            destination.abandon()
            throw error
        }
        var job = run.job
        context.onBeginning(job.id)
        do {
            do {
                context.progress.update {
                    $0.phase = .importing
                    $0.totalBytes = job.sources[0].description.plainSize
                }
                job = try session.start(job, seconds: run.seconds)
                try run.apply()
                try finish(job, run, session)
            } catch {
                let failure = explain(error)
                let state: ImportReport.State = failure.isInterruption ? .interrupted : .failed
                try? session.stop(job, state, failure.message, seconds: run.seconds)
                throw error
            }
            return try destination.close(after: job)
        } catch {
            destination.fail(job)
            guard let stop = error as? ConflictStop else { throw explain(error) }
            throw stop
        }
    }

    private func finish(_ job: StoredJob, _ run: any ChangeRun, _ session: StoreSession) throws {
        let seconds = run.seconds
        let last = try session.finish(job, seconds: seconds) { database in
            try run.tables(database).filter { try TableFingerprint.isPossible($0, database) }
        }
        context.merges.enqueue(last)
        try? session.removeLeftFiles()
        context.progress.update { ($0.phase, $0.seconds) = (.finished, seconds) }
    }

    private func explain(_ error: any Error) -> ImportError {
        if let stop = error as? ConflictStop { return .conflicts(Int64(stop.conflicts.count), at: nil, isBegun: true) }
        return destination.explain(error)
    }
}

extension ImportError {
    /// A store is not what changes lead from.
    ///
    /// - Parameter isBegun: whether there is a job that can be resumed.
    package static func conflicts(_ count: Int64, at store: String?, isBegun: Bool) -> ImportError {
        let what = count == 1 ? "1 conflict" : "\(count.grouped) conflicts"
        return ImportError(
            .changesConflict,
            at: store,
            "the store does not have the old values of the changes: \(what)",
            advice: isBegun
                ? "What was committed before stays. Correct the store and resume (\(call: .resuming(store: store))), or "
                    + "\(.sameAgain) with \(.conflicts)."
                : "Nothing was written. Choose with \(.conflicts): keep, take or reject."
        )
    }
}
