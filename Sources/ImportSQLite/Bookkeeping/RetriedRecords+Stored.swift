import GRDB
import ImportEngine
import ImportSources

extension RetriedRecords {
    /// - Throws: `ImportError` with `.badInput` when the chunk holds other records than the job was begun with.
    package init(_ database: Database, job: StoredJob, chunk: ChunkEntry) throws {
        let first = chunk.firstOrdinal
        let entities = job.model?.entities.count ?? 0
        let records = try BookkeepingRow.fetchAll(
            database,
            from: "_import_retry",
            sql: """
                SELECT retry.entity, retry.is_text, retry.record_key, reject.state, reject.source, reject.byte_offset
                FROM _import_retry AS retry JOIN _import_reject AS reject ON reject.id = retry.reject
                WHERE retry.job = ? AND retry.ordinal >= ? AND retry.ordinal < ? ORDER BY retry.ordinal
                """,
            arguments: [job.id, first, first + Int64(chunk.records)]
        ).map { row in
            let entity = try row.index("entity")
            guard entity < entities else { throw row.damage("entity") }
            return RetriedRecords.Record(
                entity: entity,
                isOpen: try row.choice("state", as: RejectState.self) == .open,
                isText: try row.flag("is_text"),
                key: try row.optionalText("record_key").map { Array($0.utf8) },
                source: try row.index("source"),
                byteOffset: try row.number("byte_offset")
            )
        }
        try self.init(records, of: job.sources.first?.description.name ?? "", in: chunk)
    }
}
