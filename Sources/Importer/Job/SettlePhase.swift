import GRDB
import ImportModel

/// Makes one object of the rows that have the same identifier, or rejects of the later ones, and builds the indexes, in one
/// transaction.
struct SettlePhase {
    private let run: JobRun
    private let context: RunContext

    init(_ run: JobRun) {
        self.run = run
        context = run.context
    }

    /// - Returns: the run, whose rows are what they are to be.
    /// - Throws: `ImportError`; it is as if it had not begun then.
    func settle() throws -> JobRun {
        context.progress.update { $0.phase = .finishing }
        try run.interruptibly { try settleStore() }
        return run
    }

    private func settleStore() throws {
        let (database, job, interruption) = (run.database, run.job, context.interruption)
        let (isPending, indexes) = try database.read { database in
            (try DeferredIdentifier.isPending(job: job.id, database), try StoreIndexes(of: job, database))
        }
        guard isPending || !indexes.wanted.isEmpty else { return }
        let sources = SourceRecords(of: job, opener: context.opener, interruption: interruption)
        let merge = try StoreConnection.writeIndexes(database, durability: context.options.durability) { database in
            let changes = try DeferredIdentifier.settle(job, database, sources: sources) { try interruption.check() }
            if let model = job.model {
                // What accepted nothing leaves no index behind.
                let filled = try job.takenTables(database)
                let entities = model.entities.filter { filled.contains($0.table) }
                try indexes.build(for: ModelDescription(entities: entities), database)
            }
            try interruption.check()
            return changes.allSatisfy(\.isEmpty) ? nil : try MergeLog.append(changes, of: job.id, database)
        }
        guard let merge else { return }
        context.merges.enqueue(merge)
        context.progress.update { $0.rejects += merge.changes.reduce(0) { $0 + $1.rejected } }
    }
}
