import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Watches a store that an import may be writing to, from any process, with short read transactions only.
///
/// Made and used by one thread. The store need not be there yet, and may be replaced meanwhile.
package final class StoreWatch {
    /// What does not change while a job runs.
    private struct Job {
        let id: Int64
        let token: String
        let sources: [SourceDescription]
        /// True if it may end before its sources do.
        let hasLimit: Bool
        var tail: ManifestTail?
    }

    /// What is known of one file.
    private struct State {
        let reader: StoreReader
        var version: Int64?
        var schemaVersion: Int64?
        var job: Job?
        var last = StoreSnapshot()
        var newestReject: Int64 = 0
        /// The newest rejects' kinds of errors, the newest first.
        var newestErrors: [ErrorCounts.Key: Int] = [:]
        var lastLockLook = ContinuousClock.now
    }

    /// The newest rejects whose errors are grouped.
    private static let newestRejects = 100
    /// Looking at the lock takes it for a moment.
    private static let lockInterval = Duration.seconds(1)

    private let store: String
    private var state: State?

    /// Nothing is opened before it is asked.
    package init(store: String) {
        self.store = store
    }

    /// Opens the store, if that has not been done; a look does it too, and takes longer then.
    ///
    /// - Returns: the context in which its records are read; nil while it is not there, or holds no import. It is another one when
    ///   another file has replaced the store.
    /// - Throws: `ImportError` when it is no store.
    @discardableResult
    package func connect() throws -> StoreReader? {
        if let reader = state?.reader, reader.isInPlace { return reader }
        state = nil
        do {
            state = State(reader: try StoreReader(store: store))
        } catch let error as ImportError where error.code == .noInput {
            return nil
        }
        return state?.reader
    }

    /// Looks how far the import is.
    ///
    /// - Returns: nil while there is no store, or nothing in it has changed since the last call.
    /// - Throws: `ImportError` when it is no store, or can no longer be read.
    package func look() throws -> StoreSnapshot? {
        guard let reader = try connect(), var state else { return nil }
        do {
            let look = try look(&state)
            self.state = state
            return look
        } catch {
            // It went meanwhile; the next look is at what comes then.
            guard reader.isInPlace else { return nil }
            throw error
        }
    }

    private func look(_ state: inout State) throws -> StoreSnapshot? {
        let (isChanged, read) = try state.reader.read { database in
            let version = try Int64.fetchOne(database, sql: "PRAGMA data_version")
            guard version != state.version else { return (false, state.last) }
            state.version = version
            return (true, try self.read(&state, database))
        }
        var look = read
        // A chunk is cut, and an importer dies, without a commit.
        if look.job != nil, [.running, .interrupted].contains(look.state) {
            state.job?.tail?.update()
            look.splitBytes = max(state.job?.tail?.bytes ?? 0, look.bytes)
            look.splitRecords = max(state.job?.tail?.records ?? 0, look.records)
            if !look.hasModel { look.source = state.job?.tail?.source ?? look.source }
            if !isChanged, state.lastLockLook.duration(to: .now) >= Self.lockInterval {
                look.state = StoreLock.isHeld(store: store) ? .running : .interrupted
                state.lastLockLook = .now
            }
        }
        guard isChanged || look != state.last else { return nil }
        state.last = look
        return look
    }

    // MARK: Looking

    private func read(_ state: inout State, _ database: Database) throws -> StoreSnapshot {
        var look = StoreSnapshot()
        // GRDB remembers tables and columns, and does not see what other connections make of them.
        let schemaVersion = try Int64.fetchOne(database, sql: "PRAGMA schema_version")
        if schemaVersion != state.schemaVersion { database.clearSchemaCache() }
        state.schemaVersion = schemaVersion
        guard try database.hasTable("_import_job"), let row = try StoredJob.newestRow(database) else { return look }
        let id = try row.number("id")
        look.job = id
        look.state = try row.choice("state")
        look.message = try row.optionalText("message")
        look.hasModel = try row.optionalNumber("model") != nil
        if try state.job?.id != id || state.job?.token != row.text("token") {
            state.job = try readJob(row, database)
            (state.newestReject, state.newestErrors) = (0, [:])
        }
        let sources = state.job?.sources ?? []
        look.sources = sources.map(\.name)
        if !sources.isEmpty { look.source = StoreSnapshot.Source(index: 0, bytes: 0, records: 0) }
        look.totalBytes = state.job?.hasLimit == true ? nil : sources.plainSize
        if let marker = try BookkeepingRow.fetchOne(
            database,
            from: "_import_job",
            sql: "SELECT source, byte_offset, record_ordinal, bytes, commits, seconds FROM _import_job WHERE id = ?",
            arguments: [id]
        ) {
            look.bytes = try marker.number("bytes")
            look.commits = try marker.number("commits")
            look.seconds = try marker.seconds("seconds")
            let source = try source(at: marker, of: id, database)
            look.source = source.index < sources.count ? source : nil
        }
        look.entities = try entities(of: id, database)
        for entity in look.entities {
            look.records = look.records.addingClamped(entity.counts.recordsRead)
            look.rejected = look.rejected.addingClamped(entity.counts.rejected)
        }
        (look.splitBytes, look.splitRecords) = (look.bytes, look.records)
        look.errors = try errors(of: id, &state, database)
        if look.state == .running, !StoreLock.isHeld(store: store) { look.state = .interrupted }
        return look
    }

    /// The source that a marker is in.
    private func source(
        at marker: BookkeepingRow,
        of job: Int64,
        _ database: Database
    ) throws -> StoreSnapshot.Source {
        let index = try marker.index("source")
        let first = try BookkeepingRow.fetchOne(
            database,
            from: "_import_chunk",
            sql: "SELECT first_ordinal FROM _import_chunk WHERE job = ? AND source = ? ORDER BY first_byte LIMIT 1",
            arguments: [job, index]
        )
        let records = try first.map { try marker.number("record_ordinal") - $0.number("first_ordinal") + 1 }
        return StoreSnapshot.Source(
            index: index,
            bytes: try marker.number("byte_offset"),
            records: max(0, records ?? 0)
        )
    }

    private func readJob(_ row: BookkeepingRow, _ database: Database) throws -> Job {
        let id = try row.number("id")
        let sources = try StoredJob.sources(of: id, database).map(\.description)
        let document = try BookkeepingRow.first(
            database,
            from: "_import_document",
            "WHERE id = ?",
            [row.number("options")]
        )
        guard let options = try document?.json("content", as: StoredOptions.self) else { throw row.damage("options") }
        let token = try row.text("token")
        return Job(
            id: id,
            token: token,
            sources: sources,
            hasLimit: options.options.limit != nil,
            tail: ManifestTail(directory: try row.text("chunk_directory"), token: options.takesChunks ? nil : token)
        )
    }

    private func entities(of job: Int64, _ database: Database) throws -> [StoreSnapshot.Entity] {
        var entities: [StoreSnapshot.Entity] = []
        // The tables are found one after the other in an index. Each has the entities of the job, or else of the last one that has
        // imported into it. One that is abstract may have none.
        let rows = try Row.fetchCursor(
            database,
            sql: """
                WITH RECURSIVE tables (name) AS (
                    VALUES ('') UNION ALL SELECT (
                        SELECT table_name FROM _import_entity WHERE table_name COLLATE NOCASE > tables.name
                        ORDER BY table_name COLLATE NOCASE LIMIT 1
                    ) FROM tables WHERE name IS NOT NULL
                )
                SELECT entity.* FROM tables JOIN _import_entity AS entity ON table_name = tables.name COLLATE NOCASE
                    AND entity.job = coalesce(
                        (SELECT job FROM _import_entity WHERE table_name = tables.name COLLATE NOCASE AND job = :job),
                        (SELECT job FROM _import_entity WHERE table_name = tables.name COLLATE NOCASE ORDER BY job DESC)
                    )
                WHERE tables.name <> '' ORDER BY entity.job = :job DESC, entity.job DESC, position
                """,
            arguments: ["job": job]
        )
        while let next = try rows.next() {
            let row = BookkeepingRow(next, of: "_import_entity", database)
            let table = try row.text("table_name")
            let owner = try row.rowID("job")
            var counts = ImportReport.Counts()
            if owner == job {
                counts = try ImportReport.Counts(row)
                counts.add(try NestedCounts(row))
            }
            entities.append(StoreSnapshot.Entity(name: try row.text("entity"), table: table, counts: counts))
        }
        return entities
    }

    /// The groups of the newest rejects' errors first, then the others.
    private func errors(of job: Int64, _ state: inout State, _ database: Database) throws -> [ErrorGroup] {
        let newest = try BookkeepingRow.fetchOne(
            database,
            from: "_import_reject",
            sql: "SELECT id FROM _import_reject WHERE job = ? ORDER BY ordinal DESC LIMIT 1",
            arguments: [job]
        )?.rowID("id")
        if newest != state.newestReject {
            state.newestReject = newest ?? 0
            state.newestErrors = try newestErrors(of: job, database)
        }
        let rank = state.newestErrors
        return try ErrorGroupTable.groups(
            database,
            job: job,
            sources: state.job?.sources.map(\.displayName) ?? []
        ).enumerated().map { place, group in
            (group: group, rank: (rank[ErrorCounts.Key(group)] ?? .max, place))
        }.sorted { $0.rank < $1.rank }.map(\.group)
    }

    private func newestErrors(of job: Int64, _ database: Database) throws -> [ErrorCounts.Key: Int] {
        let rows = try BookkeepingRow.fetchAll(
            database,
            from: "_import_reject",
            sql: "SELECT errors FROM _import_reject WHERE job = ? ORDER BY ordinal DESC LIMIT ?",
            arguments: [job, Self.newestRejects]
        )
        var rank: [ErrorCounts.Key: Int] = [:]
        for row in rows {
            // `StoreInspection` says which cannot be read.
            guard let errors = try? row.json("errors", as: [ImportModel.RecordError].self) else { continue }
            for error in errors {
                let key = ErrorCounts.Key(error)
                if rank[key] == nil { rank[key] = rank.count }
            }
        }
        return rank
    }
}
