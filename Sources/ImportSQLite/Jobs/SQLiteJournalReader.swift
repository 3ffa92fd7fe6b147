import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Bookkeeping that is read through a connection.
package protocol SQLiteJournalReader: JournalReader {
    /// The store's path.
    var store: String { get }
    /// nil while there is no store.
    var connection: DatabaseQueue? { get }
}

extension SQLiteJournalReader {
    /// - Returns: nil while there is no store.
    /// - Throws: `ImportError`.
    package func readIfThere<Result>(_ body: (Database) throws -> Result) throws -> Result? {
        try ImportError.explaining(store) { try connection?.read(body) }
    }

    package func jobs() throws -> [StoredJob] { try readIfThere(StoredJob.all) ?? [] }

    package func hasJobs() throws -> Bool { try readIfThere(StoredJob.isAnyThere) ?? false }

    package func job(_ id: Int64) throws -> StoredJob? { try readIfThere { try StoredJob.find(id, $0) } ?? nil }

    package func lastJob() throws -> StoredJob? { try readIfThere(StoredJob.last) ?? nil }

    package func unfinishedJobs() throws -> [StoredJob] { try readIfThere(StoredJob.unfinished) ?? [] }

    package func undo(of job: Int64) throws -> StoredJob? {
        try readIfThere { database in
            try StoredJob.undo(of: job, database).flatMap { try StoredJob.find($0, database) }
        } ?? nil
    }

    package func forEachJob(_ body: (StoredJob) throws -> Bool) throws {
        var last = Int64.max
        while true {
            let page = try readIfThere { try StoredJob.newest(10, before: last, $0) } ?? []
            for job in page {
                guard try body(job) else { return }
                last = job.id
            }
            if page.isEmpty { return }
        }
    }

    package func forEachJob(withOneOf sources: [SourceDescription], _ body: (StoredJob) throws -> Bool) throws {
        try forEachJob(readIfThere { try StoredJob.numbers(withOneOf: sources, $0) } ?? [], body)
    }

    package func forEachJob(beginningAsOneOf hashes: Set<String>, _ body: (StoredJob) throws -> Bool) throws {
        guard !hashes.isEmpty else { return }
        let numbers = try readIfThere { database in
            guard try database.hasTable("_import_source") else { return [] as [Int64] }
            return try Int64.fetchAll(
                database,
                sql: """
                    WITH hash (value) AS (SELECT value FROM json_each(?))
                    SELECT DISTINCT job FROM _import_source WHERE json_extract(description, '$.fingerprint') IN hash
                        OR json_extract(description, '$.opening') IN hash ORDER BY job DESC
                    """,
                arguments: [try BookkeepingJSON.encode(hashes.sorted())]
            )
        }
        try forEachJob(numbers ?? [], body)
    }

    private func forEachJob(_ numbers: [Int64], _ body: (StoredJob) throws -> Bool) throws {
        for number in numbers { guard let job = try job(number), try body(job) else { return } }
    }

    package func hasFinishedStream(_ fingerprint: String) throws -> Bool {
        try readIfThere { try StoredJob.hasFinishedStream(fingerprint, $0) } ?? false
    }

    package func isFinished(token: String) throws -> Bool {
        try readIfThere { database in
            let numbers = try Int64.fetchAll(
                database,
                sql: "SELECT id FROM _import_job WHERE token = ? AND state = 'finished'",
                arguments: [token]
            )
            return try numbers.contains { try StoredJob.find($0, database)?.takesChunks == false }
        } ?? false
    }

    package func knownRecords(of entities: Set<String>, excluding job: Int64?) throws -> [String: KnownRecords] {
        try readIfThere { try StoredJob.knownRecords(of: entities, excluding: job, $0) } ?? [:]
    }

    package func presence(of job: StoredJob, entities: [String]?) throws -> JobPresence {
        try readIfThere { try job.presence(of: entities, $0) } ?? .whole
    }

    package func marker(of job: StoredJob) throws -> Marker {
        try readIfThere { try Marker($0, job: job.id) ?? Marker() } ?? Marker()
    }

    package func committed(of job: StoredJob, source: Int, from byte: Int64) throws -> CommittedSource {
        try readIfThere { database in
            let ranges = try BookkeepingRow.fetchAll(
                database,
                from: "_import_chunk",
                sql: """
                    SELECT DISTINCT first_byte, end_byte, source_hash FROM _import_chunk
                    WHERE job = ? AND source = ? AND first_byte >= ? AND is_complete ORDER BY first_byte
                    """,
                arguments: [job.id, source, byte]
            ).map { try HashedRange($0) }
            let isLimited = try job.options.limit != nil && hasReachedLimit(job, source, database)
            var committed = CommittedSource(ranges: ranges, hasReachedLimit: isLimited)
            let rows = "SELECT 1 FROM _import_chunk WHERE job = ? AND source = ? AND inserted > 0"
            committed.hasRows = try database.exists(rows, [job.id, source])
            return committed
        } ?? CommittedSource(ranges: [], hasReachedLimit: false)
    }

    /// True if a source was not read to its end, as no more records of it were wanted.
    private func hasReachedLimit(_ job: StoredJob, _ source: Int, _ database: Database) throws -> Bool {
        let records = try Int64.fetchOne(
            database,
            sql: "SELECT sum(records) FROM _import_chunk WHERE job = ? AND source = ?",
            arguments: [job.id, source]
        )
        return SplitLimits(job.options).isReached(records: records ?? 0, paths: job.sources[source].shape.paths.count)
    }

    package func recordCounts(of job: StoredJob) throws -> (read: Int64, rejected: Int64) {
        let row =
            try readIfThere {
                try Row.fetchOne(
                    $0,
                    sql: """
                        SELECT coalesce(sum(records_read), 0) AS read, coalesce(sum(rejected), 0) AS rejected
                        FROM _import_entity WHERE job = ?
                        """,
                    arguments: [job.id]
                )
            } ?? nil
        return (row?["read"] ?? 0, row?["rejected"] ?? 0)
    }

    package func readEntities(of job: StoredJob) throws -> Set<String> {
        let sql = "SELECT entity FROM _import_entity WHERE job = ? AND records_read > 0"
        return try readIfThere { try Set(String.fetchAll($0, sql: sql, arguments: [job.id])) } ?? []
    }

    package func outsideNames(of job: StoredJob) throws -> [String] {
        try readIfThere {
            try BookkeepingRow.fetchAll(
                $0,
                from: "_import_ledger",
                sql: "SELECT attribute FROM _import_ledger WHERE job = ? AND kind = ? AND NOT is_error",
                arguments: [job.id, LedgerKind.outside.rawValue]
            ).map { try $0.text("attribute") }
        } ?? []
    }

    package func unfoundPaths(of job: StoredJob) throws -> [String] {
        try readIfThere {
            try BookkeepingRow.fetchAll(
                $0,
                from: "_import_ledger",
                sql: """
                    SELECT attribute, sum(count) AS sources FROM _import_ledger
                    WHERE job = ? AND kind = ? AND NOT is_error GROUP BY attribute ORDER BY attribute
                    """,
                arguments: [job.id, LedgerKind.notFound.rawValue]
            ).compactMap { row in
                let path = try row.text("attribute")
                return try row.index("sources") == job.sources.count { $0.shape.paths.contains(path) } ? path : nil
            }
        } ?? []
    }

    package func wordsOfUncheckedKeys(of job: StoredJob) throws -> [MessageText] {
        try readIfThere { try UncheckedForeignKeys.words(of: job, $0) } ?? []
    }

    package func badSources(of job: StoredJob) throws -> [String] {
        let sql = "SELECT attribute FROM _import_ledger WHERE job = ? AND kind = ? ORDER BY attribute"
        return try readIfThere { database in
            guard try database.hasTable("_import_ledger") else { return [] }
            return try String.fetchAll(database, sql: sql, arguments: [job.id, LedgerKind.badSource.rawValue])
        } ?? []
    }

    package func indexes(of job: StoredJob) throws -> StoreIndexes {
        try readIfThere { try StoreIndexes(of: job, $0) } ?? StoreIndexes(wanted: [])
    }

    package func files() throws -> [RecordedFile] { try readIfThere { try RecordedFile.all($0) } ?? [] }

    package func leftFiles() throws -> [RecordedFile] { try readIfThere { try RecordedFile.left($0) } ?? [] }

    package func hasTable(_ name: String) throws -> Bool { try readIfThere { try $0.hasTable(name) } ?? false }

    package func theirTables() throws -> [String] { try readIfThere(StoreSchema.theirTables) ?? [] }

    package func checkTables(_ names: [String]) throws {
        try StoreSchema.checkNames(ofTables: names)
        try readIfThere { try StoreSchema.checkThatTables(names, areFreeIn: $0, store: store) }
    }

    package func identifiedEntities(excluding job: Int64?) throws -> [EntityDescription] {
        try readIfThere { database in
            guard try database.hasTable("_import_job") else { return [] }
            return try StoredEntities.described(database, excluding: job).compactMap { described in
                guard !described.identifier.isEmpty, try database.hasTable(described.entity.table) else {
                    return nil
                }
                var entity = described.entity
                entity.identifier = described.identifier
                return entity
            }
        } ?? []
    }

    package func continuedEntities(of job: StoredJob) throws -> [String: ExistingEntity] {
        try readIfThere { try StoredEntities.continued(job, $0) } ?? [:]
    }

    package func hasUntried(_ selection: RejectSelection, besidesThoseOf retries: [Int64]) throws -> Bool {
        let numbers = retries.map(String.init).joined(separator: ", ")
        let isNew =
            retries.isEmpty ? "" : "AND id NOT IN (SELECT reject FROM _import_retry WHERE job IN (\(numbers)))"
        return try readIfThere {
            try $0.exists(
                """
                SELECT 1 FROM _import_reject
                WHERE state = 'open' AND length(record) >= length
                    AND (?1 IS NULL OR job = ?1) AND (?2 IS NULL OR entity = ?2) \(isNew)
                """,
                [selection.job, selection.entity]
            )
        } ?? false
    }

    package func forEachRepairLine(_ selection: RejectSelection, _ body: (ArraySlice<UInt8>) throws -> Void) throws
        -> Int64
    {
        var exporter = RejectExporter(as: .repairLines, leavesOutPartial: true)
        let damage = try StoreInspection(store: store).scanRejects(selection) {
            try exporter.append($0) { try body($0[...]) }
        }
        try exporter.flush { try body($0[...]) }
        if let damage { throw damage }
        return exporter.export.partial
    }

    package func retryPlan(
        _ name: String,
        maxRecordBytes: Int,
        _ lines: (_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Void
    ) throws -> any RetryPlan {
        guard let connection else { throw ImportError.noStore(at: store) }
        return try ImportError.explaining(store) {
            try connection.read {
                try RepairFilePlan(name, SQLiteRejectLookup(database: $0), maxRecordBytes: maxRecordBytes, lines)
            }
        }
    }
}

/// A store's bookkeeping as those see it who have not opened it for writing.
final class ReadOnlyJournal: SQLiteJournalReader {
    let store: String
    let connection: DatabaseQueue?
    /// The job that was read last, which may have many sources.
    private var last: StoredJob?

    init(store: String, connection: DatabaseQueue?) { (self.store, self.connection) = (store, connection) }

    func job(_ id: Int64) throws -> StoredJob? {
        if last?.id != id { last = try readIfThere { try StoredJob.find(id, $0) } ?? nil }
        return last
    }
}
