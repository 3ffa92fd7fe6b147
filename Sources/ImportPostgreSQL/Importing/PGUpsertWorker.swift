import Foundation
import ImportModel
import Importer

/// Makes objects of the rows that were staged, bucket by bucket: each is leased and fenced as a chunk is, and is one transaction.
///
/// Any number of workers, in any process that takes part, settle side by side.
struct PGUpsertWorker {
    /// How long a bucket is a worker's own before its transaction begins, in seconds; from then on its row is locked, and whoever
    /// looks for a bucket skips it.
    private static let leaseSeconds = 10

    private let task: ChunkWorker.Task
    private let owner: String
    private let model: PGModel

    private var job: Int64 { task.job.id }
    private var label: String { task.store.label }

    /// - Throws: `ImportError` where the model cannot be imported with.
    init(_ task: ChunkWorker.Task) throws {
        self.task = task
        owner = ChunkWorker.makeOwner()
        model = try task.serverModel()
    }

    // MARK: After all

    /// Ends the settling of all entities: indexes of tables that were empty, and no staging tables any more.
    func finish(_ session: PGLockingSession) throws {
        let settled = model.tables.filter { !$0.1.identifier.isEmpty }
        try session.write { connection in
            let questions = settled.flatMap { _, entity in
                [
                    PGTables.indexesQuestion(entity.table),
                    PGTables.kindQuestion(PGTables.identifierName(of: entity.table)),
                ]
            }
            // A table that was not empty has its index already.
            connection.post("SET LOCAL maintenance_work_mem = '256MB'")
            for (_, entity) in settled {
                try PGTables.prepareIdentifier(of: entity, connection, label: label, with: questions)
            }
            for (position, _) in settled {
                connection.post(StagingUpsert.dropping(PGTables.quoted(StagingName.rows(of: job, position))))
            }
        }
    }

    // MARK: A worker

    /// Removes the buckets of entities of which no record was read.
    ///
    /// - Returns: how many are to be settled; those of relationships, of which that is not known, all count.
    func removeEmptyBuckets(_ session: PGLockingSession) throws -> Int {
        let left = PGStatement(
            "SELECT count(*) FROM _import_settle WHERE job = $1 AND state IN ('open', 'waiting')",
            [.integer(job)]
        )
        if model.related == nil {
            session.upcoming = [left]
            defer { session.upcoming.removeAll() }
            try session.write { connection in
                connection.post(
                    """
                    DELETE FROM _import_settle WHERE job = $1 AND state = 'open' AND position NOT IN (
                        SELECT position FROM _import_count WHERE job = $1 AND chunk > 0 AND records_read > 0
                    )
                    """,
                    [.integer(job)]
                )
            }
        }
        return Int(try session.read { try $0.ask(left).first?.integer(0) ?? 0 })
    }

    private struct Bucket {
        let position: Int
        let number: Int
        let attempts: Int64
    }

    /// Settles buckets until all are done.
    ///
    /// - Throws: `ImportError`; each bucket is settled, or as if that had not begun.
    func work(_ link: PGWorkerConnection) throws {
        var idleTime = IdleTimer()
        while true {
            try task.interruption.check()
            let (bucket, isOpen, isWaiting) = try link.use { try lease($0) }
            if let bucket {
                try settle(bucket, link)
                continue
            }
            guard isOpen || isWaiting else { return }
            // The importing process says when buckets that wait can be settled.
            if !isOpen, let seconds = task.endsWithout {
                let isLed = try link.use { [task] in try PGLockingSession.isLockHeld($0, task.store.lockName) }
                try idleTime.check(isLed: isLed, seconds, at: label)
            }
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    /// - Returns: a bucket; where there is none now, whether some are open, and whether some wait.
    private func lease(_ connection: PGConnection) throws -> (Bucket?, isOpen: Bool, isWaiting: Bool) {
        let row = try connection.execute(
            """
            WITH lease AS (
                UPDATE _import_settle SET owner = $1, attempts = attempts + 1,
                    lease_until = clock_timestamp() + interval '\(Self.leaseSeconds) s'
                WHERE job = $2 AND (position, bucket) = (
                    SELECT position, bucket FROM _import_settle
                    WHERE job = $2 AND state = 'open' AND lease_until < clock_timestamp()
                    ORDER BY position, bucket LIMIT 1 FOR UPDATE SKIP LOCKED
                ) RETURNING position, bucket, attempts
            )
            SELECT lease.position, lease.bucket, lease.attempts, states.is_open, states.is_waiting
            FROM (
                SELECT bool_or(state = 'open') AS is_open, bool_or(state = 'waiting') AS is_waiting
                FROM _import_settle WHERE job = $2
            ) AS states LEFT JOIN lease ON true
            """,
            [.text(owner), .integer(job)]
        ).first
        guard let row else { return (nil, false, false) }
        guard let position = try row.optionalInteger(0) else {
            return (nil, try row.optionalBool(3) ?? false, try row.optionalBool(4) ?? false)
        }
        let bucket = Bucket(position: Int(position), number: Int(try row.integer(1)), attempts: try row.integer(2))
        return (bucket, true, true)
    }

    private func settle(_ bucket: Bucket, _ link: PGWorkerConnection) throws {
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

    private func key(_ bucket: Bucket) -> [PGValue] {
        [.integer(job), .integer(Int64(bucket.position)), .integer(Int64(bucket.number))]
    }

    /// - Returns: whether the bucket was this lease's to settle.
    private func transaction(_ bucket: Bucket, _ connection: PGConnection) throws -> Bool {
        try connection.transaction(task.store.durableBegin) {
            // For as long as the row is locked, nobody else settles the bucket.
            connection.remembers = true
            defer { connection.remembers = false }
            let isOurs =
                try connection.execute(
                    """
                    UPDATE _import_settle SET state = 'done' WHERE job = $1 AND position = $2 AND bucket = $3
                        AND state = 'open' AND owner = $4 AND attempts = $5
                    """,
                    key(bucket) + [.text(owner), .integer(bucket.attempts)],
                    asking: StagingTables.questions(of: job, model.entities[bucket.position].table)
                ).affected == 1
            guard isOurs else { return false }
            connection.isInterruptible = true
            defer { connection.isInterruptible = false }
            do {
                try makeObjects(of: bucket, connection)
            } catch let failure as PGError where model.related != nil && failure.isAboutRow {
                // Where a table may refuse rows, all is settled at once.
                throw failure.importError(at: label, showsValues: task.store.showsValues).advising(
                    """
                    What refuses the row has come to \(model.entities[bucket.position].table) while the import settles. Take it \
                    away until that is done: \(call: .resuming(store: label)).
                    """
                )
            }
            return true
        }
    }

    /// Makes objects of a bucket's rows, and counts them.
    ///
    /// - Parameter most: where entities relate to one another, up to how many records are told that the server refuses; nil where that is
    ///   not expected.
    /// - Returns: these; what else the bucket has is settled, and nothing is counted.
    @discardableResult
    private func makeObjects(
        of bucket: Bucket,
        keepsRows: Bool = false,
        most: Int? = nil,
        _ connection: PGConnection
    ) throws -> [RefusedRow] {
        let upsert = try StagingTables.upsert(of: task.job, bucket.position, model, connection)
        let statements = upsert.statements(ofBucket: bucket.number)
        // Of entities that relate to one another, it is known by now which records are accepted.
        let retries = model.related == nil ? RetryTable(of: task.job) : nil
        for statement in statements.settings { connection.post(statement) }
        let ignored = try retries?.holdStaged(upsert.name(ofBucket: bucket.number), connection) ?? 0
        if var counts = try settleShort(statements, keepsRows: keepsRows, connection) {
            try retries?.settleStaged(connection)
            counts.records[3] += ignored
            try write(counts, of: bucket, connection)
            return []
        }
        for statement in statements.reading { connection.post(statement) }
        let failure = try connection.refusal {
            for statement in statements.writing { connection.post(statement) }
        }
        if let failure {
            // A record goes with all that is nested in it, and what others say of that.
            guard model.related == nil || most != nil else { throw failure }
            var bisection = BisectingUpsert(
                statements.parts,
                model.related == nil ? task.job.options.onConflict : .merge,
                connection,
                task.interruption
            )
            try bisection.settle(after: failure)
            let refused = try most.map { try self.refused(position: bucket.position, most: $0, connection) }
            if let refused, !refused.isEmpty { return refused }
        }
        if !keepsRows { connection.post(statements.emptying) }
        try LateRejectFinder(task, model).reject(
            by: statements.rejects,
            position: bucket.position,
            bucket: bucket.number,
            connection
        )
        try retries?.settleStaged(connection)
        var counts = Counts()
        if let row = try connection.execute(statements.counts).first {
            counts.records = try (0..<5).map { try row.integer($0) }
        }
        counts.records[3] += ignored
        if let row = try statements.nestedCounts.flatMap({ try connection.execute($0).first }) {
            counts.nested = try (0..<3).map { try row.integer($0) }
        }
        guard let subentities = statements.subentityCounts else {
            try write(counts, of: bucket, connection)
            return []
        }
        for row in try connection.execute(subentities) {
            var counts = Counts()
            counts.records = try (1..<6).map { try row.integer($0) }
            counts.nested = try (6..<9).map { try row.integer($0) }
            try write(counts, of: bucket, entity: Int(row.integer(0)), connection)
        }
        return []
    }

    // MARK: Within another transaction

    /// Makes objects of all of an entity's rows, which stay.
    ///
    /// - Parameter most: up to how many of the records are told that the server refuses; nil where the first one ends it.
    /// - Returns: these; where there are any, the transaction is not to be committed.
    /// - Throws: `PGError`, `ImportError`.
    func makeObjects(of position: Int, most: Int?, _ connection: PGConnection) throws -> [RefusedRow] {
        let buckets = try StagingTables.upsert(of: task.job, position, model, connection).buckets
        var refused: [RefusedRow] = []
        for number in 0..<buckets where refused.count < most ?? 1 {
            let bucket = Bucket(position: position, number: number, attempts: 0)
            refused += try makeObjects(of: bucket, keepsRows: true, most: most, connection)
            try dropTables(connection)
        }
        return refused
    }

    /// Drops the temporary tables of a bucket, so that another one can be settled.
    private func dropTables(_ connection: PGConnection) throws {
        let names = try connection.execute(
            """
            SELECT string_agg('pg_temp.' || relname, ', ') FROM pg_catalog.pg_class
            WHERE relnamespace = pg_catalog.pg_my_temp_schema() AND relkind = 'r' AND (relname ~ '^_import_turn_'
                OR relname IN ('_import_contended', '_import_counted', '_import_key', '_import_kind', '_import_refused'))
            """
        ).first?.optionalText(0)
        if let names { _ = try connection.execute("DROP TABLE \(names)") }
    }

    /// The records that the server has refused of the bucket at hand, the first of them.
    private func refused(position: Int, most: Int, _ connection: PGConnection) throws -> [RefusedRow] {
        let entity = model.entities[position].name
        return try connection.execute(BisectionStatements.refused, [.integer(Int64(most))]).map { row in
            let error = RecordError(
                entity: entity,
                keyPath: "",
                code: CoercionError.Code(rawValue: try row.text(1)) ?? .constraintViolation,
                expected: try row.text(2),
                found: try row.text(3),
                byteOffset: 0
            )
            return RefusedRow(ordinal: try row.integer(0), error: error)
        }
    }

    /// Settles a bucket each of whose rows is an object of its own.
    ///
    /// - Returns: what it comes to; nil where it is none.
    private func settleShort(
        _ statements: BucketUpsertStatements,
        keepsRows: Bool,
        _ connection: PGConnection
    ) throws -> Counts? {
        guard let short = statements.short, let row = try connection.execute(short.asking).first, try row.bool(2) else {
            return nil
        }
        // What is refused is found by the long way.
        let failure = try connection.refusal { connection.post(short.inserting) }
        guard failure == nil else { return nil }
        if !keepsRows { connection.post(statements.emptying) }
        let (all, nested) = (try row.integer(0), try row.integer(1))
        var counts = Counts()
        counts.records[0] = all - nested
        counts.nested[0] = nested
        return counts
    }

    /// What a bucket comes to.
    private struct Counts {
        /// Inserted, updated, unchanged, ignored and rejected.
        var records: [Int64] = [0, 0, 0, 0, 0]
        /// Inserted, updated and unchanged.
        var nested: [Int64] = [0, 0, 0]
    }

    /// A chunk has a number from 1; what buckets come to is counted below that.
    ///
    /// - Parameter entity: whose rows it is about; nil for that of the table.
    private func write(
        _ counts: Counts,
        of bucket: Bucket,
        entity: Int? = nil,
        _ connection: PGConnection
    ) throws {
        let all = counts.records + counts.nested + [counts.nested.reduce(0, +)]
        connection.post(
            """
            INSERT INTO _import_count (
                job, chunk, position, inserted, updated, unchanged, ignored, rejected,
                nested_inserted, nested_updated, nested_unchanged, nested
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
            """,
            [.integer(job), .integer(-Int64(bucket.number) - 1), .integer(Int64(entity ?? bucket.position))]
                + all.map { .integer($0) }
        )
    }
}
