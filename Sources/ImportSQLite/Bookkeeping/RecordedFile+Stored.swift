import Foundation
import GRDB
import ImportEngine
import ImportSources

/// What the store has of chunk directories and repair files.
extension RecordedFile {
    /// All that are recorded; none in a store without bookkeeping.
    package static func all(_ database: Database) throws -> [RecordedFile] {
        try BookkeepingRow.all(database, from: "_import_file", "ORDER BY path, token").map { try RecordedFile($0) }
    }

    private init(_ row: BookkeepingRow) throws {
        let path = try row.text("path")
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw row.damage("path") }
        let token = try row.text("token")
        let kind: Kind = try row.choice("kind")
        let state: State = try row.choice("state")
        self.init(token: token, path: path, kind: kind, isMade: try row.flag("is_made"))
        self.state = state
        // Both are recorded at once. Either may be any number of 64 bits.
        guard let device = try row.optionalNumber("device", in: .min ... .max) else { return }
        number = DeviceAndInode(
            device: dev_t(truncatingIfNeeded: device),
            inode: ino_t(truncatingIfNeeded: try row.rowID("inode"))
        )
    }

    /// Adds it, or what has become known of it.
    package func save(_ database: Database) throws {
        let device = number.map { Int64(truncatingIfNeeded: $0.device) }
        let inode = number.map { Int64(truncatingIfNeeded: $0.inode) }
        try BookkeepingSchema.make(["_import_file"], database)
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO _import_file (token, path, kind, state, is_made, device, inode)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [token, path, kind.rawValue, state.rawValue, isMade, device, inode]
        )
    }

    /// Adds it, unless the store has a record of its job's file of this kind.
    func saveUnlessKnown(_ database: Database) throws {
        guard try !Self.all(database).contains(where: { $0.token == token && $0.kind == kind }) else { return }
        try save(database)
    }

    /// Takes out a job's chunk directory: it is the person's from now on.
    package static func keepChunks(of job: StoredJob, _ database: Database) throws {
        for file in try all(database) where file.isUsed(forChunksOf: job) { try file.delete(database) }
    }

    private func delete(_ database: Database) throws {
        try database.execute(sql: "DELETE FROM _import_file WHERE token = ? AND path = ?", arguments: [token, path])
    }

    /// Runs a transaction that is on the disk when this returns, unless the store's durability is off.
    package static func record<Result>(
        _ database: DatabaseQueue,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        let level = try database.inDatabase { database in
            let level = try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? 1
            if level == 1 { try database.execute(sql: "PRAGMA synchronous = FULL") }
            return level
        }
        defer {
            if level == 1 { _ = try? database.inDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") } }
        }
        return try database.write(body)
    }

    // MARK: Removing

    /// Removes what jobs have left behind that are finished or not in the store any more, and what is marked as left.
    ///
    /// What cannot be removed stays recorded, and the next run tries again.
    package static func removeLeft(_ database: DatabaseQueue, store: String) throws {
        let (left, syncs) = try database.read { database in
            (try Self.left(database), try Int.fetchOne(database, sql: "PRAGMA synchronous") != 0)
        }
        for file in left {
            do {
                try file.remove(store: store)
                if syncs { try file.syncRemoval() }
            } catch is ImportError {
                continue
            }
            try database.write { database in
                try file.delete(database)
                try BookkeepingSchema.dropEmpty(database)
            }
        }
    }

    /// What nobody needs any more.
    package static func left(_ database: Database) throws -> [RecordedFile] {
        let files = try all(database)
        guard !files.isEmpty else { return [] }
        let open = try Set(String.fetchAll(database, sql: "SELECT token FROM _import_job WHERE \(StoredJob.isOpen)"))
        return files.filter { $0.state == .left || $0.state == .used && !open.contains($0.token) }
    }
}
