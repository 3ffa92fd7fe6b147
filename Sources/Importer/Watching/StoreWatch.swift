import Foundation
import GRDB
import ImportModel

/// Watches a store that an import may be writing to, from any process, with short read transactions only.
///
/// Made and used by one thread. The store need not be there yet, and may be replaced meanwhile.
public final class StoreWatch {
    /// What does not change while a job runs.
    private struct Job {
        let id: Int64
        let token: String
        let sources: [SourceDescription]
        var tail: ManifestTail?
    }

    /// The newest rejects whose errors are grouped.
    private static let newestRejects = 100
    /// Looking at the lock takes it for a moment.
    private static let lockInterval = Duration.seconds(1)

    private let store: String
    private var connection: DatabaseQueue?
    private var identity: FileNumber?
    private var version: Int64?
    private var schemaVersion: Int64?
    private var job: Job?
    private var last = StoreLook()
    private var newestReject: Int64 = 0
    private var lastLockLook = ContinuousClock.now

    /// Nothing is opened before it is asked.
    public init(store: String) {
        self.store = store
    }

    deinit {
        try? connection?.close()
    }

    /// Opens the store, if that has not been done; a look does it too, and takes longer then.
    ///
    /// - Returns: whether it is there.
    /// - Throws: `ImportError` when it is no store.
    @discardableResult
    public func connect() throws -> Bool { try open() != nil }

    /// Looks how far the import is.
    ///
    /// - Returns: nil while there is no store, or nothing in it has changed since the last call.
    /// - Throws: `ImportError` when it is no store, or can no longer be read.
    public func look() throws -> StoreLook? {
        guard let connection = try open() else { return nil }
        defer { if last.job == nil { forgetConnection() } }
        return try translating {
            let version = try connection.inDatabase { try Int64.fetchOne($0, sql: "PRAGMA data_version") }
            var look = last
            let isChanged = version != self.version
            if isChanged {
                look = try connection.read { try read($0) }
                self.version = version
            }
            // A chunk is cut, and an importer dies, without a commit.
            if look.job != nil, [.running, .interrupted].contains(look.state) {
                job?.tail?.update()
                look.splitBytes = max(job?.tail?.bytes ?? 0, look.bytes)
                look.splitRecords = max(job?.tail?.records ?? 0, look.records)
                if !isChanged, lastLockLook.duration(to: .now) >= Self.lockInterval {
                    look.state = StoreLock.isHeld(store: store) ? .running : .interrupted
                    lastLockLook = .now
                }
            }
            guard isChanged || look != last else { return nil }
            last = look
            return look
        }
    }

    /// Reads a window on the rows of a table.
    ///
    /// - Returns: nil where there is no such store or table (any more).
    /// - Throws: `ImportError` when the table has no such column, or the store cannot be read.
    public func window(_ request: StoreWindow.Request) throws -> StoreWindow? {
        guard let connection = try open() else { return nil }
        return try translating {
            try connection.read { database in
                try forgetOldSchema(database)
                return try Self.read(request, database)
            }
        }
    }

    // MARK: Connection

    /// A connection that was opened before the store became what it is may not notice what is committed to it.
    private func forgetConnection() {
        try? connection?.close()
        (connection, version) = (nil, nil)
    }

    /// The connection to the file that has the store's name now; nil while there is none.
    private func open() throws -> DatabaseQueue? {
        let now = FileNumber(store)
        if now != identity {
            try? connection?.close()
            (connection, version, job, last, newestReject) = (nil, nil, nil, StoreLook(), 0)
            identity = now
        }
        guard now != nil else { return nil }
        if let connection { return connection }
        do {
            let new = try StoreConnection.reader(store)
            try translating { try new.read { try StoreSchema.checkFormat($0, store: store) } }
            connection = new
            return new
        } catch let error as ImportError {
            identity = nil
            // It went between two looks.
            if error.code == .noInput { return nil }
            if error.code == .cannotCreate {
                throw ImportError(.io, error.message, advice: "Give the path of a store that an import makes.")
            }
            throw error
        }
    }

    private func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw ImportError(store: store, error)
        }
    }

    // MARK: Looking

    private func read(_ database: Database) throws -> StoreLook {
        var look = StoreLook()
        try forgetOldSchema(database)
        guard try database.tableExists("_import_job"), let row = try jobRow(database) else { return look }
        let id: Int64 = row["id"]
        look.job = id
        look.state = ImportReport.State(rawValue: row["state"]) ?? .failed
        look.message = row["message"]
        look.hasModel = (row["model"] as Int64?) != nil
        if job?.id != id || job?.token != row["token"] {
            job = try readJob(row, database)
            newestReject = 0
        }
        look.sources = job?.sources.map(\.name) ?? []
        look.totalBytes = job?.sources.plainSize
        if let marker = try Row.fetchOne(
            database,
            sql: "SELECT bytes, seconds FROM _import_marker WHERE job = ?",
            arguments: [id]
        ) {
            look.bytes = marker["bytes"]
            look.seconds = marker["seconds"]
        }
        look.entities = try entities(of: id, database)
        for entity in look.entities {
            look.records += entity.counts.recordsRead
            look.rejected += entity.counts.rejected
        }
        (look.splitBytes, look.splitRecords) = (look.bytes, look.records)
        look.errors = try errors(of: id, database)
        if look.state == .running, !StoreLock.isHeld(store: store) { look.state = .interrupted }
        return look
    }

    /// GRDB remembers tables and columns, and does not see what other connections make of them.
    private func forgetOldSchema(_ database: Database) throws {
        let version = try Int64.fetchOne(database, sql: "PRAGMA schema_version")
        if version != schemaVersion { database.clearSchemaCache() }
        schemaVersion = version
    }

    /// The job that has committed last, or a later one that has yet to do so.
    ///
    /// That a job is said to run means little: one that was killed is, until it is resumed.
    private func jobRow(_ database: Database) throws -> Row? {
        let newest =
            try database.tableExists("_import_merge")
            ? "coalesce((SELECT job FROM _import_merge ORDER BY sequence DESC LIMIT 1), 0)" : "0"
        return try Row.fetchOne(
            database,
            sql: """
                SELECT id, token, state, message, model, chunk_directory, options
                FROM _import_job, (SELECT \(newest) AS newest)
                ORDER BY id = newest AND state = 'running' DESC, id > newest AND state = 'running' DESC,
                    id = newest DESC, id DESC
                LIMIT 1
                """
        )
    }

    private func readJob(_ row: Row, _ database: Database) throws -> Job {
        let sources = try String.fetchAll(
            database,
            sql: "SELECT description FROM _import_source WHERE job = ? ORDER BY position",
            arguments: [row["id"] as Int64]
        ).map { try StoredJSON.decode(SourceDescription.self, $0) }
        let options = try StoredJSON.decode(StoredJob.Options.self, row["options"])
        let token: String = row["token"]
        return Job(
            id: row["id"],
            token: token,
            sources: sources,
            tail: ManifestTail(directory: row["chunk_directory"], token: options.takesChunks ? nil : token)
        )
    }

    private func entities(of job: Int64, _ database: Database) throws -> [StoreLook.Entity] {
        var entities: [StoreLook.Entity] = []
        var tables: Set<String> = []
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT * FROM _import_entity ORDER BY job = ? DESC, job DESC, position",
            arguments: [job]
        )
        while let row = try rows.next() {
            let table: String = row["table_name"]
            guard tables.insert(table.asciiLowercased).inserted else { continue }
            let counts = row["job"] == job ? ImportReport.Counts(row) : ImportReport.Counts()
            entities.append(
                StoreLook.Entity(
                    name: row["entity"],
                    table: table,
                    counts: counts,
                    rowCount: (row["rows_before"] as Int64) &+ (row["inserted"] as Int64)
                )
            )
        }
        return entities
    }

    /// The groups of the newest rejects' errors first, then the others.
    private func errors(of job: Int64, _ database: Database) throws -> [ErrorGroup] {
        let newest = try Int64.fetchOne(
            database,
            sql: "SELECT id FROM _import_reject WHERE job = ? ORDER BY ordinal DESC LIMIT 1",
            arguments: [job]
        )
        // Without a new reject only values that became null can have been counted.
        if let newest, newest == newestReject, !last.errors.isEmpty { return last.errors }
        newestReject = newest ?? 0
        var groups = try ErrorGroupTable.groups(
            database,
            job: job,
            sources: self.job?.sources.map(\.displayName) ?? []
        )
        let texts = try String.fetchAll(
            database,
            sql: "SELECT errors FROM _import_reject WHERE job = ? ORDER BY ordinal DESC LIMIT ?",
            arguments: [job, Self.newestRejects]
        )
        var rank: [ErrorCounts.Key: Int] = [:]
        for text in texts {
            for error in try StoredJSON.decode([ImportModel.RecordError].self, text) {
                let key = ErrorCounts.Key(error)
                if rank[key] == nil { rank[key] = rank.count }
            }
        }
        let places = groups.indices.sorted { left, right in
            let ranks = [left, right].map { rank[ErrorCounts.Key(groups[$0])] ?? .max }
            return (ranks[0], left) < (ranks[1], right)
        }
        groups = places.map { groups[$0] }
        return groups
    }

    // MARK: Rows

    private static func read(_ request: StoreWindow.Request, _ database: Database) throws -> StoreWindow? {
        guard try database.tableExists(request.table) else { return nil }
        let columns = try database.columns(in: request.table).map(\.name)
        for sort in request.sort where !columns.contains(where: { $0.utf8.elementsEqual(sort.column.utf8) }) {
            throw ImportError(
                .usage,
                "\(request.table) has no column \(sort.column)",
                advice: "It has: \(columns.joined(separator: ", "))."
            )
        }
        let shown = columns.dropFirst(max(request.firstColumn, 0)).prefix(max(request.columnLimit, 0))
        // Texts and blobs are cut by their bytes, and text is read as bytes: it may hold NUL.
        let values = shown.map { column in
            let name = column.quotedIdentifier
            return """
                typeof(\(name)), CASE typeof(\(name)) WHEN 'text' THEN substr(CAST(\(name) AS BLOB), 1, ?1)
                WHEN 'blob' THEN substr(\(name), 1, ?1) ELSE \(name) END
                """
        }
        var order = request.sort.map { "\($0.column.quotedIdentifier) \($0.ascending ? "ASC" : "DESC")" }
        order.append(request.sort.isEmpty ? "rowid DESC" : "rowid")
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \((["?1", "rowid"] + values).joined(separator: ", "))
                FROM \(request.table.quotedIdentifier) ORDER BY \(order.joined(separator: ", ")) LIMIT ?2 OFFSET ?3
                """,
            arguments: [request.byteLimit, request.limit, max(request.offset, 0)]
        )
        var result: [StoreWindow.Row] = []
        while let row = try rows.next() {
            let values = shown.indices.indices.map { place in
                value(row, type: row[2 + 2 * place], at: 3 + 2 * place)
            }
            result.append(StoreWindow.Row(rowID: row[1], values: values))
        }
        return StoreWindow(columns: columns, rows: result)
    }

    private static func value(_ row: Row, type: String, at index: Int) -> StoreWindow.Value {
        switch type {
        case "integer": .integer(row[index])
        case "real": .real(row[index])
        case "text": .text([UInt8](row[index] as Data? ?? Data()))
        case "blob": .blob([UInt8](row[index] as Data? ?? Data()))
        default: .null
        }
    }
}

extension ErrorCounts.Key {
    fileprivate init(_ group: ErrorGroup) {
        self.init(
            entity: group.entity,
            keyPath: group.keyPath,
            code: group.code,
            expected: group.expected,
            found: group.found
        )
    }
}
