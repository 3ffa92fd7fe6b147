import Importer

/// A chunk that a worker has taken for a while: others may take it again when the time is over, and the fence decides who
/// commits it.
struct ChunkLease: Sendable {
    let entry: ChunkEntry
    /// How often it was taken, this time included; with the owner it tells this lease from all others.
    let attempts: Int64
}

/// A job's chunks as the server has them: sealed, taken for a while, done.
///
/// Times are the server's, whatever the clocks of the hosts say.
struct ChunkTable: Sendable {
    /// How long a chunk is a worker's own, in seconds.
    static let leaseSeconds = 60
    /// A chunk that was taken so often in vain fails the job.
    static let mostAttempts = 5

    let job: Int64

    // MARK: Cutting

    /// The last chunk after which cutting goes on; 0 for none.
    ///
    /// Where all chunks before the last one that is done are done, too, those after it are cut again: their source may have been
    /// corrected, or their files may be gone. Otherwise all that have a row count.
    func lastKept(_ connection: PGConnection) throws -> Int64 {
        try connection.execute(Self.lastKept, [.integer(job)]).first?.integer(0) ?? 0
    }

    private static let lastKept = """
        SELECT CASE WHEN first_open < last_done THEN last ELSE last_done END AS number FROM (
            SELECT coalesce(max(number) FILTER (WHERE state = 'done'), 0) AS last_done,
                min(number) FILTER (WHERE state <> 'done') AS first_open, max(number) AS last
            FROM _import_chunk WHERE job = $1
        ) AS ends
        """

    /// Removes the rows of chunks that are registered again.
    ///
    /// No worker commits a chunk meanwhile: one that was committed after the last that is kept was found, with another one before it
    /// that goes, would leave a gap.
    ///
    /// - Returns: the last chunk that is kept; there is none after it.
    func removeAfterLastKept(_ connection: PGConnection) throws -> Int64 {
        _ = try connection.execute("LOCK TABLE _import_chunk IN SHARE ROW EXCLUSIVE MODE")
        let kept = try lastKept(connection)
        _ = try connection.execute(
            "DELETE FROM _import_chunk WHERE job = $1 AND number > $2",
            [.integer(job), .integer(kept)]
        )
        return kept
    }

    /// Where cutting goes on: the end of the last chunk that counts.
    ///
    /// - Parameters:
    ///   - kept: that chunk; nil to find it.
    ///   - questions: what is asked with it.
    func cutMarker(
        _ connection: PGConnection,
        keeping kept: Int64? = nil,
        label: String,
        with questions: [PGStatement] = []
    ) throws -> Marker {
        var marker = Marker()
        guard let row = try connection.ask(markerQuestion(keeping: kept), with: questions).first else { return marker }
        marker.seconds = try row.optionalDouble(0) ?? 0
        // There is none, or it is gone.
        guard let text = try row.optionalText(1) else { return marker }
        let entry = try entry(text, label: label)
        marker.source = entry.isLast ? entry.source + 1 : entry.source
        marker.byteOffset = entry.isLast ? 0 : entry.endByte
        marker.chunkStart = entry.isLast ? .start : entry.end
        marker.recordOrdinal = entry.firstOrdinal + Int64(entry.records) - 1
        marker.bytes = try row.integer(2)
        marker.chunksDone = Int(try row.integer(3))
        marker.commits = Int64(marker.chunksDone)
        return marker
    }

    /// Asks for the time that a job has taken, the last chunk that counts, and the sums of all up to that.
    func markerQuestion(keeping kept: Int64?) -> PGStatement {
        PGStatement(
            """
            WITH kept AS (SELECT coalesce($2::bigint, (\(Self.lastKept))) AS number)
            SELECT (SELECT seconds FROM _import_job WHERE id = $1), (
                SELECT entry FROM _import_chunk AS chunk WHERE chunk.job = $1 AND chunk.number = kept.number
            ), coalesce(sum(bytes), 0)::bigint, coalesce(sum(chunks), 0)::bigint
            FROM kept LEFT JOIN LATERAL (
                SELECT max(end_byte) - CASE WHEN min(first_byte) > 4 THEN min(first_byte) ELSE 0 END AS bytes,
                    count(*) AS chunks FROM _import_chunk AS chunk
                WHERE chunk.job = $1 AND chunk.number <= kept.number GROUP BY source
            ) AS sources ON true GROUP BY kept.number
            """,
            [.integer(job), kept.map { .integer($0) } ?? .null]
        )
    }

    private func entry(_ text: String, label: String) throws -> ChunkEntry {
        guard let entry = try? BookkeepingJSON.decode(ChunkEntry.self, text) else {
            throw ImportError(
                .storeDamaged,
                at: label,
                "the store is damaged: _import_chunk.entry of the job \(job)",
                advice: "Restore it from a backup."
            )
        }
        return entry
    }

    /// Calls `body` with the chunks that are done and have values outside of the records, in their order.
    func forEachWithOutside(_ connection: PGConnection, label: String, _ body: (ChunkEntry) -> Void) throws {
        let rows = try connection.execute(
            """
            SELECT entry FROM _import_chunk WHERE job = $1 AND state = 'done' AND strpos(entry, '"outsideValues"') > 0
            ORDER BY number
            """,
            [.integer(job)]
        )
        for row in rows { body(try entry(row.text(0), label: label)) }
    }

    /// The chunk that has a record.
    func entry(having ordinal: Int64, _ connection: PGConnection, label: String) throws -> ChunkEntry {
        let row = try connection.execute(
            """
            SELECT entry FROM _import_chunk WHERE job = $1 AND first_ordinal <= $2 AND records > 0
            ORDER BY first_ordinal DESC LIMIT 1
            """,
            [.integer(job), .integer(ordinal)]
        ).first
        guard let row else { throw ImportError(.fault, at: label, "no chunk has the record \(ordinal)") }
        return try entry(row.text(0), label: label)
    }

    /// The first chunk with records after another one, by its number; nil where there is none.
    func entry(after number: Int, _ connection: PGConnection, label: String) throws -> ChunkEntry? {
        try connection.execute(
            """
            SELECT entry FROM _import_chunk WHERE job = $1 AND number > $2 AND records > 0 ORDER BY number LIMIT 1
            """,
            [.integer(job), .integer(Int64(number))]
        ).first.map { try entry($0.text(0), label: label) }
    }

    /// The next thousand chunks after another one, by their numbers, and whether they are done; none after the last one.
    func states(
        after number: Int,
        _ connection: PGConnection,
        label: String
    ) throws -> [(entry: ChunkEntry, isDone: Bool)] {
        try connection.execute(
            """
            SELECT entry, state = 'done' FROM _import_chunk WHERE job = $1 AND number > $2 ORDER BY number LIMIT 1000
            """,
            [.integer(job), .integer(Int64(number))]
        ).map { (try entry($0.text(0), label: label), try $0.bool(1)) }
    }

    /// Adds a chunk that is on the disk; again, nothing changes.
    func register(_ entry: ChunkEntry, _ connection: PGConnection) throws {
        connection.post(
            """
            INSERT INTO _import_chunk (
                job, number, source, first_byte, end_byte, source_hash, first_ordinal, records, entry
            ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING
            """,
            [
                .integer(job), .integer(Int64(entry.number)), .integer(Int64(entry.source)), .integer(entry.firstByte),
                .integer(entry.endByte), .text(entry.sourceHash), .integer(entry.firstOrdinal),
                .integer(Int64(entry.records)), .text(try BookkeepingJSON.encode(entry)),
            ]
        )
    }

    /// Notes that no more chunks come.
    func noteSplit(_ connection: PGConnection) {
        connection.post("UPDATE _import_job SET is_split = true WHERE id = $1", [.integer(job)])
    }

    // MARK: Working

    /// Takes the first chunk that nobody has.
    ///
    /// - Parameters:
    ///   - owner: 128 random bits, in hexadecimal, that are this worker's alone.
    ///   - host: where it works, for people.
    /// - Returns: the lease, or what is left of the job where there is none now; neither where the job is gone.
    /// - Throws: `ImportError` where a chunk was taken too often in vain.
    func lease(
        _ owner: String,
        host: String,
        _ connection: PGConnection,
        label: String
    ) throws -> (lease: ChunkLease?, outlook: Outlook?) {
        let row = try connection.execute(
            """
            WITH lease AS (
                UPDATE _import_chunk SET owner = $1, host = $3, attempts = attempts + 1,
                    lease_until = clock_timestamp() + interval '\(Self.leaseSeconds) s'
                WHERE job = $2 AND number = (
                    SELECT number FROM _import_chunk WHERE job = $2 AND state = 'sealed' AND lease_until < clock_timestamp()
                    ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED
                ) RETURNING entry, attempts
            )
            SELECT entry, attempts, state, is_split,
                CASE WHEN entry IS NULL THEN EXISTS (SELECT 1 FROM _import_chunk WHERE job = $2 AND state = 'sealed') END,
                CASE WHEN entry IS NULL THEN EXISTS (SELECT 1 FROM _import_chunk WHERE job = $2 AND state = 'failed') END
            FROM _import_job AS job LEFT JOIN lease ON true WHERE job.id = $2
            """,
            [.text(owner), .integer(job), .text(host)]
        ).first
        guard let row else { return (nil, nil) }
        guard try row.optionalText(0) != nil else {
            let outlook = Outlook(
                state: try row.text(2),
                isSplit: try row.bool(3),
                hasSealed: try row.bool(4),
                hasFailed: try row.bool(5)
            )
            return (nil, outlook)
        }
        let lease = ChunkLease(entry: try entry(row.text(0), label: label), attempts: try row.integer(1))
        guard lease.attempts <= Self.mostAttempts else {
            _ = try connection.execute(
                "UPDATE _import_chunk SET state = 'failed' WHERE job = $1 AND number = $2 AND state = 'sealed'",
                [.integer(job), .integer(Int64(lease.entry.number))]
            )
            throw ImportError(
                .storeFailed,
                at: label,
                "the chunk \(lease.entry.number) was started \(Self.mostAttempts) times and never committed",
                advice: "See the messages of its workers, then resume: \(call: .resuming(store: label))."
            )
        }
        return (lease, nil)
    }

    /// The fence of a chunk's transaction, its first statement: the row is locked until the commit.
    ///
    /// - Returns: whether the chunk is still this lease's to commit.
    func fence(_ lease: ChunkLease, _ owner: String, _ connection: PGConnection) throws -> Bool {
        try connection.execute(
            """
            UPDATE _import_chunk SET state = 'done', done = clock_timestamp()
            WHERE job = $1 AND number = $2 AND state = 'sealed' AND owner = $3 AND attempts = $4
            """,
            [.integer(job), .integer(Int64(lease.entry.number)), .text(owner), .integer(lease.attempts)]
        ).affected == 1
    }

    /// What became of a commit whose answer was lost: waits for the old transaction, and tells.
    ///
    /// - Returns: whether this lease has committed the chunk.
    func isDone(_ lease: ChunkLease, _ owner: String, _ connection: PGConnection) throws -> Bool {
        let row = try connection.execute(
            "SELECT state, owner, attempts FROM _import_chunk WHERE job = $1 AND number = $2 FOR UPDATE",
            [.integer(job), .integer(Int64(lease.entry.number))]
        ).first
        guard let row else { return false }
        return try row.text(0) == "done" && row.text(1) == owner && row.integer(2) == lease.attempts
    }

    /// Gives a chunk back that was not committed; it was not taken in vain.
    ///
    /// - Returns: whether it was still this lease's.
    func giveBack(_ lease: ChunkLease, _ owner: String, _ connection: PGConnection) throws -> Bool {
        try connection.execute(
            """
            UPDATE _import_chunk SET lease_until = '-infinity', attempts = attempts - 1
            WHERE job = $1 AND number = $2 AND state = 'sealed' AND owner = $3 AND attempts = $4
            """,
            [.integer(job), .integer(Int64(lease.entry.number)), .text(owner), .integer(lease.attempts)]
        ).affected == 1
    }

    /// What is left of a job.
    struct Outlook {
        /// The job's state.
        let state: String
        /// True if all is cut.
        let isSplit: Bool
        /// True if chunks wait or are at work.
        let hasSealed: Bool
        /// True if some chunk was taken too often in vain.
        let hasFailed: Bool

        /// True if all chunks are done.
        var isDone: Bool { isSplit && !hasSealed && !hasFailed }
    }

    /// What is committed: chunks, records, bytes and rejects; and how many chunks there are.
    struct Done {
        var chunks: Int64 = 0
        var records: Int64 = 0
        var bytes: Int64 = 0
        var rejects: Int64 = 0
        var all: Int64 = 0
    }

    /// What is committed of the chunks before the first one that is not done.
    func unbrokenRun(_ connection: PGConnection) throws -> Done {
        let row = try connection.execute(
            """
            SELECT coalesce(sum(records_read), 0)::bigint, coalesce(sum(rejected), 0)::bigint FROM _import_count
            WHERE job = $1 AND chunk > 0 AND chunk < coalesce(
                (SELECT min(number) FROM _import_chunk WHERE job = $1 AND state <> 'done'), 9223372036854775807
            )
            """,
            [.integer(job)]
        ).first
        return Done(records: try row?.integer(0) ?? 0, rejects: try row?.integer(1) ?? 0)
    }

    /// - Parameter questions: what is asked with it.
    func done(_ connection: PGConnection, with questions: [PGStatement] = []) throws -> Done {
        guard let row = try connection.ask(doneQuestion, with: questions).first else { return Done() }
        return Done(
            chunks: try row.integer(0),
            records: try row.integer(1),
            bytes: try row.integer(2),
            rejects: try row.integer(3),
            all: try row.integer(4)
        )
    }

    var doneQuestion: PGStatement {
        PGStatement(
            """
            SELECT count(*) FILTER (WHERE is_done), coalesce(sum(records) FILTER (WHERE is_done), 0)::bigint,
                coalesce(sum(end_byte - first_byte) FILTER (WHERE is_done), 0)::bigint,
                (SELECT coalesce(sum(rejected), 0)::bigint FROM _import_count WHERE job = $1), count(*)
            FROM (SELECT *, state = 'done' AS is_done FROM _import_chunk WHERE job = $1) AS chunks
            """,
            [.integer(job)]
        )
    }
}
