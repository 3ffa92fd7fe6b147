import Foundation
import ImportModel
import Importer

/// A job's rows.
extension StoredJob {
    /// All jobs of a schema, in the order in which they were started.
    static func all(_ connection: PGConnection, label: String) throws -> [StoredJob] {
        try select(connection, label: label, "ORDER BY job.id")
    }

    /// The job with a number; nil where there is none.
    static func find(_ id: Int64, _ connection: PGConnection, label: String) throws -> StoredJob? {
        try select(connection, label: label, "WHERE job.id = $1", [.integer(id)]).first
    }

    /// The newest job; nil where there is none.
    static func last(_ connection: PGConnection, label: String) throws -> StoredJob? {
        try select(connection, label: label, "ORDER BY job.id DESC LIMIT 1").first
    }

    /// The jobs that are not finished, in the order in which they were started.
    static func unfinished(_ connection: PGConnection, label: String) throws -> [StoredJob] {
        try select(connection, label: label, "WHERE job.state <> 'finished' ORDER BY job.id")
    }

    /// The models of a schema's jobs, in the order in which they were used last.
    ///
    /// - Parameter job: one that does not count; nil for none.
    static func models(
        besides job: Int64? = nil,
        _ connection: PGConnection,
        label: String
    ) throws -> [ModelDescription] {
        guard try BookkeepingSchema.isThere(connection) else { return [] }
        return try connection.execute(
            """
            SELECT model.model FROM _import_model AS model JOIN _import_job AS job ON job.model = model.id
            WHERE job.id IS DISTINCT FROM $1 GROUP BY model.id, model.model ORDER BY max(job.id)
            """,
            [job.map { .integer($0) } ?? .null]
        ).map { row in
            guard let model = try? ModelDescription(stored: row.text(0)) else {
                throw ImportError(
                    .storeDamaged,
                    at: label,
                    "the store is damaged: _import_model.model",
                    advice: "Restore it from a backup."
                )
            }
            return model
        }
    }

    /// Those of a schema that has the importer's tables.
    ///
    /// - Parameter rest: what follows the tables in the statement.
    static func select(
        _ connection: PGConnection,
        label: String,
        _ rest: String,
        _ parameters: [PGValue] = []
    ) throws -> [StoredJob] {
        let rows = try connection.execute(
            """
            SELECT job.id, job.token, job.state, job.message, job.options, job.is_model_final, job.chunk_directory, model.model,
                job.sources
            FROM _import_job AS job LEFT JOIN _import_model AS model ON model.id = job.model \(rest)
            """,
            parameters
        )
        return try rows.map { row in
            let id = try row.integer(0)
            func damage(_ column: String) -> ImportError {
                ImportError(
                    .storeDamaged,
                    at: label,
                    "the store is damaged: _import_job.\(column) of the job \(id)",
                    advice: "Restore it from a backup."
                )
            }
            guard let stored = try? BookkeepingJSON.decode(StoredOptions.self, row.text(4)) else {
                throw damage("options")
            }
            guard let sources = try? BookkeepingJSON.decode([Source].self, row.text(8)),
                sources.allSatisfy({ $0.entities.count == $0.shape.paths.count })
            else { throw damage("sources") }
            var model: ModelDescription?
            if let text = try row.optionalText(7) {
                guard let read = try? ModelDescription(stored: text) else { throw damage("model") }
                model = read
            }
            var job = StoredJob(
                options: stored.options,
                takesChunks: stored.takesChunks,
                retry: stored.retry,
                change: stored.change,
                sources: sources,
                model: model,
                chunkDirectory: try row.text(6)
            )
            job.id = id
            job.given = stored.given
            job.token = try row.text(1)
            guard let state = ImportReport.State(rawValue: try row.text(2)) else { throw damage("state") }
            job.state = state
            job.message = try row.optionalText(3)
            job.isModelFinal = try row.bool(5)
            return job
        }
    }

    /// Adds the job, without a model yet; one that is there already is left as it is.
    mutating func enroll(in connection: PGConnection, host: String, indexes: StoreIndexes) throws {
        let known = try connection.execute("SELECT id FROM _import_job WHERE token = $1", [.text(token)]).first
        if let known {
            id = try known.integer(0)
            return
        }
        let row = try connection.execute(
            """
            INSERT INTO _import_job (token, state, options, chunk_directory, host, fingerprint, indexes, sources)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id
            """,
            [
                .text(token), .text(state.rawValue), .text(try BookkeepingJSON.encode(StoredOptions(of: self))),
                .text(chunkDirectory), .text(host), .text(try JobFingerprint(self).text),
                .text(try BookkeepingJSON.encode(indexes.wanted)), .text(try BookkeepingJSON.encode(sources)),
            ]
        ).first
        guard let row else { throw ImportError(.fault, "the server gave a new job no number") }
        id = try row.integer(0)
    }

    /// Notes where the job is.
    mutating func setState(
        _ state: ImportReport.State,
        message: String? = nil,
        seconds: Double,
        _ connection: PGConnection
    ) throws {
        self.state = state
        self.message = message
        _ = try connection.execute(
            """
            UPDATE _import_job SET state = $2, message = $3, seconds = $4,
                finished = CASE $2 WHEN 'finished' THEN clock_timestamp() END
            WHERE id = $1
            """,
            [.integer(id), .text(state.rawValue), message.map { .text($0) } ?? .null, .double(seconds)]
        )
    }
}

/// What a job's result depends on, as one text: two jobs with the same are the same.
struct JobFingerprint {
    /// SHA-256, in hexadecimal.
    let text: String

    init(_ job: StoredJob) throws {
        let parts = [
            BookkeepingSchema.format, try BookkeepingJSON.encode(StoredOptions(of: job)),
            try BookkeepingJSON.encode(job.sources.map(\.description)),
            try BookkeepingJSON.encode(job.sources.map(\.shape)),
            try BookkeepingJSON.encode(job.sources.map(\.entities)),
        ]
        text = parts.joined(separator: "\0").sha256.map { byte in
            let digits = String(byte, radix: 16)
            return byte < 16 ? "0" + digits : digits
        }.joined()
    }
}
