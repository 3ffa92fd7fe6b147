import Foundation
import GRDB
import ImportModel

/// A job as the store keeps it.
struct StoredJob: Sendable {
    /// What a job retries.
    enum Retry: String, Sendable, Hashable, Codable {
        /// A repair file, under the model of the rejects' job.
        case file
        /// A repair file under a model that was given.
        case fileUnderModel
        /// The stored rejects under a model that was given.
        case stored
    }

    /// One of its sources.
    struct Source: Sendable {
        var description: SourceDescription
        let shape: SourceShape
        /// Per record path the name of its entity.
        let entities: [String]
    }

    var id: Int64 = 0
    /// Tells this job's chunk directory from any other.
    var token = UUID().uuidString.lowercased()
    var state = ImportReport.State.running
    var message: String?
    /// What its result depends on.
    var options: JobOptions
    /// Whether the chunks were cut before, by `split`, and are not this job's to remove.
    var takesChunks = false
    /// What it retries; nil where it is an import of its own.
    var retry: Retry?
    var sources: [Source]
    /// The model that it imports with; nil until it is inferred.
    var model: ModelDescription?
    /// Whether an inferred model was inferred from all records, and not only from those before a fault.
    var isModelFinal = true
    var chunkDirectory: String

    /// The tables of its entities; none before it has a model.
    var tables: [String] { model?.entities.map(\.table) ?? [] }

    // MARK: Reading

    /// All of the store's jobs, in order.
    static func all(_ database: Database) throws -> [StoredJob] {
        guard try database.tableExists("_import_job") else { return [] }
        return try BookkeepingRow.fetchAll(database, from: "_import_job", sql: "SELECT * FROM _import_job ORDER BY id")
            .map { try StoredJob($0, database) }
    }

    private init(_ row: BookkeepingRow, _ database: Database) throws {
        id = try row.number("id")
        token = try row.text("token")
        state = try row.choice("state")
        message = try row.optionalText("message")
        let stored: StoredOptions = try row.json("options")
        (options, takesChunks, retry) = (stored.options, stored.takesChunks, stored.retry)
        isModelFinal = try row.flag("is_model_final")
        chunkDirectory = try row.text("chunk_directory")
        guard !chunkDirectory.isEmpty else { throw row.damage("chunk_directory") }
        sources = try Self.sources(of: id, database)
        guard !sources.isEmpty else { throw row.damage("id") }
        guard let number = try row.optionalNumber("model") else { return }
        guard
            let stored = try BookkeepingRow.fetchOne(
                database,
                from: "_import_model",
                sql: "SELECT model FROM _import_model WHERE id = ?",
                arguments: [number]
            )
        else { throw row.damage("model") }
        let model = try? ModelDescription(stored: Array(stored.text("model").utf8))
        let names = Set((model?.entities ?? []).map { ExactText($0.name) })
        guard let model, sources.flatMap(\.entities).allSatisfy({ names.contains(ExactText($0)) }) else {
            throw stored.damage("model")
        }
        self.model = model
    }

    private static func sources(of job: Int64, _ database: Database) throws -> [Source] {
        try BookkeepingRow.fetchAll(
            database,
            from: "_import_source",
            sql: "SELECT * FROM _import_source WHERE job = ? ORDER BY position",
            arguments: [job]
        ).enumerated().map { position, row in
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

    init(
        options: JobOptions,
        takesChunks: Bool = false,
        retry: Retry? = nil,
        sources: [Source],
        model: ModelDescription?,
        chunkDirectory: String
    ) {
        self.options = options
        self.takesChunks = takesChunks
        self.retry = retry
        self.sources = sources
        self.model = model
        self.chunkDirectory = chunkDirectory
    }

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

    /// Gives the job its model, and the store the model's tables.
    ///
    /// - Parameters:
    ///   - model: given, or inferred.
    ///   - transformers: those that it may name.
    ///   - isFinal: whether it was inferred from all records.
    /// - Returns: what that changes in tables that other jobs have filled, to be told when it is committed, and what is to be
    ///   said of it.
    mutating func adopt(
        _ model: ModelDescription,
        _ transformers: TransformerRegistry,
        isFinal: Bool = true,
        _ database: Database,
        store: String
    ) throws -> (merges: [MergeNotification], messages: [String]) {
        // What cannot be imported with, or read back, must not get into the store.
        for (position, entity) in model.entities.enumerated() {
            _ = try EntityPlan(entity: entity, index: position, transformers: transformers)
        }
        let merges = try DeferredIdentifier.settle(tables: model.entities.map(\.table), database)
        let preparation = try StoreSchema.prepareTables(model, job: id, database, store: store)
        try TableWitness.forget(model.entities.map(\.table), database)
        let text = model.encoded()
        var number = try Int64.fetchOne(
            database,
            sql: "SELECT id FROM _import_model WHERE model = ? ORDER BY id DESC",
            arguments: [text]
        )
        if number == nil {
            try database.execute(sql: "INSERT INTO _import_model (model) VALUES (?)", arguments: [text])
            number = database.lastInsertedRowID
        }
        try database.execute(
            sql: "UPDATE _import_job SET model = ?, is_model_final = ? WHERE id = ?",
            arguments: [number, isFinal, id]
        )
        for (position, entity) in model.entities.enumerated() {
            let table = entity.table.quotedIdentifier
            try database.execute(
                sql: """
                    INSERT INTO _import_entity (
                        job, position, entity, table_name, made_table, rows_before, last_rowid_before
                    )
                    SELECT ?, ?, ?, ?, ?, (SELECT count(*) FROM \(table)), (SELECT coalesce(max(rowid), 0) FROM \(table))
                    """,
                arguments: [id, position, entity.name, entity.table, preparation.made.contains(entity.table)]
            )
            try prepareIndexes(of: entity, position: position, database, store: store)
        }
        self.model = model
        isModelFinal = isFinal
        return (merges, preparation.messages)
    }

    /// Makes sure that the tables are as the job needs them, when it continues after a while.
    ///
    /// - Throws: `ImportError` when another job has made them otherwise.
    func prepareAgain(_ database: Database, store: String) throws {
        guard let model else { return }
        let deferred = try DeferredIdentifier.positions(job: id, database)
        for (position, entity) in model.entities.enumerated() where try database.tableExists(entity.table) {
            try StoreSchema.extend(entity, job: id, database, store: store)
            guard !deferred.contains(position) else { continue }
            try StoreSchema.prepareIdentifier(of: entity, job: id, database, store: store)
        }
    }

    /// Takes away what the job has added to tables that nothing came into.
    func removeUnusedAdditions(_ database: Database) throws {
        let tables = try String.fetchAll(
            database,
            sql: "SELECT table_name FROM _import_entity WHERE job = ?",
            arguments: [id]
        )
        let taken = try takenTables(database)
        for table in tables where !taken.contains(table) {
            try TableAdditions.remove(job: id, from: table, database)
        }
    }

    /// The tables that the job has taken anything for.
    func takenTables(_ database: Database) throws -> Set<String> {
        try Set(
            String.fetchAll(
                database,
                sql: """
                    SELECT table_name FROM _import_entity
                    WHERE job = ? AND inserted + updated + unchanged + ignored > 0
                    """,
                arguments: [id]
            )
        )
    }

    /// The attributes of an entity's table that the entity does not have, where objects are replaced as a whole.
    func unread(besides entity: EntityDescription, _ database: Database) throws -> [AttributeDescription] {
        guard options.onConflict == .replace, !entity.identifier.isEmpty else { return [] }
        return try StoredEntities.unread(besides: entity, database)
    }

    /// Leaves to the end what of an entity's indexes can be built then, and makes sure of the others.
    private func prepareIndexes(
        of entity: EntityDescription,
        position: Int,
        _ database: Database,
        store: String
    ) throws {
        let isEmpty = try !StoreSchema.hasRows(entity.table, database)
        let isDeferred =
            try isEmpty && (options.onConflict != .error || mayRejectLate)
            && DeferredIdentifier.isPossible(entity, database)
        if isDeferred {
            try DeferredIdentifier.begin(job: id, position: position, database)
        } else {
            try StoreSchema.prepareIdentifier(of: entity, job: id, database, store: store)
        }
        guard isEmpty else { return }
        try DroppedIndexes.drop(of: entity, job: id, position: position, includesIdentifier: isDeferred, database)
    }

    /// Whether records may turn out to be rejects when all have been read: nothing depends on knowing it at once, and they
    /// can be read again.
    private var mayRejectLate: Bool {
        if case .count? = options.maxErrors { return false }
        return options.onError != .stop && retry == nil && !takesChunks
            && sources.allSatisfy(\.description.isRepeatable)
    }

    /// Takes the job out of the store again: the rows that it inserted go, merges that it made stay.
    ///
    /// - Returns: that all is to be looked at again, to be told when it is committed; nil where it had no model yet.
    /// - Throws: `ImportError` when the rows that it inserted cannot be told from others.
    func remove(_ database: Database) throws -> MergeNotification? {
        let merge = try clear(database)
        try database.execute(sql: "DELETE FROM _import_source WHERE job = ?", arguments: [id])
        try database.execute(sql: "DELETE FROM _import_index WHERE job = ?", arguments: [id])
        try database.execute(sql: "DELETE FROM _import_job WHERE id = ?", arguments: [id])
        return merge
    }

    /// Puts the job back to where it had no model yet.
    ///
    /// - Returns: that all is to be looked at again, to be told when it is committed; nil where it had no model yet.
    /// - Throws: `ImportError` when the rows that it inserted cannot be told from others.
    mutating func forgetModel(_ database: Database) throws -> MergeNotification? {
        let merge = try clear(database)
        try database.execute(
            sql: "UPDATE _import_job SET model = NULL, is_model_final = 1 WHERE id = ?",
            arguments: [id]
        )
        try Marker().save(database, job: id)
        model = nil
        isModelFinal = true
        return merge
    }

    private func clear(_ database: Database) throws -> MergeNotification? {
        guard try Int64.fetchOne(database, sql: "SELECT max(id) FROM _import_job") == id else {
            throw ImportError(
                .usage,
                "another import has run since, so the rows of this one cannot be removed",
                advice: "Import the source into another store."
            )
        }
        let tables = try BookkeepingRow.fetchAll(
            database,
            from: "_import_entity",
            sql: "SELECT * FROM _import_entity WHERE job = ?",
            arguments: [id]
        )
        for row in tables {
            let table = try row.text("table_name")
            // Nothing but the model's own tables may go.
            guard model?.entities.contains(where: { $0.table == table }) ?? false else {
                throw row.damage("table_name")
            }
            try TableWitness.forget([table], database)
            if try row.flag("made_table") {
                try database.execute(sql: "DROP TABLE IF EXISTS \(table.quotedIdentifier)")
            } else if try row.number("inserted") > 0 {
                try deleteRows(of: table, before: row, database)
            }
        }
        try DroppedIndexes.restore(job: id, database)
        try TableAdditions.remove(job: id, database)
        try RetryOutcome.unsettle(id, database)
        try database.execute(
            sql: "DELETE FROM _import_reject_key WHERE reject IN (SELECT id FROM _import_reject WHERE job = ?)",
            arguments: [id]
        )
        for table in [
            "entity", "chunk", "marker", "reject", "ledger", "error", "retry", "deferred_identifier", "presence",
            "place",
        ] {
            try database.execute(sql: "DELETE FROM _import_\(table) WHERE job = ?", arguments: [id])
        }
        return tables.isEmpty ? nil : try MergeLog.appendReset(of: id, database)
    }

    private func deleteRows(of table: String, before row: BookkeepingRow, _ database: Database) throws {
        if try row.number("rows_before") == 0 {
            return try database.execute(sql: "DELETE FROM \(table.quotedIdentifier)")
        }
        guard let entity = model?.entities.first(where: { $0.table == table }),
            StoreSchema.rowIDAttribute(of: entity) == nil
        else {
            throw ImportError(
                .usage,
                "\(table): rows of this import cannot be told from those before it",
                advice: "Finish the import with `importer resume`."
            )
        }
        // Without an integer primary key new rows follow the ones before (https://www.sqlite.org/autoinc.html).
        try database.execute(
            sql: "DELETE FROM \(table.quotedIdentifier) WHERE rowid > ?",
            arguments: [try row.rowID("last_rowid_before")]
        )
    }

    /// Notes where the job is.
    ///
    /// - Parameter seconds: the time that it has taken up to now.
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
                UPDATE _import_job SET state = ?, message = ?,
                    finished = CASE ? WHEN 'finished' THEN strftime('%Y-%m-%dT%H:%M:%fZ') END
                WHERE id = ?
                """,
            arguments: [state.rawValue, message, state.rawValue, id]
        )
        try database.execute(
            sql: "UPDATE _import_marker SET seconds = ? WHERE job = ?",
            arguments: [seconds, id]
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
