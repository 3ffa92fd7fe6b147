import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// What the writers of an import's workers have in common: the store, the job, and who makes the checkpoints.
package final class StoreWriterFactory: BatchWriterFactory {
    package let progress: CommitState
    package let unread: [[AttributeDescription]]
    private let store: String
    private let file: StoreFile
    private let job: StoredJob
    private let durability: RunOptions.Durability
    private let checkpointer: Checkpointer
    private let interruption: Interruption

    /// - Parameters:
    ///   - session: the store's; open for longer than this.
    ///   - interruption: ends what takes long before a commit.
    /// - Throws: `ImportError` when the store cannot be read, or the system gives no thread.
    package init(
        _ session: StoreSession,
        _ job: StoredJob,
        _ model: ModelDescription,
        durability: RunOptions.Durability,
        started: ContinuousClock.Instant,
        _ interruption: Interruption
    ) throws {
        self.interruption = interruption
        (store, file) = (session.store, session.file)
        self.job = job
        self.durability = durability
        let known = try session.readIfThere { database in
            let unread = try model.isFlat ? model.entities.map { try job.unread(besides: $0, database) } : []
            return (try CommitState(database, job: job.id, started: started), unread)
        }
        guard let known else { throw ImportError(.fault, at: session.store, "the store is closed") }
        (progress, unread) = known
        checkpointer = try Checkpointer(store: store, file: file, durability: durability)
    }

    package func writer(_ plans: [EntityPlan], _ graph: GraphPlan?, _ progress: CommitState) throws -> StoreWriter {
        try StoreWriter(
            store: store,
            file: file,
            job: job,
            plans: plans,
            graph: graph,
            deferred: progress.deferredIdentifiers,
            isAppending: progress.isAppending,
            durability: durability,
            checkpointer: checkpointer,
            interruption: interruption
        )
    }

    package func close() throws { try checkpointer.close() }
}
