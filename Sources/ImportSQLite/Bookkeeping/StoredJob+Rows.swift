import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The rows of a job.
extension StoredJob {
    // MARK: Finding

    /// All of the store's jobs, in order.
    package static func all(_ database: Database) throws -> [StoredJob] { try select(database, "ORDER BY id") }

    /// The job with a number; nil where there is none.
    package static func find(_ id: Int64, _ database: Database) throws -> StoredJob? {
        try select(database, "WHERE id = ?", [id]).first
    }

    /// In SQL, what holds of a job that is not finished; an index finds these.
    static let isOpen = "state IN ('running', 'interrupted', 'failed')"

    /// The newest job; nil where there is none.
    package static func last(_ database: Database) throws -> StoredJob? {
        try select(database, "ORDER BY id DESC LIMIT 1").first
    }

    /// The jobs that are not finished, in order.
    package static func unfinished(_ database: Database) throws -> [StoredJob] {
        try select(database, "WHERE \(isOpen) ORDER BY id")
    }

    /// True if there is any job.
    package static func isAnyThere(_ database: Database) throws -> Bool {
        try database.hasTable("_import_job") && BookkeepingSchema.hasRows("_import_job", database)
    }

    /// The numbers of all jobs, in the order in which they were started.
    package static func numbers(_ database: Database) throws -> [Int64] {
        try Int64.fetchAll(database, sql: "SELECT id FROM _import_job ORDER BY id")
    }

    /// True if a job is finished.
    package static func isFinished(_ job: Int64, _ database: Database) throws -> Bool {
        try String.fetchOne(database, sql: "SELECT state FROM _import_job WHERE id = ?", arguments: [job])
            == ImportReport.State.finished.rawValue
    }

    /// True if all jobs are finished.
    package static func areAllFinished(_ database: Database) throws -> Bool {
        guard try database.hasTable("_import_job") else { return true }
        return try !database.exists("SELECT 1 FROM _import_job WHERE \(isOpen)")
    }

    /// The jobs that were started after one, in order.
    package static func after(_ id: Int64, _ database: Database) throws -> [StoredJob] {
        try select(database, "WHERE id > ? ORDER BY id", [id])
    }

    /// Up to `limit` jobs before one, the newest first.
    package static func newest(_ limit: Int, before id: Int64 = .max, _ database: Database) throws -> [StoredJob] {
        try select(database, "WHERE id < ? ORDER BY id DESC LIMIT ?", [id, limit])
    }

    /// The numbers of the jobs that have rows in a table with an index that begins with them, in order.
    package static func numbers(in table: String, _ database: Database) throws -> [Int64] {
        guard try database.hasTable(table) else { return [] }
        // The index is searched once for each job, and not read to its end.
        return try Int64.fetchAll(
            database,
            sql: """
                WITH RECURSIVE jobs (job) AS (
                    SELECT min(job) FROM \(table)
                    UNION ALL SELECT (SELECT min(job) FROM \(table) AS next WHERE next.job > jobs.job) FROM jobs
                    WHERE jobs.job IS NOT NULL
                ) SELECT job FROM jobs WHERE job IS NOT NULL
                """
        )
    }

    /// The numbers of the jobs that have one of these sources, the newest first.
    package static func numbers(withOneOf sources: [SourceDescription], _ database: Database) throws -> [Int64] {
        let keys = sources.compactMap(\.key?.text)
        guard !keys.isEmpty, try database.hasTable("_import_source") else { return [] }
        return try Int64.fetchAll(
            database,
            sql: """
                SELECT DISTINCT job FROM _import_source WHERE key IN (SELECT value FROM json_each(?)) ORDER BY job DESC
                """,
            arguments: [try BookkeepingJSON.encode(keys)]
        )
    }

    /// The number of the undo that takes back what a job has done, and is not undone itself; nil where none does.
    package static func undo(of job: Int64, _ database: Database) throws -> Int64? {
        guard try database.hasTable("_import_change") else { return nil }
        let sql = "SELECT job FROM _import_change WHERE undoes = ?1 AND job > ?1 ORDER BY job"
        return try Int64.fetchAll(database, sql: sql, arguments: [job]).first { try undo(of: $0, database) == nil }
    }

    /// The numbers of the jobs that are undone.
    package static func undone(_ database: Database) throws -> Set<Int64> {
        guard try database.hasTable("_import_change") else { return [] }
        let sql = "SELECT DISTINCT undoes FROM _import_change WHERE undoes IS NOT NULL"
        return try Int64.fetchSet(database, sql: sql).filter { try undo(of: $0, database) != nil }
    }

    /// In SQL, the newest job with the model of a document, after `:last` and not `:job`; 0 where there is none.
    ///
    /// - Parameter isGiven: whether the model was given.
    static func newest(isGiven: Bool) -> String {
        let jobs = "model = _import_document.id AND is_given = \(isGiven ? 1 : 0) AND id > :last AND id IS NOT :job"
        // The index has the numbers of jobs of one state in order, and few jobs are open.
        return """
            max(
                coalesce((SELECT id FROM _import_job WHERE state = 'finished' AND \(jobs) ORDER BY id DESC LIMIT 1), 0),
                coalesce((SELECT max(id) FROM _import_job WHERE \(isOpen) AND \(jobs)), 0)
            )
            """
    }

    /// The model of the newest job whose entities relate to one another; nil where there is none.
    package static func lastGraphModel(_ database: Database) throws -> ModelDescription? {
        guard try database.hasTable("_import_job") else { return nil }
        let models = try Row.fetchCursor(
            database,
            sql: """
                SELECT content, \(newest(isGiven: false)), \(newest(isGiven: true)) FROM _import_document WHERE kind = 'model'
                """,
            arguments: ["job": nil, "last": 0]
        )
        var newest: (job: Int64, model: ModelDescription)?
        while let row = try models.next() {
            let job: Int64 = max(row[1], row[2])
            guard job > newest?.job ?? 0 else { continue }
            let model = BookkeepingRow(row, of: "_import_document", database)
            guard let read = try? ModelDescription(stored: model.text("content")) else { throw model.damage("content") }
            if !read.isFlat { newest = (job, read) }
        }
        return newest?.model
    }

    // MARK: Reading

    private static func select(
        _ database: Database,
        _ rest: String,
        _ arguments: StatementArguments = StatementArguments()
    ) throws -> [StoredJob] {
        guard try database.hasTable("_import_job") else { return [] }
        return try BookkeepingRow.all(database, from: "_import_job", rest, arguments).map {
            try StoredJob($0, database)
        }
    }

    private init(_ row: BookkeepingRow, _ database: Database) throws {
        let id = try row.number("id")
        let token = try row.text("token")
        let state: ImportReport.State = try row.choice("state")
        let message = try row.optionalText("message")
        let isEnded = try Self.isEnded(id, database)
        guard let document = try Self.document("options", of: row, database) else { throw row.damage("options") }
        let stored: StoredOptions = try document.json("content")
        let isModelFinal = try row.flag("is_model_final")
        let chunkDirectory = try row.text("chunk_directory")
        guard !chunkDirectory.isEmpty else { throw row.damage("chunk_directory") }
        let sources = try Self.sources(of: id, database)
        // The marker is in one of the sources, or after the last one.
        guard !sources.isEmpty, try row.index("source") <= sources.count else { throw row.damage("source") }
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
        (self.isEnded, keepsUndo, given, self.isModelFinal) = (isEnded, stored.keepsUndo, stored.given, isModelFinal)
        options.model = try Self.model("given_model", of: row, database)?.model
        guard let (model, document) = try Self.model("model", of: row, database) else { return }
        let names = Set(model.entities.map { BytewiseString($0.name) })
        guard Set(sources.map(\.entities)).joined().allSatisfy({ names.contains(BytewiseString($0)) }) else {
            throw document.damage("content")
        }
        self.model = model
    }

    private static func model(_ column: String, of row: BookkeepingRow, _ database: Database) throws
        -> (model: ModelDescription, document: BookkeepingRow)?
    {
        guard let document = try document(column, of: row, database) else { return nil }
        guard let model = try? ModelDescription(stored: document.text("content")) else {
            throw document.damage("content")
        }
        return (model, document)
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

    /// The job that has committed last, or a later one that has yet to do so.
    ///
    /// That a job is said to run means little: one that was killed is, until it is resumed.
    package static func newestRow(_ database: Database) throws -> BookkeepingRow? {
        try BookkeepingRow.fetchOne(
            database,
            from: "_import_job",
            sql: """
                SELECT id, token, state, message, model, chunk_directory, options
                FROM _import_job, (
                    SELECT coalesce((SELECT job FROM _import_merge ORDER BY sequence DESC LIMIT 1), 0) AS newest
                )
                WHERE id IN (newest, (SELECT max(id) FROM _import_job)) OR state = 'running'
                ORDER BY id = newest AND state = 'running' DESC, id > newest AND state = 'running' DESC,
                    id = newest DESC, id DESC
                LIMIT 1
                """
        )
    }

    /// What a source is like, whatever file it is.
    package struct Layout: Hashable, Codable {
        package let shape: SourceShape
        package var entities: [String]

        /// Reads the content of a document.
        package init(_ row: BookkeepingRow) throws {
            self = try row.json("content") { layout in
                layout.entities.count == layout.shape.paths.count
                    && layout.shape.paths.allSatisfy { (try? RecordPath($0)) != nil }
            }
        }

        init(_ source: Source) { (shape, entities) = (source.shape, source.entities) }
    }

    /// The sources of a job.
    package static func sources(of job: Int64, _ database: Database) throws -> [Source] {
        var layouts: [Int64: Layout] = [:]
        var sources: [Source] = []
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT description, layout FROM _import_source WHERE job = ? ORDER BY position",
            arguments: [job]
        )
        while let next = try rows.next() {
            let row = BookkeepingRow(next, of: "_import_source", database)
            let plain = SourceDescription(plain: try row.text("description"))
            let description = try plain ?? row.json("description")
            guard description.isSound else { throw row.damage("description") }
            let number = try row.number("layout")
            let layout = try layouts[number] ?? document("layout", of: row, database).map(Layout.init)
            guard let layout else { throw row.damage("layout") }
            layouts[number] = layout
            sources.append(Source(description: description, shape: layout.shape, entities: layout.entities))
        }
        return sources
    }

    // MARK: Writing

    /// The number of the document with a model, which is made where it is not there.
    package static func document(of model: ModelDescription, _ database: Database) throws -> Int64 {
        try document("model", model.encoded(), database)
    }

    private static func document(_ kind: String, _ content: String, _ database: Database) throws -> Int64 {
        let known = try Int64.fetchOne(
            database,
            sql: "SELECT id FROM _import_document WHERE kind = ? AND content = ? ORDER BY id DESC",
            arguments: [kind, content]
        )
        if let known { return known }
        try database.execute(
            sql: "INSERT INTO _import_document (kind, content) VALUES (?, ?)",
            arguments: [kind, content]
        )
        return database.lastInsertedRowID
    }

    /// The number of the document with the job's options.
    private func optionsDocument(_ database: Database) throws -> Int64 {
        var job = self
        job.options.model = nil
        return try Self.document("options", BookkeepingJSON.encode(StoredOptions(of: job)), database)
    }

    /// Adds the job to the store, without a model yet.
    package mutating func insert(_ database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO _import_job (token, state, options, given_model, is_given, chunk_directory, started)
                VALUES (:token, :state, :options, :model, :isGiven, :directory, strftime('%Y-%m-%dT%H:%M:%fZ'))
                """,
            arguments: [
                "token": token, "state": state.rawValue, "options": try optionsDocument(database),
                "model": try options.model.map { try Self.document(of: $0, database) },
                "isGiven": options.model != nil && retry != .file, "directory": chunkDirectory,
            ]
        )
        id = database.lastInsertedRowID
        try saveSources(database)
        if let undone = change?.undoes {
            try BookkeepingSchema.make(["_import_change"], database)
            try database.execute(
                sql: "INSERT INTO _import_change (job, undoes, has_log) VALUES (?, ?, 0)",
                arguments: [id, undone]
            )
        }
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
            arguments: [try optionsDocument(database), id]
        )
    }

    /// Notes where its chunks are.
    func saveChunkDirectory(_ database: Database) throws {
        try database.execute(
            sql: "UPDATE _import_job SET chunk_directory = ? WHERE id = ?",
            arguments: [chunkDirectory, id]
        )
    }

    /// Writes what is known of the job's sources.
    private func saveSources(_ database: Database) throws {
        try database.execute(sql: "DELETE FROM _import_source WHERE job = ?", arguments: [id])
        let statement = try database.cachedStatement(
            sql: "INSERT INTO _import_source (job, position, key, layout, description) VALUES (?, ?, ?, ?, ?)"
        )
        let encoder = BookkeepingJSON.makeEncoder()
        var known: (layout: Layout, number: Int64)?
        for (position, source) in sources.enumerated() {
            let layout = Layout(source)
            let number =
                try known.flatMap { $0.layout == layout ? $0.number : nil }
                ?? Self.document("layout", BookkeepingJSON.encode(layout), database)
            known = (layout, number)
            try statement.execute(arguments: [
                id, position, source.description.key?.text ?? source.description.fingerprint ?? "", number,
                String(decoding: try encoder.encode(source.description), as: UTF8.self),
            ])
        }
    }

    /// Takes over what is known of the sources now, after they were found to be the same.
    package mutating func refresh(_ descriptions: [SourceDescription], _ database: Database) throws {
        for (position, description) in descriptions.enumerated() where position < sources.count {
            sources[position].description = description
        }
        try saveSources(database)
    }
}
