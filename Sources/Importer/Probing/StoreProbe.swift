import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

/// Fills a store with rows that are decoded already, so that writing can be measured by itself.
///
/// Made and used by one thread.
package final class StoreProbe {
    private let database: DatabaseQueue
    private let writer: StoreWriter
    private let plans: [EntityPlan]
    private var progress: CommitState

    init(_ store: String, job: StoredJob, model: ModelDescription, plans: [EntityPlan]) throws {
        database = try StoreConnection.writer(store, durability: .normal)
        let job = try database.write { database in
            var job = job
            try BookkeepingSchema.prepareBookkeeping(database, store: store)
            try job.insert(database)
            _ = try job.adopt(model, .standard, database, store: store)
            return job
        }
        progress = try database.read { try CommitState($0, job: job.id, started: .now) }
        writer = try StoreWriter(store: store, job: job, plans: plans, durability: .normal)
        self.plans = plans
    }

    /// Inserts all rows in one transaction, which is then rolled back.
    ///
    /// - Parameters:
    ///   - rows: what to write, in no images; of one entity, without an identifier.
    ///   - measure: called once with what is to be measured: the rows, and not the transaction around them.
    /// - Returns: how many rows were inserted.
    /// - Throws: `DatabaseError` when SQLite fails.
    package func bind(_ rows: ProbeRows, measure: (() throws -> Void) throws -> Void) throws -> Int {
        var inserted = 0
        try database.inDatabase { database in
            let writers = try plans.map { plan in
                plan.laysOutRows = false
                return try RowWriter(database, plan: plan, constraints: TableConstraints(of: plan.entity, database))
            }
            try database.inTransaction(.immediate) {
                try measure {
                    for chunk in rows.chunks {
                        for batch in chunk.batches {
                            for writer in writers {
                                try writer.write(
                                    batch.content.rows,
                                    chunkBytes: chunk.bytes,
                                    settle: {}
                                ) { _, effect in
                                    if case .inserted = effect { inserted += 1 }
                                }
                            }
                        }
                    }
                }
                return .rollback
            }
        }
        return inserted
    }

    /// Commits all batches, each with everything that counts it.
    ///
    /// - Returns: how many rows were inserted.
    /// - Throws: `ImportError` when the store cannot be written.
    package func commit(_ rows: ProbeRows) throws -> Int64 {
        var inserted: Int64 = 0
        for chunk in rows.chunks {
            for batch in chunk.batches {
                let notification = try writer.commit(
                    [batch],
                    chunkBytes: chunk.bytes,
                    progress: &progress,
                    isSynced: false
                )
                inserted += notification.changes.reduce(0) { $0 + $1.inserted }
            }
        }
        return inserted
    }

    /// Closes both connections.
    ///
    /// - Throws: `DatabaseError` when SQLite fails.
    package func close() throws {
        try writer.close()
        try database.close()
    }
}
