import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The rows of a job.
extension StoredJob {
    // MARK: Reading

    /// All of the store's jobs, in order.
    package static func all(_ database: Database) throws -> [StoredJob] {
        guard try database.hasTable("_import_job") else { return [] }
        return try BookkeepingRow.fetchAll(database, from: "_import_job", sql: "SELECT * FROM _import_job ORDER BY id")
            .map { try StoredJob($0, database) }
    }

    private init(_ row: BookkeepingRow, _ database: Database) throws {
        let id = try row.number("id")
        let token = try row.text("token")
        let state: ImportReport.State = try row.choice("state")
        let message = try row.optionalText("message")
        let isEnded = try Self.isEnded(id, database)
        let stored: StoredOptions = try row.json("options")
        let isModelFinal = try row.flag("is_model_final")
        let chunkDirectory = try row.text("chunk_directory")
        guard !chunkDirectory.isEmpty else { throw row.damage("chunk_directory") }
        let sources = try Self.document("sources", of: row, database).map(Self.sources) ?? []
        guard !sources.isEmpty else { throw row.damage("sources") }
        // The marker is in one of the sources, or after the last one.
        guard try row.index("source") <= sources.count else { throw row.damage("source") }
        self.init(
            options: stored.options,
            takesChunks: stored.takesChunks,
            retry: stored.retry,
            change: stored.change,
            sources: sources,
            model: nil,
            chunkDirectory: chunkDirectory
        )
        (self.id, self.token, self.state, self.message) = (id, token, state, message)
        (self.isEnded, keepsUndo, self.isModelFinal) = (isEnded, stored.keepsUndo, isModelFinal)
        guard let stored = try Self.document("model", of: row, database) else { return }
        let model = try? ModelDescription(stored: Array(stored.text("content").utf8))
        let names = Set((model?.entities ?? []).map { BytewiseString($0.name) })
        guard let model, sources.flatMap(\.entities).allSatisfy({ names.contains(BytewiseString($0)) }) else {
            throw stored.damage("content")
        }
        self.model = model
    }

    /// The document that a column of a job leads to; nil for NULL.
    private static func document(_ column: String, of job: BookkeepingRow, _ database: Database) throws
        -> BookkeepingRow?
    {
        guard let number = try job.optionalNumber(column) else { return nil }
        let row = try BookkeepingRow.first(database, from: "_import_document", "WHERE id = ?", [number])
        guard let row else { throw job.damage(column) }
        return row
    }

    /// The sources of a job, from its document.
    package static func sources(_ row: BookkeepingRow) throws -> [Source] {
        try row.json("content") { sources in
            sources.allSatisfy { source in
                source.description.isSound && source.entities.count == source.shape.paths.count
                    && source.shape.paths.allSatisfy { (try? RecordPath($0)) != nil }
            }
        }
    }

    // MARK: Writing

    /// The number of the document with a model, which is made where it is not there.
    package static func document(of model: ModelDescription, _ database: Database) throws -> Int64 {
        let text = model.encoded()
        let known = try Int64.fetchOne(
            database,
            sql: "SELECT id FROM _import_document WHERE content = ? ORDER BY id DESC",
            arguments: [text]
        )
        if let known { return known }
        try database.execute(sql: "INSERT INTO _import_document (content) VALUES (?)", arguments: [text])
        return database.lastInsertedRowID
    }

    /// Adds the job to the store, without a model yet.
    package mutating func insert(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO _import_document (content) VALUES (:sources);
                INSERT INTO _import_job (token, state, options, chunk_directory, started, sources)
                VALUES (
                    :token, :state, :options, :directory, strftime('%Y-%m-%dT%H:%M:%fZ'), last_insert_rowid()
                );
                """,
            arguments: [
                "sources": try BookkeepingJSON.encode(sources), "token": token, "state": state.rawValue,
                "options": try BookkeepingJSON.encode(StoredOptions(of: self)), "directory": chunkDirectory,
            ]
        )
        id = database.lastInsertedRowID
        try Marker().save(database, job: id)
    }

    /// Notes where the job is.
    package mutating func setState(
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
    package func saveOptions(_ database: Database) throws {
        try database.execute(
            sql: "UPDATE _import_job SET options = ? WHERE id = ?",
            arguments: [try BookkeepingJSON.encode(StoredOptions(of: self)), id]
        )
    }

    /// Notes where its chunks are.
    func saveChunkDirectory(_ database: Database) throws {
        try database.execute(
            sql: "UPDATE _import_job SET chunk_directory = ? WHERE id = ?",
            arguments: [chunkDirectory, id]
        )
    }

    /// Writes what is known of a job's sources.
    package static func save(_ sources: [Source], of job: Int64, _ database: Database) throws {
        let sql = "UPDATE _import_document SET content = ? WHERE id = (SELECT sources FROM _import_job WHERE id = ?)"
        try database.execute(sql: sql, arguments: [try BookkeepingJSON.encode(sources), job])
    }

    /// Takes over what is known of the sources now, after they were found to be the same.
    package mutating func refresh(_ descriptions: [SourceDescription], _ database: Database) throws {
        for (position, description) in descriptions.enumerated() where position < sources.count {
            sources[position].description = description
        }
        try Self.save(sources, of: id, database)
    }
}
