import GRDB
import ImportEngine

extension Marker {
    package init?(_ database: Database, job: Int64) throws {
        guard
            let row = try BookkeepingRow.first(database, from: "_import_job", "WHERE id = ?", [job])
        else { return nil }
        self.init()
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
        guard chunkRecords <= recordOrdinal else { throw row.damage("chunk_records") }
    }

    package func save(_ database: Database, job: Int64) throws {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE _import_job SET source = ?, byte_offset = ?, record_ordinal = ?, record_path = ?,
                    chunk_start = ?, chunk_records = ?, chunk_hash = ?, bytes = ?, chunks_done = ?, commits = ?,
                    seconds = ?
                WHERE id = ?
                """
        )
        try statement.execute(arguments: [
            source, byteOffset, recordOrdinal, recordPath, try BookkeepingJSON.encode(chunkStart), chunkRecords,
            chunkHash, bytes, chunksDone, commits, seconds, job,
        ])
    }
}
