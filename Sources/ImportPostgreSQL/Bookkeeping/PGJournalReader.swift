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

    func lastJob() throws -> StoredJob? { try select("ORDER BY job.id DESC LIMIT 1").first }

    func unfinishedJobs() throws -> [StoredJob] { try select("WHERE job.state <> 'finished' ORDER BY job.id") }

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
        try readIfThere { connection in
            let isLocked = try session.isLocked || PGLockingSession.isLockHeld(connection, store.lockName)
            return try StoredJob.select(connection, label: label, rest, parameters).map { job in
                var job = job
                // Whoever was running it is gone.
                if job.state == .running, !isLocked { job.state = .interrupted }
                return job
            }
        } ?? []
    }

    func marker(of job: StoredJob) throws -> Marker {
        try readIfThere {
            try ChunkTable(job: job.id).cutMarker($0, keeping: session.keptChunk, label: label)
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
            let row = try connection.execute(
                "SELECT coalesce(sum(records_read), 0), coalesce(sum(rejected), 0) FROM _import_count WHERE job = $1",
                [.integer(job.id)]
            ).first
            return (try row?.integer(0) ?? 0, try row?.integer(1) ?? 0)
        } ?? (0, 0)
    }

    func readEntities(of job: StoredJob) throws -> Set<String> {
        try readIfThere { connection in
            try Set(
                connection.execute(
                    """
                    SELECT entity FROM _import_entity AS entity WHERE job = $1 AND EXISTS (
                        SELECT 1 FROM _import_count AS counts WHERE counts.job = entity.job
                            AND counts.position = entity.position AND records_read > 0
                    )
                    """,
                    [.integer(job.id)]
                ).map { try $0.text(0) }
            )
        } ?? []
    }

    private func ledgerNames(of job: StoredJob, _ kind: LedgerKind) throws -> [(name: String, count: Int64)] {
        try readIfThere { connection in
            try connection.execute(
                """
                SELECT attribute, sum(count)::bigint FROM _import_ledger
                WHERE job = $1 AND kind = $2 AND NOT is_error GROUP BY attribute ORDER BY attribute COLLATE "C"
                """,
                [.integer(job.id), .text(kind.rawValue)]
            ).map { (try $0.text(0), try $0.integer(1)) }
        } ?? []
    }

    func outsideNames(of job: StoredJob) throws -> [String] { try ledgerNames(of: job, .outside).map(\.name) }

    func badSources(of job: StoredJob) throws -> [String] { try ledgerNames(of: job, .badSource).map(\.name) }

    func unfoundPaths(of job: StoredJob) throws -> [String] {
        try ledgerNames(of: job, .notFound).compactMap { name, count in
            Int(count) == job.sources.count { $0.shape.paths.contains(name) } ? name : nil
        }
    }

    func indexesLeftOut(of job: StoredJob) throws -> [(entity: String, attributes: String)] {
        try readIfThere { connection in
            try connection.execute(
                """
                SELECT entity, attribute FROM _import_ledger WHERE job = $1 AND kind = $2 AND NOT is_error
                ORDER BY entity COLLATE "C", attribute COLLATE "C"
                """,
                [.integer(job.id), .text(LedgerKind.indexLeftOut.rawValue)]
            ).map { (try $0.text(0), try $0.text(1)) }
        } ?? []
    }

    func indexes(of job: StoredJob) throws -> StoreIndexes {
        let text = try readIfThere {
            try $0.execute("SELECT indexes FROM _import_job WHERE id = $1", [.integer(job.id)]).first?.text(0)
        }
        guard let text = text ?? nil else { return StoreIndexes(wanted: []) }
        return StoreIndexes(wanted: try BookkeepingJSON.decode([[String]].self, text))
    }

    // MARK: Files

    func files() throws -> [RecordedFile] {
        try readIfThere { try RecordedFile.all($0, ofHost: store.host) } ?? []
    }

    func leftFiles() throws -> [RecordedFile] {
        try readIfThere { try RecordedFile.left($0, ofHost: store.host) } ?? []
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
            for entity in try StoredJob.models(besides: job, connection, label: label).flatMap(\.entities)
            where !entity.identifier.isEmpty {
                known[BytewiseString(entity.table)] = entity
            }
            return try known.values.sorted { $0.name < $1.name }.filter {
                try PGTables.kind(of: $0.table, connection) == .table
            }
        } ?? []
    }

    func continuedEntities(of job: StoredJob) throws -> [String: ExistingEntity] {
        try session.read { try continuedEntities(of: job, $0) }
    }

    func continuedEntities(of job: StoredJob, _ connection: PGConnection) throws -> [String: ExistingEntity] {
        let known = try StoredJob.models(besides: job.id, connection, label: label)
        var continued: [String: ExistingEntity] = [:]
        for name in Set(job.sources.flatMap(\.entities)) {
            guard try PGTables.kind(of: name, connection) == .table, try PGTables.hasRows(name, connection)
            else { continue }
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
