import Foundation
import ImportModel
import Importer

/// What is read of a schema's bookkeeping.
///
/// The marker of a job is the end of what is cut: chunks are committed in any order, and each has a row of its own from when it is
/// sealed. What of it is committed is for those who look (`PostgreSQLInspection`).
class PGJournalReader: JournalReader {
    let session: PGLockingSession
    var store: PostgreSQLStore { session.store }
    var label: String { session.label }

    init(_ session: PGLockingSession) {
        self.session = session
    }

    /// - Returns: nil while there is no bookkeeping.
    func readIfThere<Result>(_ body: (PGConnection) throws -> Result) throws -> Result? {
        try session.read { connection in
            guard try session.hasBookkeeping(connection) else { return nil }
            return try body(connection)
        }
    }

    func jobs() throws -> [StoredJob] { try select("ORDER BY job.id") }

    func hasJobs() throws -> Bool { try lastJob() != nil }

    func job(_ id: Int64) throws -> StoredJob? { try select("WHERE job.id = $1", [.integer(id)]).first }

    func lastJob() throws -> StoredJob? { try select(Self.recent).last }

    func unfinishedJobs() throws -> [StoredJob] { try select(Self.recent).filter { $0.state != .finished } }

    /// The newest job, and those that are not finished.
    private static let recent = """
        WHERE job.state <> 'finished' OR job.id = (SELECT max(id) FROM _import_job) ORDER BY job.id
        """

    /// What each import asks before it begins.
    private var planning: [PGStatement] {
        [
            StoredJob.question(Self.recent), Self.known(besides: nil), StoredJob.modelsQuestion,
            RecordedFile.question(host: store.host),
        ]
    }

    /// The newest first, some at a time.
    func forEachJob(_ body: (StoredJob) throws -> Bool) throws {
        var (before, count) = (Int64.max, 16)
        while true {
            let jobs = try select(
                "WHERE job.id < $1 ORDER BY job.id DESC LIMIT $2",
                [.integer(before), .integer(Int64(count))]
            )
            for job in jobs { guard try body(job) else { return } }
            guard let last = jobs.last, jobs.count == count else { return }
            (before, count) = (last.id, 2 * count)
        }
    }

    func forEachJob(
        beginningAsOneOf hashes: Set<String>,
        _ body: (StoredJob) throws -> Bool
    ) throws {
        guard !hashes.isEmpty else { return }
        let rest = """
            WHERE EXISTS (SELECT FROM jsonb_array_elements_text($1::jsonb) AS hash WHERE strpos(job.sources, hash) > 0)
            ORDER BY job.id DESC
            """
        for job in try select(rest, [.text(try BookkeepingJSON.encode(hashes.sorted()))])
        where job.sources.contains(where: { !hashes.isDisjoint(with: $0.description.beginnings) }) {
            guard try body(job) else { return }
        }
    }

    func hasFinishedStream(_ fingerprint: String) throws -> Bool {
        try select("WHERE job.state = 'finished' AND strpos(job.sources, $1) > 0", [.text(fingerprint)]).contains {
            job in
            job.sources.contains { !$0.description.isRepeatable && $0.description.fingerprint == fingerprint }
        }
    }

    func isFinished(token: String) throws -> Bool {
        try select("WHERE job.token = $1", [.text(token)]).contains { $0.state == .finished && !$0.takesChunks }
    }

    /// Of jobs that found records of the same entities at the same paths, the newest counts.
    func knownRecords(of entities: Set<String>, excluding job: Int64?) throws -> [String: KnownRecords] {
        var known: [String: KnownRecords] = [:]
        for stored in try select(Self.known(besides: job)) {
            for source in stored.sources { source.add(to: &known, of: entities, stored.options) }
        }
        return known
    }

    private static func known(besides job: Int64?) -> PGStatement {
        StoredJob.question(
            """
            WHERE job.id IN (
                SELECT max(other.id) FROM _import_job AS other, jsonb_array_elements(other.sources::jsonb) AS source
                WHERE other.id IS DISTINCT FROM $1 AND other.options::jsonb ->> 'retry' IS NULL AND EXISTS (
                    SELECT FROM _import_chunk AS chunk WHERE chunk.job = other.id AND chunk.records > 0
                )
                GROUP BY source -> 'entities', source -> 'shape'
            ) ORDER BY job.id DESC
            """,
            [job.map { .integer($0) } ?? .null]
        )
    }

    /// A server's jobs are not undone.
    func undo(of job: Int64) throws -> StoredJob? { nil }

    func forEachJob(
        withOneOf sources: [SourceDescription],
        _ body: (StoredJob) throws -> Bool
    ) throws {
        let keys = Set(sources.compactMap(\.key))
        guard !keys.isEmpty else { return }
        let paths = try BookkeepingJSON.encode(sources.compactMap(\.path))
        let rest = """
            WHERE EXISTS (
                SELECT 1 FROM jsonb_array_elements(job.sources::jsonb) AS source
                WHERE source -> 'description' ->> 'path' IN (SELECT jsonb_array_elements_text($1::jsonb))
            ) ORDER BY job.id DESC
            """
        for job in try select(rest, [.text(paths)])
        where job.sources.contains(where: { $0.description.key.map(keys.contains) ?? false }) {
            guard try body(job) else { return }
        }
    }

    /// - Parameter rest: what follows the tables in the statement.
    private func select(_ rest: String, _ parameters: [PGValue] = []) throws -> [StoredJob] {
        try select(StoredJob.question(rest, parameters))
    }

    private func select(_ question: PGStatement) throws -> [StoredJob] {
        try readIfThere { connection in
            let isLocked = try session.isLocked || PGLockingSession.isLockHeld(connection, store.lockName)
            return try StoredJob.select(question, connection, label: label, with: planning).map { job in
                var job = job
                // Whoever was running it is gone.
                if job.state == .running, !isLocked { job.state = .interrupted }
                return job
            }
        } ?? []
    }

    func marker(of job: StoredJob) throws -> Marker {
        try readIfThere {
            try ChunkTable(job: job.id).cutMarker($0, keeping: session.keptChunk, label: label, with: state(of: job.id))
        } ?? Marker()
    }

    func committed(of job: StoredJob, source: Int, from byte: Int64) throws -> CommittedSource {
        let found = try readIfThere { connection in
            let rows = try connection.execute(
                """
                SELECT first_byte, end_byte, source_hash, records FROM _import_chunk
                WHERE job = $1 AND source = $2 AND number <= $3 ORDER BY number
                """,
                [
                    .integer(job.id), .integer(Int64(source)),
                    .integer(try session.keptChunk ?? ChunkTable(job: job.id).lastKept(connection)),
                ]
            )
            let ranges = try rows.map {
                HashedRange(firstByte: try $0.integer(0), endByte: try $0.integer(1), hash: try $0.text(2))
            }.filter { $0.firstByte >= byte }
            let records = try rows.reduce(Int64(0)) { try $0 + $1.integer(3) }
            let paths = job.sources.indices.contains(source) ? job.sources[source].shape.paths.count : 1
            let isReached = SplitLimits(job.options).isReached(records: records, paths: paths)
            return CommittedSource(ranges: ranges, hasReachedLimit: isReached)
        }
        return found ?? CommittedSource(ranges: [], hasReachedLimit: false)
    }

    func recordCounts(of job: StoredJob) throws -> (read: Int64, rejected: Int64) {
        try readIfThere { connection in
            let row = try connection.ask(Self.recordCounts(of: job.id), with: state(of: job.id)).first
            return (try row?.integer(0) ?? 0, try row?.integer(1) ?? 0)
        } ?? (0, 0)
    }

    func readEntities(of job: StoredJob) throws -> Set<String> {
        try readIfThere { connection in
            try Set(
                connection.ask(Self.readEntities(of: job.id), with: state(of: job.id)).filter { try $0.bool(1) }
                    .map { try $0.text(0) }
            )
        } ?? []
    }

    // MARK: Where a job is

    /// What each phase of an import asks of its job.
    func state(of job: Int64) -> [PGStatement] {
        let chunks = ChunkTable(job: job)
        return [
            chunks.markerQuestion(keeping: session.keptChunk), chunks.doneQuestion, Self.recordCounts(of: job),
            Self.readEntities(of: job), Self.ledgerNames(of: job), Self.indexes(of: job),
            PGCounts.totalsQuestion(of: job),
        ]
    }

    private static func recordCounts(of job: Int64) -> PGStatement {
        PGStatement(
            "SELECT coalesce(sum(records_read), 0), coalesce(sum(rejected), 0) FROM _import_count WHERE job = $1",
            [.integer(job)]
        )
    }

    /// Its entities: whether any record of theirs was read, and whether any that was is no reject.
    static func readEntities(of job: Int64) -> PGStatement {
        PGStatement(
            """
            SELECT entity, coalesce(bool_or(records_read > 0), false), coalesce(bool_or(records_read > rejected), false)
            FROM _import_entity LEFT JOIN _import_count USING (job, position) WHERE job = $1 GROUP BY entity
            """,
            [.integer(job)]
        )
    }

    private static func indexes(of job: Int64) -> PGStatement {
        PGStatement("SELECT indexes FROM _import_job WHERE id = $1", [.integer(job)])
    }

    private static func ledgerNames(of job: Int64) -> PGStatement {
        let kinds = [LedgerKind.outside, .badSource, .notFound, .indexLeftOut].map { "'\($0.rawValue)'" }
        return PGStatement(
            """
            SELECT kind, entity, attribute, sum(count)::bigint FROM _import_ledger
            WHERE job = $1 AND kind IN (\(kinds.joined(separator: ", "))) AND NOT is_error
            GROUP BY kind, entity, attribute ORDER BY entity COLLATE "C", attribute COLLATE "C"
            """,
            [.integer(job)]
        )
    }

    /// What the ledger has of a kind, by entity and attribute.
    private func ledger(of job: StoredJob, _ kind: LedgerKind) throws -> [(entity: String, name: String, count: Int64)]
    {
        try readIfThere { connection in
            try connection.ask(Self.ledgerNames(of: job.id), with: state(of: job.id))
                .filter { try $0.text(0) == kind.rawValue }
                .map { (try $0.text(1), try $0.text(2), try $0.integer(3)) }
        } ?? []
    }

    private func ledgerNames(of job: StoredJob, _ kind: LedgerKind) throws -> [(name: String, count: Int64)] {
        var counts: [String: Int64] = [:]
        for (_, name, count) in try ledger(of: job, kind) { counts[name, default: 0] += count }
        return counts.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { ($0.key, $0.value) }
    }

    func outsideNames(of job: StoredJob) throws -> [String] { try ledgerNames(of: job, .outside).map(\.name) }

    func badSources(of job: StoredJob) throws -> [String] { try ledgerNames(of: job, .badSource).map(\.name) }

    func unfoundPaths(of job: StoredJob) throws -> [String] {
        try ledgerNames(of: job, .notFound).compactMap { name, count in
            Int(count) == job.sources.count { $0.shape.paths.contains(name) } ? name : nil
        }
    }

    func indexesLeftOut(of job: StoredJob) throws -> [(entity: String, attributes: String)] {
        try ledger(of: job, .indexLeftOut).map { ($0.entity, $0.name) }
    }

    func indexes(of job: StoredJob) throws -> StoreIndexes {
        let text = try readIfThere {
            try $0.ask(Self.indexes(of: job.id), with: state(of: job.id)).first?.text(0)
        }
        guard let text = text ?? nil else { return StoreIndexes(wanted: []) }
        return StoreIndexes(wanted: try BookkeepingJSON.decode([[String]].self, text))
    }

    // MARK: Files

    func files() throws -> [RecordedFile] {
        try readIfThere { try RecordedFile.files($0, host: store.host, with: planning) } ?? []
    }

    func leftFiles() throws -> [RecordedFile] {
        try readIfThere { try RecordedFile.files($0, host: store.host, areLeft: true, with: planning) } ?? []
    }

    // MARK: Tables

    func hasTable(_ name: String) throws -> Bool {
        try session.read { try PGTables.kind(of: name, $0) == .table }
    }

    func checkTables(_ names: [String]) throws {
        try session.read { try PGTables.check(names, $0, label: label) }
    }

    func identifiedEntities(excluding job: Int64?) throws -> [EntityDescription] {
        try readIfThere { connection in
            var known: [BytewiseString: EntityDescription] = [:]
            for entity in try StoredJob.models(besides: job, connection, label: label, with: planning).flatMap(
                \.entities
            )
            where !entity.identifier.isEmpty {
                known[BytewiseString(entity.table)] = entity
            }
            let questions = known.values.map { PGTables.kindQuestion($0.table) }
            return try known.values.sorted { $0.name < $1.name }.filter {
                try PGTables.kind(of: $0.table, connection, with: questions) == .table
            }
        } ?? []
    }

    func continuedEntities(of job: StoredJob) throws -> [String: ExistingEntity] {
        try session.read { try continuedEntities(of: job, $0) }
    }

    /// - Parameter others: what is asked with its questions.
    func continuedEntities(
        of job: StoredJob,
        _ connection: PGConnection,
        with others: [PGStatement] = []
    ) throws -> [String: ExistingEntity] {
        let names = Set(job.sources.flatMap(\.entities))
        let questions = names.flatMap(PGTables.questions) + others
        let known =
            try session.hasBookkeeping(connection)
            ? StoredJob.models(besides: job.id, connection, label: label, with: questions) : []
        let tables = try names.filter { try PGTables.kind(of: $0, connection, with: questions) == .table }
        var continued: [String: ExistingEntity] = [:]
        for name in tables {
            guard try PGTables.hasRows(name, connection, with: tables.map(PGTables.rowsQuestion)) else { continue }
            let described = known.reversed().lazy
                .compactMap { $0.entities.first { $0.name == name || $0.table == name } }.first
            guard let described else {
                throw ImportError(
                    .tableUnsuitable,
                    at: label,
                    "the table \(name) has rows that no import has written, so a model cannot be inferred for it",
                    advice: "Give a model with \(.model)."
                )
            }
            continued[name] = ExistingEntity(entity: described)
        }
        return continued
    }

    // MARK: Retries

    func hasUntried(_ selection: RejectSelection, besidesThoseOf retries: [Int64]) throws -> Bool {
        try readIfThere { try PGRejects(store: store).hasUntried(selection, besidesThoseOf: retries, $0) } ?? false
    }

    /// On a connection of its own: what is done with the lines asks the server, too.
    func forEachRepairLine(_ selection: RejectSelection, _ body: (ArraySlice<UInt8>) throws -> Void) throws -> Int64 {
        let reading = PGLockingSession(store, session.interruption, writes: false)
        defer { reading.close() }
        var exporter = RejectExporter(as: .repairLines, leavesOutPartial: true)
        try reading.snapshot { connection in
            try PGRejects(store: store).forEach(selection, connection) {
                try exporter.append($0) { try body($0[...]) }
            }
        }
        try exporter.flush { try body($0[...]) }
        return exporter.export.partial
    }

    func retryPlan(
        _ name: String,
        maxRecordBytes: Int,
        _ lines: (_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Void
    ) throws -> any RetryPlan {
        try RepairFilePlan(name, PGRejectLookup(session: session), maxRecordBytes: maxRecordBytes, lines)
    }
}
