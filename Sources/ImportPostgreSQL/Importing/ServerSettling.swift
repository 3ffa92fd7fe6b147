import Foundation
import ImportModel
import Importer

/// Makes objects of the rows that were staged, bucket by bucket: each is leased and fenced as a chunk is, and is one transaction.
///
/// Any number of workers, in any process that takes part, settle side by side.
struct ServerSettling {
    private let task: ChunkWorker.Task
    private let owner: String
    private let plans: [EntityPlan]

    private var job: Int64 { task.job.id }
    private var label: String { task.store.label }

    /// - Throws: `ImportError` where the model cannot be imported with.
    init(_ task: ChunkWorker.Task) throws {
        self.task = task
        owner = ChunkWorker.makeOwner()
        plans = try ChunkWorker.plans(task)
    }

    /// Whether some entity has rows to be settled.
    static func isNeeded(_ model: ModelDescription) -> Bool { model.entities.contains { !$0.identifier.isEmpty } }

    // MARK: After all

    /// Ends the settling of all entities: indexes of tables that were empty, and no staging tables any more.
    func finish(_ session: ServerSession) throws {
        for (position, entity) in task.model.entities.enumerated() where !entity.identifier.isEmpty {
            try session.write { connection in
                let settlement = try StagedEntities.settlement(of: task.job, position, entity, connection)
                // A table that was not empty has its index already.
                _ = try connection.execute("SET LOCAL maintenance_work_mem = '256MB'")
                try ServerTables.prepareIdentifier(of: entity, connection, label: label)
                _ = try connection.execute(settlement.finish)
            }
        }
    }

    // MARK: A worker

    private struct Bucket {
        let position: Int
        let number: Int
        let attempts: Int64
    }

    /// Settles buckets until all are done.
    ///
    /// - Throws: `ImportError`; each bucket is settled, or as if that had not begun.
    func work() throws {
        let link = ServerLink(task.store, task.interruption)
        defer { link.close() }
        while true {
            try task.interruption.check()
            if let bucket = try link.use({ try lease($0) }) {
                try settle(bucket, link)
                continue
            }
            let isOpen = try link.use { connection in
                try !connection.execute(
                    "SELECT 1 FROM _import_settle WHERE job = $1 AND state = 'open' LIMIT 1",
                    [.integer(job)]
                ).isEmpty
            }
            guard isOpen else { return }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    private func lease(_ connection: ServerConnection) throws -> Bucket? {
        let row = try connection.execute(
            """
            UPDATE _import_settle SET owner = $1, attempts = attempts + 1,
                lease_until = clock_timestamp() + interval '\(ChunkTable.leaseSeconds * 10) s'
            WHERE job = $2 AND (position, bucket) = (
                SELECT position, bucket FROM _import_settle
                WHERE job = $2 AND state = 'open' AND lease_until < clock_timestamp()
                ORDER BY position, bucket LIMIT 1 FOR UPDATE SKIP LOCKED
            ) RETURNING position, bucket, attempts
            """,
            [.text(owner), .integer(job)]
        ).first
        guard let row else { return nil }
        return Bucket(
            position: Int(try row.integer(0)),
            number: Int(try row.integer(1)),
            attempts: try row.integer(2)
        )
    }

    private func settle(_ bucket: Bucket, _ link: ServerLink) throws {
        do {
            _ = try link.commit(
                { connection in try transaction(bucket, connection) },
                wasDone: { connection in
                    try !connection.execute(
                        """
                        SELECT 1 FROM _import_settle WHERE job = $1 AND position = $2 AND bucket = $3
                            AND state = 'done' AND owner = $4 AND attempts = $5 FOR UPDATE
                        """,
                        key(bucket) + [.text(owner), .integer(bucket.attempts)]
                    ).isEmpty
                }
            )
        } catch {
            // Others need not wait for the lease's end.
            _ = try? link.use { connection in
                try connection.execute(
                    """
                    UPDATE _import_settle SET lease_until = '-infinity' WHERE job = $1 AND position = $2 AND bucket = $3
                        AND state = 'open' AND owner = $4 AND attempts = $5
                    """,
                    key(bucket) + [.text(owner), .integer(bucket.attempts)]
                )
            }
            throw error
        }
    }

    private func key(_ bucket: Bucket) -> [ServerValue] {
        [.integer(job), .integer(Int64(bucket.position)), .integer(Int64(bucket.number))]
    }

    /// - Returns: whether the bucket was this lease's to settle.
    private func transaction(_ bucket: Bucket, _ connection: ServerConnection) throws -> Bool {
        try connection.transaction(task.store.durableBegin) {
            let isOurs =
                try connection.execute(
                    """
                    UPDATE _import_settle SET state = 'done' WHERE job = $1 AND position = $2 AND bucket = $3
                        AND state = 'open' AND owner = $4 AND attempts = $5
                    """,
                    key(bucket) + [.text(owner), .integer(bucket.attempts)]
                ).affected == 1
            guard isOurs else { return false }
            let entity = task.model.entities[bucket.position]
            let settlement = try StagedEntities.settlement(of: task.job, bucket.position, entity, connection)
            let statements = settlement.statements(ofBucket: bucket.number)
            let retries = RetryTable(of: task.job)
            connection.isInterruptible = true
            defer { connection.isInterruptible = false }
            let ignored = try retries?.holdStaged(settlement.name(ofBucket: bucket.number), connection) ?? 0
            for statement in statements.settling { _ = try connection.execute(statement) }
            let rejects = try connection.execute(statements.rejects).map { row in
                (ordinal: try row.integer(0), isMissing: try row.bool(2))
            }
            if !rejects.isEmpty { try write(rejects, of: bucket, connection) }
            try retries?.settleStaged(connection)
            guard let counts = try connection.execute(statements.counts).first else { return true }
            // A chunk has a number from 1; what buckets come to is counted below that.
            _ = try connection.execute(
                """
                INSERT INTO _import_count (job, chunk, position, inserted, updated, unchanged, ignored, rejected)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                """,
                [
                    .integer(job), .integer(-Int64(bucket.number) - 1), .integer(Int64(bucket.position)),
                    .integer(try counts.integer(0)), .integer(try counts.integer(1)), .integer(try counts.integer(2)),
                    .integer(try counts.integer(3) + ignored), .integer(try counts.integer(4)),
                ]
            )
            return true
        }
    }

    // MARK: Rejects

    /// Makes rejects of records, whose bytes are in their chunks still.
    private func write(
        _ rejects: [(ordinal: Int64, isMissing: Bool)],
        of bucket: Bucket,
        _ connection: ServerConnection
    ) throws {
        let decoder = try LateDecoder(task, plans)
        let chunks = ChunkTable(job: job)
        var rest = rejects[...]
        while let first = rest.first {
            let entry = try chunks.entry(having: first.ordinal, connection, label: label)
            let end = entry.firstOrdinal + Int64(entry.records)
            let own = rest.prefix { $0.ordinal < end }
            rest = rest.dropFirst(own.count)
            let missing = Set(own.filter(\.isMissing).map(\.ordinal))
            var tally = ServerCounts.Tally(entities: plans.count)
            let retried = try RetryTable(of: task.job)?.records(of: entry, areOpen: true, connection)
            for reject in try decoder.rejects(Set(own.map(\.ordinal)), missing: missing, of: entry, retried) {
                tally.rejectLate(reject)
            }
            guard tally.rejects.count == own.count else {
                throw ImportError(
                    .fault,
                    at: label,
                    "the chunk \(entry.number) has not all records that are rejects now"
                )
            }
            // Counted below the chunk's own rows.
            try ServerCounts(job: task.job, plans: plans)
                .writeRejects(tally, of: entry, place: 1_000_000 * (bucket.number + 1), connection)
        }
    }
}

/// Finds records again in a chunk that is committed already.
private final class LateDecoder {
    private let task: ChunkWorker.Task
    private let plans: [EntityPlan]
    private let decoder: ChunkDecoder<UnusedLayout>

    init(_ task: ChunkWorker.Task, _ plans: [EntityPlan]) throws {
        self.task = task
        self.plans = plans
        decoder = ChunkWorker.decoder(task, plans)
    }

    /// The rejects that records of a chunk are.
    ///
    /// - Parameters:
    ///   - ordinals: the records'.
    ///   - missing: those of them that lack what a new object needs; of the others the object is there already.
    func rejects(
        _ ordinals: Set<Int64>,
        missing: Set<Int64>,
        of entry: ChunkEntry,
        _ retried: RetriedRecords?
    ) throws -> [RowBatch.Reject] {
        let source = task.job.sources[entry.source]
        let chunk = SealedChunk(
            entry,
            in: task.directory,
            shape: source.shape,
            maxRecordBytes: SplitLimits(task.job.options).maxRecordBytes
        )
        try decoder.open(chunk, skipping: .none, source: source.description.name, retried: retried)
        var rejects: [RowBatch.Reject] = []
        var batch = DecodedBatch<UnusedLayout>()
        while !decoder.isExhausted {
            try task.interruption.check()
            decoder.decode(upTo: 8_192, into: &batch)
            let late = LateRejects(plans: plans, chunkBytes: decoder.bytes)
            for (place, row) in batch.rows.rows.enumerated() where ordinals.contains(row.ordinal) {
                if missing.contains(row.ordinal), row.unmet >= 0 {
                    rejects.append(batch.rows.unmet[Int(row.unmet)])
                } else {
                    let error = plans[Int(row.entity)]
                        .duplicateError(at: batch.rows.places[place].identifierOffset)
                    rejects.append(late.reject(place, error, batch.rows))
                }
            }
        }
        return rejects
    }
}
