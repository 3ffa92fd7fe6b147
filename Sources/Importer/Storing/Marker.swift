import GRDB

/// How far an import has come, in its sources' coordinates.
///
/// It is kept in the store, and changes only together with the rows that it covers.
public struct Marker: Sendable, Hashable, Codable {
    /// The source's index in the job, from 0.
    public var source = 0
    /// Just past the last committed record in the source, from 0, in decompressed bytes.
    public var byteOffset: Int64 = 0
    /// The last committed record's number in the job; 0 for none.
    public var recordOrdinal: Int64 = 0
    /// The last committed record's record path.
    public var recordPath = ""
    /// Where the chunk that is being committed begins in the source.
    var chunkStart = SplitPosition.start
    /// What of that chunk is committed.
    var chunkRecords = 0
    var chunkHash = ""
    /// Bytes of all sources up to the marker.
    public var bytes: Int64 = 0
    /// Chunks and commits of the job so far.
    public var chunksDone = 0
    /// Commits of the job so far.
    public var commits: Int64 = 0
    /// Time spent on the job so far, in seconds.
    public var seconds = 0.0

    /// The part of the chunk at `chunkStart` that is committed.
    var committed: CommittedPrefix { CommittedPrefix(records: chunkRecords, hash: chunkHash) }
}

extension Marker {
    init?(_ database: Database, job: Int64) throws {
        guard
            let row = try BookkeepingRow.fetchOne(
                database,
                from: "_import_marker",
                sql: """
                    SELECT *, (SELECT count(*) FROM _import_source AS source WHERE source.job = marker.job) AS sources
                    FROM _import_marker AS marker WHERE job = ?
                    """,
                arguments: [job]
            )
        else { return nil }
        source = try row.index("source")
        byteOffset = try row.number("byte_offset")
        recordOrdinal = try row.number("record_ordinal")
        recordPath = try row.text("record_path")
        chunkStart = try row.json("chunk_start", where: \.isSound)
        chunkRecords = try row.index("chunk_records")
        chunkHash = try row.text("chunk_hash")
        bytes = try row.number("bytes")
        chunksDone = try row.index("chunks_done")
        commits = try row.number("commits")
        seconds = try row.seconds("seconds")
        // It is in one of the job's sources, or after the last one.
        guard try source <= row.index("sources") else { throw row.damage("source") }
        guard chunkRecords <= recordOrdinal else { throw row.damage("chunk_records") }
    }

    func save(_ database: Database, job: Int64) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO _import_marker (
                    job, source, byte_offset, record_ordinal, record_path, chunk_start, chunk_records, chunk_hash,
                    bytes, chunks_done, commits, seconds
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        try statement.execute(arguments: [
            job, source, byteOffset, recordOrdinal, recordPath, try StoredJSON.encode(chunkStart), chunkRecords,
            chunkHash, bytes, chunksDone, commits, seconds,
        ])
    }
}
