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

    /// The models of a schema's jobs, and the last two jobs of each.
    static let modelsQuestion = PGStatement(
        """
        SELECT model.model, max(job.id), (array_agg(job.id ORDER BY job.id DESC))[2]
        FROM _import_model AS model JOIN _import_job AS job ON job.model = model.id GROUP BY model.id, model.model
        """
    )

    /// The models of the jobs of a schema that has the importer's tables, in the order in which they were used last.
    ///
    /// - Parameters:
    ///   - job: one that does not count; nil for none.
    ///   - questions: what is asked with it.
    static func models(
        besides job: Int64? = nil,
        _ connection: PGConnection,
        label: String,
        with questions: [PGStatement] = []
    ) throws -> [ModelDescription] {
        let rows = try connection.ask(modelsQuestion, with: questions).compactMap { row in
            try [row.optionalInteger(1), row.optionalInteger(2)].compactMap(\.self).first { $0 != job }.map {
                ($0, row)
            }
        }
        return try rows.sorted { $0.0 < $1.0 }.map { _, row in
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

    /// Asks for jobs.
    ///
    /// - Parameter rest: what follows the tables in the statement.
    static func question(_ rest: String, _ parameters: [PGValue] = []) -> PGStatement {
        PGStatement(
            """
            SELECT job.id, job.token, job.state, job.message, job.options, job.is_model_final, job.chunk_directory, model.model,
                job.sources
            FROM _import_job AS job LEFT JOIN _import_model AS model ON model.id = job.model \(rest)
            """,
            parameters
        )
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
        try select(question(rest, parameters), connection, label: label)
    }

    /// The same.
    ///
    /// - Parameter questions: what is asked with it.
    static func select(
        _ question: PGStatement,
        _ connection: PGConnection,
        label: String,
        with questions: [PGStatement] = []
    ) throws -> [StoredJob] {
        // Most jobs have the model of another one.
        var models: [String: ModelDescription] = [:]
        return try connection.ask(question, with: questions).map { row in
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
                guard let read = try models[text] ?? (try? ModelDescription(stored: text)) else {
                    throw damage("model")
                }
                models[text] = read
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

    /// Adds the job, without a model and its number yet; one that is there already is left as it is.
    func enroll(in connection: PGConnection, host: String, indexes: StoreIndexes) throws {
        connection.post(
            """
            INSERT INTO _import_job (token, state, options, chunk_directory, host, fingerprint, indexes, sources)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (token) DO NOTHING
            """,
            [
                .text(token), .text(state.rawValue), .text(try BookkeepingJSON.encode(StoredOptions(of: self))),
                .text(chunkDirectory), .text(host), .text(try JobFingerprint(self).text),
                .text(try BookkeepingJSON.encode(indexes.wanted)), .text(try BookkeepingJSON.encode(sources)),
            ]
        )
    }

    /// Asks for the number of the job.
    var numberQuestion: PGStatement { PGStatement("SELECT id FROM _import_job WHERE token = $1", [.text(token)]) }

    /// Finds out which number the server has given the job.
    mutating func number(_ connection: PGConnection) throws {
        guard let row = try connection.ask(numberQuestion).first else {
            throw ImportError(.fault, "the server gave a new job no number")
        }
        id = try row.integer(0)
    }

    /// Notes where the job is.
    mutating func setState(
        _ state: ImportReport.State,
        message: String? = nil,
        seconds: Double,
        _ connection: PGConnection
    ) {
        self.state = state
        self.message = message
        connection.post(
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
