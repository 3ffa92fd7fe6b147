import GRDB
import ImportModel

/// The rows of a job.
extension StoredJob {
    // MARK: Reading

    /// All of the store's jobs, in order.
    static func all(_ database: Database) throws -> [StoredJob] {
        guard try database.hasTable("_import_job") else { return [] }
        return try BookkeepingRow.fetchAll(database, from: "_import_job", sql: "SELECT * FROM _import_job ORDER BY id")
            .map { try StoredJob($0, database) }
    }

    private init(_ row: BookkeepingRow, _ database: Database) throws {
        id = try row.number("id")
        token = try row.text("token")
        state = try row.choice("state")
        message = try row.optionalText("message")
        isEnded = try Self.isEnded(id, database)
        let stored: StoredOptions = try row.json("options")
        (options, takesChunks, retry) = (stored.options, stored.takesChunks, stored.retry)
        (change, keepsUndo) = (stored.change, stored.keepsUndo)
        isModelFinal = try row.flag("is_model_final")
        chunkDirectory = try row.text("chunk_directory")
        guard !chunkDirectory.isEmpty else { throw row.damage("chunk_directory") }
        sources = try Self.sources(of: id, database)
        guard !sources.isEmpty else { throw row.damage("id") }
        guard let number = try row.optionalNumber("model") else { return }
        guard
            let stored = try BookkeepingRow.first(database, "model", from: "_import_model", "WHERE id = ?", [number])
        else { throw row.damage("model") }
        let model = try? ModelDescription(stored: Array(stored.text("model").utf8))
        let names = Set((model?.entities ?? []).map { ExactText($0.name) })
        guard let model, sources.flatMap(\.entities).allSatisfy({ names.contains(ExactText($0)) }) else {
            throw stored.damage("model")
        }
        self.model = model
    }

    private static func sources(of job: Int64, _ database: Database) throws -> [Source] {
        try BookkeepingRow.all(database, from: "_import_source", of: job, "ORDER BY position")
            .enumerated().map { position, row in
                guard try row.index("position") == position else { throw row.damage("position") }
                let shape: SourceShape = try row.json("shape") {
                    $0.paths.allSatisfy { (try? RecordPath($0)) != nil }
                }
                return Source(
                    description: try row.json("description", where: \.isSound),
                    shape: shape,
                    entities: try row.json("entities") { $0.count == shape.paths.count }
                )
            }
    }

    // MARK: Writing

    /// Adds the job to the store, without a model yet.
    mutating func insert(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO _import_job (token, state, options, chunk_directory, started)
                VALUES (?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%fZ'))
                """,
            arguments: [token, state.rawValue, try StoredJSON.encode(StoredOptions(of: self)), chunkDirectory]
        )
        id = database.lastInsertedRowID
        for (position, source) in sources.enumerated() {
            try database.execute(
                sql: "INSERT INTO _import_source (job, position, description, shape, entities) VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    id, position, try StoredJSON.encode(source.description), try StoredJSON.encode(source.shape),
                    try StoredJSON.encode(source.entities),
                ]
            )
        }
        try Marker().save(database, job: id)
    }

    /// Notes where the job is.
    mutating func setState(
        _ state: ImportReport.State,
        message: String? = nil,
        seconds: Double,
        _ database: Database
    ) throws {
        self.state = state
        self.message = message
        try database.execute(
            sql: """
                UPDATE _import_job SET state = ?, message = ?, seconds = ?,
                    finished = CASE ? WHEN 'finished' THEN strftime('%Y-%m-%dT%H:%M:%fZ') END
                WHERE id = ?
                """,
            arguments: [state.rawValue, message, seconds, state.rawValue, id]
        )
    }

    /// Keeps the job's options as they are now.
    func saveOptions(_ database: Database) throws {
        try database.execute(
            sql: "UPDATE _import_job SET options = ? WHERE id = ?",
            arguments: [try StoredJSON.encode(StoredOptions(of: self)), id]
        )
    }

    /// Notes where its chunks are.
    func saveChunkDirectory(_ database: Database) throws {
        try database.execute(
            sql: "UPDATE _import_job SET chunk_directory = ? WHERE id = ?",
            arguments: [chunkDirectory, id]
        )
    }

    /// Takes over what is known of the sources now, after they were found to be the same.
    mutating func refresh(_ descriptions: [SourceDescription], _ database: Database) throws {
        for (position, description) in descriptions.enumerated() where position < sources.count {
            sources[position].description = description
            try database.execute(
                sql: "UPDATE _import_source SET description = ? WHERE job = ? AND position = ?",
                arguments: [try StoredJSON.encode(description), id, position]
            )
        }
    }
}
