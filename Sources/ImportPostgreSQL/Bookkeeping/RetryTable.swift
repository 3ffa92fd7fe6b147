import ImportModel
import Importer

/// The lines of a retry: which reject each of its records repairs, and what has become of it.
///
/// A reject is repaired in the transaction that brings its record in, which holds it until then: whatever else retries it at the
/// same time, one of them takes it.
struct RetryTable {
    /// Of its records, those that were open are not any more, or the other way round.
    struct Changed: Error {}

    private let job: StoredJob

    /// - Returns: nil where the job is no retry.
    init?(of job: StoredJob) {
        guard job.retry != nil else { return nil }
        self.job = job
    }

    var id: PGValue { .integer(job.id) }

    // MARK: Beginning

    /// So many lines are written by one statement.
    private static let most = 1_000

    /// Notes which reject each record repairs; done again, it changes nothing.
    ///
    /// - Parameter ordinal: records up to here stay as they are noted.
    func insert(_ plan: any RetryPlan, after ordinal: Int64 = 0, _ connection: PGConnection) throws {
        let entities = (job.model?.entities ?? []).map { BytewiseString($0.name) }
        try connection.execute(BookkeepingSchema.retrying)
        try connection.execute("DELETE FROM _import_retry WHERE job = $1 AND ordinal > $2", [id, .integer(ordinal)])
        var parameters: [PGValue] = []
        func flush() throws {
            guard !parameters.isEmpty else { return }
            let rows = stride(from: 1, to: parameters.count, by: 6).map { first in
                "(\((first..<first + 6).map { "$\($0)" }.joined(separator: ", ")))"
            }
            try connection.execute(
                """
                INSERT INTO _import_retry (job, ordinal, reject, entity, is_text, record_key)
                VALUES \(rows.joined(separator: ", "))
                """,
                parameters
            )
            parameters.removeAll(keepingCapacity: true)
        }
        try plan.forEachLine(after: ordinal) { line in
            guard let place = entities.firstIndex(of: BytewiseString(line.entity)) else {
                throw ImportError.unknownRetriedEntity(line.entity)
            }
            parameters += [
                id, .integer(line.ordinal), .integer(line.reject), .integer(Int64(place)), .boolean(line.isText),
                line.key.map { .bytes(Array($0.utf8)) } ?? .null,
            ]
            if parameters.count >= Self.most * 6 { try flush() }
        }
        try flush()
    }

    // MARK: A chunk

    private func range(_ chunk: ChunkEntry) -> [PGValue] {
        [id, .integer(chunk.firstOrdinal), .integer(chunk.firstOrdinal + Int64(chunk.records) - 1)]
    }

    /// What the records of a chunk are.
    ///
    /// - Parameter areOpen: whether all are taken for open.
    /// - Throws: `ImportError` with `.badInput` when the chunk holds other records than the job was begun with.
    func records(of chunk: ChunkEntry, areOpen: Bool = false, _ connection: PGConnection) throws -> RetriedRecords {
        let rows = try connection.execute(
            """
            SELECT retry.entity, retry.is_text, retry.record_key, reject.state, reject.source, reject.byte_offset
            FROM _import_retry AS retry JOIN _import_reject AS reject ON reject.id = retry.reject
            WHERE retry.job = $1 AND retry.ordinal BETWEEN $2 AND $3 ORDER BY retry.ordinal
            """,
            range(chunk)
        )
        let records = try rows.map { row in
            RetriedRecords.Record(
                entity: Int(try row.integer(0)),
                isOpen: try areOpen || row.text(3) == RejectState.open.rawValue,
                isText: try row.bool(1),
                key: try row.optionalBytes(2),
                source: Int(try row.integer(4)),
                byteOffset: try row.integer(5)
            )
        }
        return try RetriedRecords(records, of: job.sources.first?.description.name ?? "", in: chunk)
    }

    /// Holds the open rejects of a chunk until the transaction's end.
    ///
    /// - Throws: `Changed` where they are not those that `records` has told.
    func hold(_ chunk: ChunkEntry, _ records: RetriedRecords, _ connection: PGConnection) throws {
        let open = try connection.execute(
            """
            SELECT retry.ordinal FROM _import_retry AS retry JOIN _import_reject AS reject ON reject.id = retry.reject
            WHERE retry.job = $1 AND retry.ordinal BETWEEN $2 AND $3 AND reject.state = 'open'
            ORDER BY reject.id FOR UPDATE OF reject
            """,
            range(chunk)
        ).map { try $0.integer(0) }
        let known = records.records.indices.filter { records.records[$0].isOpen }.map { records.first + Int64($0) }
        guard open.sorted() == known else { throw Changed() }
    }

    /// Settles the records of a chunk: what is not a reject again is accepted, and its reject is repaired with that.
    ///
    /// - Parameter staged: the entities whose rows are staged: theirs are settled with their buckets.
    func settle(_ chunk: ChunkEntry, staged: [Int], _ connection: PGConnection) throws {
        try connection.execute(
            """
            UPDATE _import_retry AS retry SET outcome = 'rejected' FROM _import_reject AS own
            WHERE retry.job = $1 AND retry.ordinal BETWEEN $2 AND $3 AND own.job = $1 AND own.ordinal = retry.ordinal
            """,
            range(chunk)
        )
        let isStaged = staged.isEmpty ? "false" : "retry.entity IN (\(staged.map(String.init).joined(separator: ", ")))"
        try connection.execute(
            """
            UPDATE _import_retry AS retry SET outcome = CASE reject.state WHEN 'open' THEN 'taken' ELSE 'ignored' END
            FROM _import_reject AS reject
            WHERE retry.job = $1 AND retry.ordinal BETWEEN $2 AND $3 AND reject.id = retry.reject AND retry.outcome IS NULL
                AND NOT (reject.state = 'open' AND \(isStaged))
            """,
            range(chunk)
        )
        try connection.execute(
            """
            UPDATE _import_reject SET state = 'repaired' WHERE state = 'open' AND id IN (
                SELECT reject FROM _import_retry WHERE job = $1 AND ordinal BETWEEN $2 AND $3 AND outcome = 'taken'
            )
            """,
            range(chunk)
        )
    }

    // MARK: A bucket

    /// Holds the rejects of a bucket until the transaction's end, and takes the rows away whose reject is not open any more.
    ///
    /// - Parameter stage: the bucket's table, quoted.
    /// - Returns: how many these were.
    func holdStaged(_ stage: String, _ connection: PGConnection) throws -> Int64 {
        try connection.execute(
            """
            SELECT count(*) FROM (
                SELECT reject.id FROM \(stage) AS staged
                    JOIN _import_retry AS retry ON retry.job = $1 AND retry.ordinal = staged._ordinal
                    JOIN _import_reject AS reject ON reject.id = retry.reject
                ORDER BY reject.id FOR UPDATE OF reject
            ) AS held
            """,
            [id]
        )
        let gone = try connection.execute(
            """
            WITH gone AS (
                DELETE FROM \(stage) AS staged USING _import_retry AS retry, _import_reject AS reject
                WHERE retry.job = $1 AND retry.ordinal = staged._ordinal AND reject.id = retry.reject
                    AND reject.state <> 'open'
                RETURNING staged._ordinal
            ), noted AS (
                UPDATE _import_retry SET outcome = 'ignored' WHERE job = $1 AND ordinal IN (SELECT _ordinal FROM gone)
            ) SELECT count(*) FROM gone
            """,
            [id]
        ).first?.integer(0)
        try connection.execute(
            "UPDATE _import_retry SET outcome = 'taken' WHERE job = $1 AND ordinal IN (SELECT _ordinal FROM \(stage))",
            [id]
        )
        return gone ?? 0
    }

    /// Settles the records of a bucket, when its own rejects are written.
    func settleStaged(_ connection: PGConnection) throws {
        try connection.execute(
            """
            UPDATE _import_retry AS retry SET outcome = 'rejected' FROM _import_reject AS own
            WHERE retry.job = $1 AND retry.outcome = 'taken' AND own.job = $1 AND own.ordinal = retry.ordinal
            """,
            [id]
        )
        try connection.execute(
            """
            UPDATE _import_reject SET state = 'repaired' WHERE state = 'open'
                AND id IN (SELECT reject FROM _import_retry WHERE job = $1 AND outcome = 'taken')
            """,
            [id]
        )
    }

    /// The records that have become something already, of some.
    func passedOver(in ordinals: Range<Int64>, _ connection: PGConnection) throws -> [Int64] {
        try connection.execute(
            "SELECT ordinal FROM _import_retry WHERE job = $1 AND outcome IS NOT NULL AND ordinal BETWEEN $2 AND $3",
            [id, .integer(ordinals.lowerBound), .integer(ordinals.upperBound - 1)]
        ).map { try $0.integer(0) }
    }

    // MARK: The end

    /// Opens what a job that goes has repaired.
    static func remove(_ job: StoredJob, _ connection: PGConnection) throws {
        guard job.retry != nil else { return }
        try connection.execute(
            """
            UPDATE _import_reject SET state = 'open' WHERE state = 'repaired'
                AND id IN (SELECT reject FROM _import_retry WHERE job = $1 AND outcome = 'taken')
            """,
            [.integer(job.id)]
        )
        try connection.execute("DELETE FROM _import_retry WHERE job = $1", [.integer(job.id)])
    }

    /// Rejects that were repaired since; of a retry, those that it has repaired.
    static func repaired(by job: StoredJob, _ connection: PGConnection) throws -> Int64 {
        try connection.ask(repairedQuestion(of: job.id, isRetry: job.retry != nil)).first?.integer(0) ?? 0
    }

    static func repairedQuestion(of job: Int64, isRetry: Bool = false) -> PGStatement {
        PGStatement(
            isRetry
                ? "SELECT count(*) FROM _import_retry WHERE job = $1 AND outcome = 'taken'"
                : "SELECT count(*) FROM _import_reject WHERE job = $1 AND state = 'repaired'",
            [.integer(job)]
        )
    }
}
