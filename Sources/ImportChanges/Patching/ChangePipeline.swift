import ImportEngine
import ImportSQLite
import ImportSources
import Synchronization

/// What the pipelines have in common that change what is there: each is run once, and has a report also where conflicts stop it.
package final class ChangePipeline: Sendable {
    package let store: String
    package let options: RunOptions
    package let merges: MergeCenter
    package let progress = ImportProgress()
    package let interruption = Interruption()
    private let isSpent = Atomic(false)
    private let found = Mutex<ImportReport?>(nil)

    package init(_ store: String, _ options: RunOptions, _ merges: MergeCenter) {
        self.store = StoreFile.resolved(store)
        self.options = options
        self.merges = merges
    }

    /// What has been found out up to now; nil before that.
    package var report: ImportReport? {
        get { found.withLock { $0 } }
        set { found.withLock { $0 = newValue } }
    }

    /// Does the work with a store that is there and locked.
    ///
    /// - Throws: `ImportError`, also in place of a `ConflictStop`.
    package func run(_ work: (RunContext, SQLiteDestination) throws -> ChangeOutcome) throws -> ChangeOutcome {
        guard !isSpent.exchange(true, ordering: .relaxed) else {
            throw ImportError(
                .pipelineSpent,
                at: store,
                "this pipeline has been run already",
                advice: "Make a new pipeline for each run."
            )
        }
        return try progress.ending {
            let destination = SQLiteDestination(store, durability: options.durability, interruption)
            defer {
                destination.unlock()
                merges.close()
            }
            do {
                try merges.open()
                try destination.checkIsThere()
                try options.check()
                try destination.lock()
                let outcome = try work(context, destination)
                if !outcome.wasAlreadyFinished { report = outcome.report }
                return outcome
            } catch let stop as ConflictStop {
                note(stop)
                throw ImportError.conflicts(Int64(stop.conflicts.count), at: store, isBegun: true)
            } catch {
                throw destination.explain(error)
            }
        }
    }

    private var context: RunContext {
        RunContext(
            store: store,
            options: options,
            progress: progress,
            interruption: interruption.child(),
            merges: merges
        )
    }

    /// Adds the conflicts that have stopped a job to its report.
    private func note(_ stop: ConflictStop) {
        guard var report = (try? StoreInspection(store: store).status()) ?? report else { return }
        let list = (report.conflictList ?? []) + stop.conflicts
        report.conflicts = (report.conflicts ?? 0).addingClamped(Int64(stop.conflicts.count))
        report.conflictList = Array(list.prefix(PatchConflict.mostListed))
        self.report = report
    }
}
