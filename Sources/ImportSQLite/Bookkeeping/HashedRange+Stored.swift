import GRDB
import ImportSources

extension HashedRange {
    /// The committed chunks of a source that begin at a byte or behind it, in order.
    package static func committed(_ database: Database, job: Int64, source: Int, from byte: Int64 = 0) throws
        -> [HashedRange]
    {
        try BookkeepingRow.fetchAll(
            database,
            from: "_import_chunk",
            sql: """
                SELECT DISTINCT first_byte, end_byte, source_hash FROM _import_chunk
                WHERE job = ? AND source = ? AND first_byte >= ? AND is_complete ORDER BY first_byte
                """,
            arguments: [job, source, byte]
        ).map { try HashedRange($0) }
    }

    /// That of a row of `_import_chunk`.
    package init(_ row: BookkeepingRow) throws {
        self.init(
            firstByte: try row.number("first_byte"),
            endByte: try row.number("end_byte"),
            hash: try row.text("source_hash")
        )
        guard endByte >= firstByte else { throw row.damage("end_byte") }
    }
}
