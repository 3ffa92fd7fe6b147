import GRDB
import ImportEngine
import ImportSQLite

/// Where a row of a store came from, as far as imports have noted it.
package struct RowOrigin: Sendable {
    /// The job that has inserted it.
    package let job: Int64
    /// The source; nil where it is not known which of several it was.
    package let source: String?
    /// The bytes of the source that its record is among; nil where that is not known.
    package let bytes: Range<Int64>?
}

extension StoreInspection {
    /// Which import has inserted a row, and from what.
    ///
    /// - Parameter table: the table's name, or that of its entity's ancestor whose table it is.
    /// - Returns: nil where no import is known to have inserted it.
    /// - Throws: `ImportError` as `status` does.
    package func origin(of rowID: Int64, in table: String) throws -> RowOrigin? {
        try read { database in
            guard try database.hasTable("_import_addition"),
                let number = try InsertedRowRanges.job(of: rowID, in: table, database),
                let job = try StoredJob.find(number, database)
            else { return nil }
            let chunk = try chunk(of: rowID, in: table, job: number, database)
            let sources = job.sources.map(\.description.displayName)
            let place = chunk?.source ?? (sources.count == 1 ? 0 : nil)
            return RowOrigin(
                job: number,
                source: place.flatMap { sources.indices.contains($0) ? sources[$0] : nil },
                bytes: chunk?.bytes
            )
        }
    }

    /// The chunk whose rows have all row ids from the first to the last, this one among them; nil where there are several.
    private func chunk(
        of rowID: Int64,
        in table: String,
        job: Int64,
        _ database: Database
    ) throws -> (source: Int, bytes: Range<Int64>)? {
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_chunk",
            sql: """
                SELECT chunk.source, first_byte, end_byte FROM _import_chunk AS chunk
                JOIN _import_entity AS entity ON entity.job = chunk.job AND entity.position = chunk.entity
                WHERE chunk.job = ? AND entity.table_name = ? COLLATE NOCASE AND chunk.inserted > 0
                    AND ? BETWEEN first_rowid AND last_rowid AND last_rowid - first_rowid = chunk.inserted - 1
                LIMIT 2
                """,
            arguments: [job, table, rowID]
        )
        guard rows.count == 1, let row = rows.first else { return nil }
        let (start, end) = (try row.number("first_byte"), try row.number("end_byte"))
        return start < end ? (try row.index("source"), start..<end) : nil
    }
}
