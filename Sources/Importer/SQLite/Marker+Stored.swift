import GRDB

extension Marker {
    init?(_ database: Database, job: Int64) throws {
        guard
            let row = try BookkeepingRow.fetchOne(
                database,
                from: "_import_job",
                sql: """
                    SELECT *, (SELECT count(*) FROM _import_source AS source WHERE source.job = job.id) AS sources
                    FROM _import_job AS job WHERE id = ?
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
                UPDATE _import_job SET source = ?, byte_offset = ?, record_ordinal = ?, record_path = ?,
                    chunk_start = ?, chunk_records = ?, chunk_hash = ?, bytes = ?, chunks_done = ?, commits = ?,
                    seconds = ?
                WHERE id = ?
                """
        )
        try statement.execute(arguments: [
            source, byteOffset, recordOrdinal, recordPath, try StoredJSON.encode(chunkStart), chunkRecords,
            chunkHash, bytes, chunksDone, commits, seconds, job,
        ])
    }
}
