import Foundation
import ImportModel
import Importer

/// A schema's bookkeeping, open for writing under the schema's lock.
///
/// Each call is one transaction, which may be done twice.
final class PGJournal: PGJournalReader, Journal {
    func bringUp() throws { try session.write { try BookkeepingSchema.prepare($0, label: label) } }

    // MARK: Jobs

    func begin(_ planned: StoredJob, _ beginning: JobStart) throws -> JobModelResult {
        guard planned.options.mirror == nil else { throw unsupported("\(.mirror)") }
        guard !planned.replacesSources else { throw unsupported("\(.replacesSources)") }
        guard !planned.keepsUndo else { throw unsupported("\(.keepsUndo)") }
        let updated = try planned.updates.isEmpty ? [] : updated(by: planned.updates, jobs())
        let begun = try session.write { connection in
            var job = planned
            if try !session.hasBookkeeping(connection) { try BookkeepingSchema.prepare(connection, label: label) }
            if var chunks = beginning.replacedChunks {
                chunks.state = .left
                chunks.save(connection, host: store.host)
            }
            if let replaced = beginning.replaced { try remove(replaced, connection) }
            try job.enroll(in: connection, host: store.host, indexes: beginning.indexes)
            try save(updated, connection)
            session.upcoming.removeAll()
            var messages: [MessageText] = []
            if job.model != nil || beginning.retry != nil { try job.number(connection) }
            if let model = job.model {
                messages = try adopt(model, by: &job, beginning.transformers, isFinal: true, connection)
            }
            session.upcoming += [RecordedFile.question(host: store.host), job.numberQuestion]
            if let plan = beginning.retry { try RetryTable(of: job)?.insert(plan, connection) }
            if !job.takesChunks {
                RecordedFile(chunksOf: job, isMade: beginning.makesChunkDirectory)
                    .save(connection, host: store.host)
            }
            return JobModelResult(job: job, messages: messages)
        }
        var job = begun.job
        try session.read { try job.number($0) }
        if let replaced = beginning.replaced { ReplayFolder.remove(of: replaced) }
        return JobModelResult(job: job, messages: begun.messages)
    }

    /// The sources of earlier jobs, with what has become of them.
    private func updated(by updates: [SourceUpdate], _ jobs: [StoredJob]) -> [StoredJob] {
        var keys: [BytewiseString: SourceUpdate] = [:]
        var places: [BytewiseString: Int64] = [:]
        for update in updates {
            keys[update.key] = update
            if let key = update.now?.key { places[key] = update.job }
        }
        return jobs.compactMap { job in
            var (job, isUpdated) = (job, false)
            for index in job.sources.indices {
                let source = job.sources[index].description
                let placed = updates.first { $0.position == index && $0.job == job.id }
                guard let update = placed ?? source.key.flatMap({ keys[$0] }), job.id <= update.job else {
                    // What was at the new path of another one is not there any more.
                    guard let key = source.key, keys[key] == nil, job.id <= places[key] ?? -1 else { continue }
                    (job.sources[index].description.isGone, isUpdated) = (true, true)
                    continue
                }
                job.sources[index].description = update.updated(source, of: job.id)
                isUpdated = true
            }
            return isUpdated ? job : nil
        }
    }

    private func save(_ jobs: [StoredJob], _ connection: PGConnection) throws {
        for job in jobs {
            connection.post(
                "UPDATE _import_job SET sources = $2 WHERE id = $1",
                [.integer(job.id), .text(try BookkeepingJSON.encode(job.sources))]
            )
        }
    }

    private func unsupported(_ what: MessageText) -> ImportError {
        ImportError(
            .optionsConflict,
            at: label,
            "not supported in a server's schema yet: \(what)",
            advice: "Import into a SQLite store."
        )
    }

    func update(_ sources: [SourceUpdate]) throws {
        let updated = try updated(by: sources, jobs())
        try session.write { try save(updated, $0) }
    }

    func resume(_ job: StoredJob, building indexes: StoreIndexes) throws -> StoreIndexes {
        let before = try self.indexes(of: job)
        let updated = try job.updates.isEmpty ? [] : updated(by: job.updates, jobs())
        session.keptChunk = try session.write { connection in
            try save(updated, connection)
            connection.post(
                "UPDATE _import_job SET options = $2, is_split = false WHERE id = $1",
                [.integer(job.id), .text(try BookkeepingJSON.encode(StoredOptions(of: job)))]
            )
            if !indexes.wanted.isEmpty { try save(indexes, of: job, connection) }
            // A job that goes on may try again what was tried in vain.
            connection.post(
                "UPDATE _import_chunk SET state = 'sealed', attempts = 0 WHERE job = $1 AND state = 'failed'",
                [.integer(job.id)]
            )
            return try ChunkTable(job: job.id).removeAfterLastKept(connection)
        }
        return before
    }

    private func save(_ indexes: StoreIndexes, of job: StoredJob, _ connection: PGConnection) throws {
        connection.post(
            "UPDATE _import_job SET indexes = $2 WHERE id = $1",
            [.integer(job.id), .text(try BookkeepingJSON.encode(indexes.wanted))]
        )
    }

    func adopt(
        by job: StoredJob,
        _ transformers: TransformerRegistry,
        isFinal: Bool,
        _ infer: ([String: ExistingEntity], _ isTaken: @escaping (String) throws -> Bool) throws -> ModelDescription
    ) throws -> JobModelResult {
        // Others may have written since its tables were looked at.
        session.forget()
        return try session.write { connection in
            var job = job
            if job.model != nil {
                try clear(job, connection)
                try refresh(&job, job.sources.map(\.description), connection)
            }
            let model = try infer(continuedEntities(of: job, connection, with: [Self.positions(of: job.id)])) { name in
                switch try PGTables.kind(of: name, connection) {
                case nil: false
                case .table: try PGTables.hasRows(name, connection)
                case .other: true
                }
            }
            let messages = try adopt(model, by: &job, transformers, isFinal: isFinal, connection)
            return JobModelResult(job: job, messages: messages)
        }
    }

    /// Gives a job its model, and the schema the model's tables.
    ///
    /// - Returns: what is to be said of it.
    private func adopt(
        _ model: ModelDescription,
        by job: inout StoredJob,
        _ transformers: TransformerRegistry,
        isFinal: Bool,
        _ connection: PGConnection
    ) throws -> [MessageText] {
        // What cannot be imported with, or read back, must not get into the store.
        let model = model.storedOnServer
        let server = try PGModel(model, job.options, transformers, label: label)
        let known = Self.positions(of: job.id)
        let questions = server.entities.map(\.table).flatMap(PGTables.questions)
        let positions = try Set(connection.ask(known, with: questions).map { try $0.integer(0) })
        let there = try server.entities.map(\.table).filter {
            try !PGTables.questions(of: $0).isEmpty && PGTables.kind(of: $0, connection) == .table
        }
        if let first = there.first {
            _ = try PGTables.hasRows(first, connection, with: there.map(PGTables.rowsQuestion))
        }
        var entities: [[PGValue]] = []
        job.model = model
        job.isModelFinal = isFinal
        var messages: [MessageText] = []
        // By table, whether it was made, and whether it was empty.
        var prepared: [Int: (isMade: Bool, isEmpty: Bool)] = [:]
        for position in server.plans.indices {
            guard !positions.contains(Int64(position)) else { continue }
            let home = server.home(of: position)
            let (isMade, isEmpty) =
                try home.map { home in
                    if let known = prepared[home] { return known }
                    let table = try prepareTable(of: home, server, connection, &messages)
                    prepared[home] = table
                    return table
                } ?? (false, true)
            entities.append([
                .integer(job.id), .integer(Int64(position)), .text(model.entities[position].name),
                .text(home.map { server.entities[$0].table } ?? ""), .boolean(isMade), .boolean(isEmpty),
            ])
        }
        // Nothing is written before all is known that is asked of the tables.
        for entity in entities { connection.post(Self.insertingEntity, entity) }
        save(model, of: job.id, isFinal: isFinal, connection)
        session.upcoming = state(of: job.id) + server.entities.map { PGTables.defaultsQuestion($0.table) }
        let bytes = job.sources.reduce(Int64(0)) { $0 + ($1.description.plainSize ?? $1.description.size ?? 0) }
        try StagingTables.prepare(job, server, bytes: bytes, connection)
        if let related = server.related { try prepare(related, of: job, connection) }
        if let what = server.serial {
            messages.append("\(what): this process settles the records by itself, one after the other")
        }
        return messages
    }

    private static let insertingEntity = """
        INSERT INTO _import_entity (job, position, entity, table_name, made_table, was_empty)
        VALUES ($1, $2, $3, $4, $5, $6)
        """

    /// The positions of a job's entities, and of its tables of relationships.
    private static func positions(of job: Int64) -> PGStatement {
        PGStatement("SELECT position FROM _import_entity WHERE job = $1", [.integer(job)])
    }

    /// Makes the table of an entity, or prepares the one that is there.
    private func prepareTable(
        of position: Int,
        _ server: PGModel,
        _ connection: PGConnection,
        _ messages: inout [MessageText]
    ) throws -> (isMade: Bool, isEmpty: Bool) {
        let entity = server.entities[position]
        let rowID = server.related?.rowID(of: position)
        let isMade = try PGTables.prepare(entity, rowID: rowID, connection, label: label) { added in
            let names = added.prefix(20).map { "\($0.name) (\($0.type.rawValue))" }
            let rest = added.count > names.count ? ", … and \((added.count - names.count).grouped) more" : ""
            messages.append("new columns in \(entity.table): \(names.joined(separator: ", "))\(rest)")
        }
        let isEmpty = try isMade || !PGTables.hasRows(entity.table, connection)
        if !isEmpty, !entity.identifier.isEmpty {
            try PGTables.prepareIdentifier(of: entity, connection, label: label)
        }
        return (isMade, isEmpty)
    }

    /// Makes join tables, and the staging tables of what relates entities.
    private func prepare(_ related: RelationshipTables, of job: StoredJob, _ connection: PGConnection) throws {
        let positions = try Set(connection.ask(Self.positions(of: job.id)).map { try $0.integer(0) })
        _ = try connection.execute(BookkeepingSchema.relating)
        for (number, join) in related.joins.enumerated() {
            let name = related.layout.join(of: join.making).table
            // Entities have positions from 0.
            let position = PGValue.integer(-1 - Int64(number))
            guard !positions.contains(-1 - Int64(number)) else { continue }
            let isMade = try PGTables.prepare(join, name, connection, label: label)
            let isEmpty = try isMade || !PGTables.hasRows(name, connection)
            connection.post(
                Self.insertingEntity,
                [.integer(job.id), position, .text(""), .text(name), .boolean(isMade), .boolean(isEmpty)]
            )
        }
        for table in RelationshipStagingTables(job: job.id, tables: related).all { connection.post(table.creation) }
        let unchanged = PGTables.quoted(StagingName.unchanged(of: job.id))
        connection.post(
            "CREATE TABLE IF NOT EXISTS \(unchanged) (position integer, _ordinal bigint, _child bigint)"
        )
        try RelationshipSteps.begin(job.id, connection)
    }

    /// Writes the model of a job.
    func save(_ model: ModelDescription, of job: Int64, isFinal: Bool, _ connection: PGConnection) {
        connection.post(
            """
            WITH known AS (SELECT id FROM _import_model WHERE model = $2), made AS (
                INSERT INTO _import_model (model) SELECT $2 WHERE NOT EXISTS (SELECT FROM known) RETURNING id
            )
            UPDATE _import_job SET model = coalesce((SELECT min(id) FROM known), (SELECT id FROM made)), is_model_final = $3
            WHERE id = $1
            """,
            [.integer(job), .text(model.encoded()), .boolean(isFinal)]
        )
    }

    func refresh(
        _ job: StoredJob,
        _ sources: [SourceDescription],
        retry: (any RetryPlan)?
    ) throws -> (job: StoredJob, merge: MergeNotification?) {
        try session.write { connection in
            var job = job
            try refresh(&job, sources, connection)
            if let retry {
                let kept = try ChunkTable(job: job.id).cutMarker(connection, keeping: session.keptChunk, label: label)
                try RetryTable(of: job)?.insert(retry, after: kept.recordOrdinal, connection)
            }
            return (job, nil)
        }
    }

    private func refresh(_ job: inout StoredJob, _ sources: [SourceDescription], _ connection: PGConnection) throws {
        for (position, description) in sources.enumerated() where job.sources.indices.contains(position) {
            job.sources[position].description = description
        }
        connection.post(
            "UPDATE _import_job SET sources = $2 WHERE id = $1",
            [.integer(job.id), .text(try BookkeepingJSON.encode(job.sources))]
        )
    }

    func remove(_ job: StoredJob) throws -> MergeNotification? {
        try session.write { try remove(job, $0) }
        ReplayFolder.remove(of: job)
        return nil
    }

    private func remove(_ job: StoredJob, _ connection: PGConnection) throws {
        try clear(job, connection)
        _ = try connection.execute("DELETE FROM _import_job WHERE id = $1", [.integer(job.id)])
    }

    /// Takes away the rows that a job has inserted, and what counts them.
    ///
    /// - Throws: `ImportError` where its rows cannot be told from others.
    private func clear(_ job: StoredJob, _ connection: PGConnection) throws {
        let later = try connection.execute(
            """
            SELECT table_name FROM _import_entity WHERE job > $1
            AND table_name IN (SELECT table_name FROM _import_entity WHERE job = $1 AND table_name <> '')
            """,
            [.integer(job.id)]
        ).first
        if let later { throw job.overtaken(in: try later.text(0)) }
        let entities = try connection.execute(
            """
            SELECT entity.table_name, made_table, was_empty,
                coalesce(sum(inserted + nested_inserted + stubs), (min(position) < 0 AND was_empty)::integer)::bigint
            FROM _import_entity AS entity LEFT JOIN _import_count AS counts USING (job, position)
            WHERE job = $1 AND entity.table_name <> '' GROUP BY entity.table_name, made_table, was_empty
            """,
            [.integer(job.id)]
        )
        try PendingLinkBackup(job: job.id).putBack(connection)
        try StagingTables.drop(of: job.id, connection)
        // Those that refer to one another go together.
        var (dropped, emptied): ([String], [String]) = ([], [])
        for row in entities {
            let (table, isMade, wasEmpty, inserted) =
                (try row.text(0), try row.bool(1), try row.bool(2), try row.integer(3))
            guard inserted == 0 || wasEmpty else {
                throw ImportError(
                    .rowsIndistinct,
                    at: label,
                    "the rows that the import has added to \(table) cannot be told from those that were there before",
                    advice: "Resume it: \(call: .resuming(store: label))."
                )
            }
            let name = PGTables.quoted(table)
            if isMade { dropped.append(name) } else if inserted > 0 { emptied.append(name) }
        }
        if !dropped.isEmpty {
            _ = try connection.execute("DROP TABLE IF EXISTS \(dropped.joined(separator: ", "))")
        }
        if !emptied.isEmpty { _ = try connection.execute("TRUNCATE \(emptied.joined(separator: ", "))") }
        try RetryTable.remove(job, connection)
        for table in ["count", "reject", "ledger", "settle", "chunk", "entity", "unresolved"].map({ "_import_\($0)" })
        where try BookkeepingSchema.has(table, connection) {
            _ = try connection.execute("DELETE FROM \(table) WHERE job = $1", [.integer(job.id)])
        }
        _ = try connection.execute("UPDATE _import_job SET is_split = false WHERE id = $1", [.integer(job.id)])
    }

    // MARK: Their states

    func start(_ job: StoredJob, seconds: Double) throws -> StoredJob {
        session.upcoming = state(of: job.id)
        if let model = job.model {
            session.upcoming += model.entities.map { PGTables.defaultsQuestion($0.table) }
        } else {
            session.upcoming.append(StoredJob.modelsQuestion)
        }
        try session.start(job.id, seconds: seconds)
        var job = job
        (job.state, job.message) = (.running, nil)
        return job
    }

    func stop(_ job: StoredJob, _ state: ImportReport.State, _ message: String, seconds: Double) throws {
        var job = job
        try session.write { job.setState(state, message: message, seconds: seconds, $0) }
    }

    func putBack(
        _ job: StoredJob,
        _ state: ImportReport.State,
        _ message: String?,
        seconds: Double,
        _ indexes: StoreIndexes
    ) throws {
        var job = job
        try session.write { connection in
            job.setState(state, message: message, seconds: seconds, connection)
            try save(indexes, of: job, connection)
        }
    }

    func finish(
        _ job: StoredJob,
        message: String?,
        seconds: Double,
        keepsChunks: Bool
    ) throws -> MergeNotification {
        var job = job
        session.upcoming = PGReportBuilder.questions(of: job.id) + [RecordedFile.question(host: store.host)]
        return try session.write { connection in
            var marker = try ChunkTable(job: job.id).cutMarker(connection, label: label, with: state(of: job.id))
            let totals = try PGCounts.totals(of: job, connection)
            job.setState(.finished, message: message, seconds: seconds, connection)
            if keepsChunks {
                connection.post("DELETE FROM _import_file WHERE token = $1", [.text(job.token)])
            }
            marker.seconds = seconds
            return MergeNotification(
                job: job.id,
                commit: marker.commits,
                changes: [],
                totals: totals,
                marker: marker,
                isFinished: true
            )
        }
    }

    func takeBackUnresolved(_ job: StoredJob, _ interruption: Interruption) throws -> MergeNotification? { nil }

    func settle(
        _ job: StoredJob,
        _ opener: SourceOpener,
        _ interruption: Interruption
    ) throws -> MergeNotification? {
        guard let model = job.model else { return nil }
        let wanted = try indexes(of: job)
        guard !wanted.wanted.isEmpty || model.entities.contains(where: { !$0.indexes.isEmpty }) else { return nil }
        try session.write { connection in
            // Objects that are nested elsewhere have tables with rows though no record of theirs is read.
            let filled = model.isFlat ? try filledEntities(of: job, connection) : Set(model.entities.map(\.name))
            for entity in model.entitiesWithTables where filled.contains(entity.name) {
                let indexes = try PGTables.buildIndexes(of: entity, wanted, connection)
                try PGCounts.note(indexes, of: entity, job.id, connection)
            }
        }
        return nil
    }

    private func filledEntities(of job: StoredJob, _ connection: PGConnection) throws -> Set<String> {
        try Set(
            connection.ask(Self.readEntities(of: job.id), with: state(of: job.id)).filter { try $0.bool(2) }
                .map { try $0.text(0) }
        )
    }

    /// A server's jobs replace nothing.
    func replace(_ job: StoredJob, _ interruption: Interruption) throws -> MergeNotification? { nil }

    func mirror(
        _ job: StoredJob,
        _ options: MirrorOptions,
        _ transformers: TransformerRegistry,
        _ interruption: Interruption
    ) throws -> MergeNotification? {
        throw unsupported("\(.mirror)")
    }

    // MARK: Files

    func record(_ files: [RecordedFile], chunksOf job: StoredJob?) throws {
        try session.write { connection in
            for file in files { file.save(connection, host: store.host) }
            guard let job else { return }
            connection.post(
                "UPDATE _import_job SET chunk_directory = $2, host = $3 WHERE id = $1",
                [.integer(job.id), .text(job.chunkDirectory), .text(store.host)]
            )
        }
    }

    func removeLeftFiles() throws {
        for file in try leftFiles() {
            do {
                // Its name is the importer's; it is where the process was that made it.
                let folder = URL(filePath: file.path).deletingLastPathComponent()
                try file.remove(store: folder.appending(path: store.fileName).path)
                try file.syncRemoval()
            } catch is ImportError {
                // It stays recorded, and the next run tries again.
                continue
            }
            try session.write { connection in
                connection.post(
                    "DELETE FROM _import_file WHERE host = $1 AND token = $2 AND path = $3",
                    [.text(store.host), .text(file.token), .text(file.path)]
                )
            }
        }
    }
}
