import Foundation
import GRDB

/// A chunk directory or a repair file that an import of this store makes, recorded before it is made.
///
/// Only what is recorded here, and still is what was made, is ever removed (DESIGN §3).
struct RecordedFile: Sendable, Hashable {
    /// What it is.
    enum Kind: String, Sendable {
        case chunks
        case repair
    }

    /// What it is for.
    enum State: String, Sendable {
        /// The job needs it until it is finished.
        case used
        /// Nobody needs it any more.
        case left
    }

    /// The job's.
    let token: String
    /// Absolute.
    let path: String
    let kind: Kind
    var state = State.used
    /// Whether it was not there before.
    var isMade: Bool
    /// Its device and inode; nil until it is made.
    ///
    /// Nothing is put into it before they are recorded.
    var number: FileNumber?

    init(token: String, path: String, kind: Kind, isMade: Bool, number: FileNumber? = nil) {
        self.token = token
        self.path = path
        self.kind = kind
        self.isMade = isMade
        self.number = number
    }

    /// A job's chunk directory.
    init(chunksOf job: StoredJob, isMade: Bool) {
        self.init(token: job.token, path: job.chunkDirectory, kind: .chunks, isMade: isMade)
    }

    /// The repair file that a retry of stored rejects reads, as the job knows it; nil where it is another one by now.
    init?(repairFileOf job: StoredJob) {
        var status = stat()
        guard job.retry == .stored, let source = job.sources.first?.description, let path = source.path,
            lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, source.size == Int64(status.st_size),
            source.modified == Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
        else { return nil }
        self.init(token: job.token, path: path, kind: .repair, isMade: true, number: FileNumber(status))
    }

    /// Whether it is the directory in which a job keeps its chunks.
    func isUsed(forChunksOf job: StoredJob) -> Bool {
        token == job.token && kind == .chunks && state == .used
    }

    /// Whether this is the file that was made.
    ///
    /// - Parameters:
    ///   - found: the device and inode of what is there now.
    ///   - isKnown: whether it has the job's token in it. A device may have another number after a restart of the system.
    func isSame(as found: FileNumber, isKnown: Bool) -> Bool {
        guard let number else { return false }
        return number == found || (isKnown && number.inode == found.inode)
    }

    // MARK: In the store

    /// All that are recorded; none in a store of an older format.
    static func all(_ database: Database) throws -> [RecordedFile] {
        guard try database.tableExists("_import_file") else { return [] }
        return try BookkeepingRow.fetchAll(
            database,
            from: "_import_file",
            sql: "SELECT * FROM _import_file ORDER BY path, token"
        ).map { try RecordedFile($0) }
    }

    private init(_ row: BookkeepingRow) throws {
        path = try row.text("path")
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { throw row.damage("path") }
        token = try row.text("token")
        kind = try row.choice("kind")
        state = try row.choice("state")
        isMade = try row.flag("is_made")
        // Both are recorded at once. Either may be any number of 64 bits.
        guard let device = try row.optionalNumber("device", in: .min ... .max) else { return }
        number = FileNumber(
            device: dev_t(truncatingIfNeeded: device),
            inode: ino_t(truncatingIfNeeded: try row.rowID("inode"))
        )
    }

    /// Adds it, or what has become known of it.
    func save(_ database: Database) throws {
        let device = number.map { Int64(truncatingIfNeeded: $0.device) }
        let inode = number.map { Int64(truncatingIfNeeded: $0.inode) }
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
    static func keepChunks(of job: StoredJob, _ database: Database) throws {
        for file in try all(database) where file.isUsed(forChunksOf: job) { try file.delete(database) }
    }

    private func delete(_ database: Database) throws {
        try database.execute(sql: "DELETE FROM _import_file WHERE token = ? AND path = ?", arguments: [token, path])
    }

    /// Runs a transaction that is on the disk when this returns, unless the store's durability is off.
    static func record<Result>(
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
    static func removeLeft(_ database: DatabaseQueue, store: String) throws {
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
            try database.write { try file.delete($0) }
        }
    }

    /// What nobody needs any more.
    static func left(_ database: Database) throws -> [RecordedFile] {
        let files = try all(database)
        guard !files.isEmpty else { return [] }
        let open = try Set(String.fetchAll(database, sql: "SELECT token FROM _import_job WHERE state <> 'finished'"))
        return files.filter { $0.state == .left || $0.state == .used && !open.contains($0.token) }
    }

    /// Removes what was made, as far as it is still that.
    func remove(store: String) throws {
        switch kind {
        case .chunks: try removeChunks()
        case .repair: try removeRepairFile(store: store)
        }
    }

    /// Waits until it is on the disk that the file is gone: it stays recorded until no power cut can bring it back.
    private func syncRemoval() throws {
        let folder = FileNumber(link: path) == nil ? URL(filePath: path).deletingLastPathComponent().path : path
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder that may not be read cannot be synced; the file is gone from it all the same.
        if descriptor < 0, [ENOENT, ENOTDIR, EACCES].contains(errno) { return }
        guard descriptor >= 0 else { throw ImportError.system(errno, "open", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw ImportError.system(errno, "sync", folder) }
    }

    private func removeChunks() throws {
        guard FileNumber(link: path) != nil else { return }
        let directory = try ChunkDirectory(path: path, creates: false)
        let content = try ChunkManifest.readWhatIsSound(in: directory)
        let isKnown = content?.header.job == token
        guard isSame(as: directory.number, isKnown: isKnown) else {
            // Made, but not recorded as such before a kill: then it is empty.
            if number == nil, isMade { directory.removeIfEmpty() }
            return
        }
        if let content, isKnown { try directory.removeFiles(of: content) }
        try directory.remove(ChunkDirectory.temporaryName(ChunkManifest.fileName))
        if isMade { directory.removeIfEmpty() }
    }

    /// A repair file lies beside its store and has a name that the importer gives.
    private func removeRepairFile(store: String) throws {
        let file = URL(filePath: path)
        let store = URL(filePath: store)
        let name = file.lastPathComponent
        guard name.hasPrefix(store.lastPathComponent + ".retry"), name.hasSuffix(".ndjson"),
            FileNumber(file.deletingLastPathComponent().path) == FileNumber(store.deletingLastPathComponent().path)
        else { return }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            // Made, but not recorded as such before a kill: then it is empty.
            isSame(as: FileNumber(status), isKnown: false) || (number == nil && status.st_size == 0)
        else { return }
        guard unlink(path) == 0 || errno == ENOENT else { throw ImportError.system(errno, "remove", path) }
    }
}
