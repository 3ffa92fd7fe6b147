import ImportModel
import Importer

/// The rejects of a schema.
struct PGRejects {
    let store: PostgreSQLStore

    private var label: String { store.label }

    private func damage(_ what: String) -> ImportError {
        ImportError(
            .storeDamaged,
            at: label,
            "the store is damaged: _import_reject.\(what)",
            advice: "Restore it from a backup."
        )
    }

    /// Calls `body` with each reject, job by job in source order, while the server sends them.
    func forEach(
        _ selection: RejectSelection,
        _ connection: PGConnection,
        _ body: (StoreInspection.Reject) throws -> Void
    ) throws {
        var sources: [Int64: [String]] = [:]
        for job in try StoredJob.select(connection, label: label, "WHERE job.id IN (SELECT job FROM _import_reject)") {
            sources[job.id] = job.sources.map(\.description.displayName)
        }
        try store.forEachRow(
            """
            SELECT id, job, ordinal, entity, source, byte_offset, length, errors, record, record_key, state
            FROM _import_reject WHERE ($1::bigint IS NULL OR job = $1) AND ($2::text IS NULL OR entity = $2)
                AND ($3 OR state = 'open')
            ORDER BY job, ordinal
            """,
            selected(selection) + [.boolean(selection.includesSettled)],
            connection
        ) { row in
            let job = try row.integer(1)
            let source = Int(try row.integer(4))
            let names = sources[job] ?? []
            guard let errors = try? BookkeepingJSON.decode([RecordError].self, row.text(7)) else {
                throw damage("errors of the job \(job)")
            }
            try body(
                StoreInspection.Reject(
                    number: try row.integer(0),
                    job: job,
                    ordinal: try row.integer(2),
                    entity: try row.text(3),
                    source: names.indices.contains(source) ? names[source] : "",
                    byteOffset: try row.integer(5),
                    length: try row.integer(6),
                    errors: errors,
                    record: try row.bytes(8),
                    state: RejectState(rawValue: try row.text(10)) ?? .open,
                    key: try row.optionalText(9)
                )
            )
        }
    }

    private func selected(_ selection: RejectSelection) -> [PGValue] {
        [selection.job.map { .integer($0) } ?? .null, selection.entity.map { .text($0) } ?? .null]
    }

    /// True if there is an open reject that is whole and that none of these retries has tried.
    func hasUntried(
        _ selection: RejectSelection,
        besidesThoseOf retries: [Int64],
        _ connection: PGConnection
    ) throws -> Bool {
        let numbers = retries.map(String.init).joined(separator: ", ")
        let isNew =
            retries.isEmpty ? "" : "AND id NOT IN (SELECT reject FROM _import_retry WHERE job IN (\(numbers)))"
        return try connection.execute(
            """
            SELECT EXISTS (
                SELECT 1 FROM _import_reject WHERE state = 'open' AND octet_length(record) >= length
                    AND ($1::bigint IS NULL OR job = $1) AND ($2::text IS NULL OR entity = $2) \(isNew)
            )
            """,
            selected(selection)
        ).first?.bool(0) ?? false
    }
}

/// The rejects of a schema by their numbers, while a repair file is read.
struct PGRejectLookup: RejectLookup {
    let session: PGLockingSession

    func reject(_ number: Int64) throws -> RejectStatus? {
        try row(number, "SELECT job, ordinal, entity, state FROM _import_reject WHERE id = $1").map { row in
            RejectStatus(
                job: try row.integer(0),
                ordinal: try row.integer(1),
                entity: try row.text(2),
                state: RejectState(rawValue: try row.text(3)) ?? .open
            )
        }
    }

    func record(_ number: Int64) throws -> (length: Int64, bytes: [UInt8])? {
        try row(number, "SELECT length, record FROM _import_reject WHERE id = $1").map { row in
            (try row.integer(0), try row.bytes(1))
        }
    }

    private func row(_ number: Int64, _ sql: String) throws -> PGRow? {
        try session.read { try $0.execute(sql, [.integer(number)]).first }
    }
}
