import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// A SQLite store that jobs import into, from its lock to its last connection: no other importer writes it meanwhile.
package final class SQLiteDestination: OrderedDestination, RecordDestination {
    private let path: String
    private let durability: RunOptions.Durability
    private let interruption: Interruption
    /// Of the session at hand, which leaves nothing behind in the other one.
    private var sessionInterruption = Interruption()
    private var lockFile: StoreLock?
    /// The file that was found; nil where the store is to be made.
    private var file: StoreFile?
    /// The file that was made for this run.
    private var made: StoreFile?
    private var session: StoreSession?
    package private(set) var isLost = false
    /// True if other jobs follow, so that it stays in WAL mode.
    package var isFollowed = false
    /// Finds rows by a predicate; nil where nobody asks for any.
    package var rowSelection: MirrorDeletion.RowSelection?

    /// - Parameters:
    ///   - path: the store's, without symbolic links.
    ///   - interruption: ends the wait for other programs that hold the store.
    package init(_ path: String, durability: RunOptions.Durability, _ interruption: Interruption = Interruption()) {
        self.interruption = interruption
        self.path = path
        self.durability = durability
    }

    // MARK: Before it is open

    package var exists: Bool { FileManager.default.fileExists(atPath: path) }

    package func check() throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            guard path.hasPrefix("file:") else { return }
            throw ImportError(
                .storeUnusable,
                at: path,
                "is a URI, and there is no file of that name",
                advice: "Give the file's path alone; ./ before it makes a file of this name."
            )
        }
        guard !isDirectory.boolValue else {
            throw ImportError(.storeUnusable, at: path, "is a directory", advice: "Give the path of a file.")
        }
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        guard type == .typeRegular || type == .typeSymbolicLink else {
            throw ImportError(.storeUnusable, at: path, "is not a file", advice: "Give the path of a file.")
        }
        guard FileManager.default.isWritableFile(atPath: path) else {
            throw ImportError(.storeReadOnly, at: path, "is read-only", advice: "Make the file writable.")
        }
    }

    /// Checks that a new store has a folder.
    package func checkFolder() throws {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard !FileManager.default.fileExists(atPath: folder) else { return }
        throw ImportError(
            .storeUnusable,
            at: path,
            "the folder \(folder.printable) does not exist",
            advice: "Make it, or give another path."
        )
    }

    /// Makes sure that there is a store, which can be written.
    ///
    /// - Throws: `ImportError` with `.noInput` where there is none.
    package func checkIsThere() throws {
        try check()
        guard exists else { throw ImportError.noStore(at: path) }
    }

    package func lock() throws {
        if lockFile == nil { lockFile = try StoreLock(store: path) }
        (file, made) = (StoreFile(path), nil)
    }

    package func unlock() { lockFile = nil }

    package func read<Result>(_ body: (any JournalReader) throws -> Result) throws -> Result {
        let database = exists ? try StoreConnection.reader(path) : nil
        defer { try? database?.retire() }
        let journal = ReadOnlyJournal(store: path, connection: database)
        _ = try journal.readIfThere { try BookkeepingSchema.checkFormat($0, store: path) }
        return try body(journal)
    }

    package func tidyUp() {
        guard let file, let reader = try? StoreConnection.reader(path) else { return }
        let found = try? reader.read { database in
            try BookkeepingSchema.checkFormat(database, store: path)
            let isOver = try StoredJob.areAllFinished(database)
            let leavesWAL = try isOver && !WALMode.isKept(database)
            let isNeeded = try !RecordedFile.left(database).isEmpty || leavesWAL && WALMode.isOn(database)
            return (isNeeded: isNeeded, leavesWAL: leavesWAL)
        }
        try? reader.retire()
        guard let found, found.isNeeded,
            let writer = try? StoreConnection.writer(path, durability: durability, of: file)
        else { return }
        try? RecordedFile.removeLeft(writer, store: path)
        try? StoreConnection.closeLast(writer, of: file, leavesWAL: found.leavesWAL)
    }

    /// True if the store is to be in WAL mode after the import, too.
    private var keepsWAL: Bool {
        get throws {
            guard file != nil else { return false }
            let database = try StoreConnection.reader(path)
            defer { try? database.retire() }
            return try database.read(WALMode.isKept)
        }
    }

    // MARK: Running a job

    /// Up to this many bytes of sources a new store has pages of 4 KiB: most of its tables are empty, and each takes one.
    private static let smallSources: Int64 = 4 << 20

    package func open(for bytes: Int64?) throws -> any Journal {
        let keepsWAL = try keepsWAL
        if file == nil { made = try StoreFile.made(path) }
        sessionInterruption = interruption.child()
        do {
            let session = try StoreSession(
                path,
                file: file ?? made,
                keepsWAL: keepsWAL,
                durability: durability,
                pageSize: bytes.map { $0 < Self.smallSources } == true ? 4096 : 16384,
                sessionInterruption
            )
            session.rowSelection = rowSelection
            self.session = session
            return session
        } catch {
            abandon()
            throw error
        }
    }

    /// Makes sure that the store is the file that it was when its last session was open.
    package func checkPlace() throws { try session?.file.check() }

    package func abandon() {
        try? session?.close(leavesWAL: true)
        session = nil
        made?.remove()
        tidyUp()
    }

    package func writers(
        _ job: StoredJob,
        _ model: ModelDescription,
        started: ContinuousClock.Instant,
        _ interruption: Interruption
    ) throws -> StoreWriterFactory {
        guard let session else { throw ImportError(.fault, at: path, "the store is not open") }
        return try StoreWriterFactory(session, job, model, durability: durability, started: started, interruption)
    }

    package func close(after job: StoredJob) throws -> ImportReport {
        try session?.file.check()
        let report = try report(of: job.id)
        if isFollowed { try session?.close(leavesWAL: false) } else { try session?.close(after: job) }
        return report
    }

    package func fail(_ job: StoredJob) {
        guard let session else { return }
        isLost = !session.file.isInPlace
        let isEmpty = file == nil && !session.holdsJobs
        try? session.close(after: job)
        if isEmpty { session.file.remove() }
    }

    package func report(of job: Int64) throws -> ImportReport { try StoreInspection(store: path).status(of: job) }

    package func report(of job: StoredJob) throws -> ImportReport {
        let store = StoreInspection(store: path)
        return try store.read { try store.report(of: job, $0) }
    }

    // MARK: Without a job that runs

    package func build(_ indexes: StoreIndexes, of job: StoredJob, _ interruption: Interruption) throws -> [String] {
        guard let file, !indexes.wanted.isEmpty, let model = job.model else { return [] }
        let session = try StoreSession(path, file: file, keepsWAL: keepsWAL, durability: durability, interruption)
        let result = Result { try session.writeIndexes(interruption) { try indexes.build(for: model, $0) } }
        let closing = Result { try session.close(leavesWAL: true) }
        let built = try result.get()
        try closing.get()
        return built
    }

    package func makeRepairFile<Result>(
        at path: String,
        token: String,
        _ body: (_ write: (ArraySlice<UInt8>) throws -> Void) throws -> Result
    ) throws -> Result {
        let records = try StoreConnection.writer(self.path, durability: durability)
        defer { try? records.retire() }
        // What a killed retry has left has the name that this one's file is to get.
        try RecordedFile.removeLeft(records, store: self.path)
        var file = RecordedFile(token: token, path: path, kind: .repair, isMade: true)
        try RecordedFile.record(records) { [store = self.path] in
            try BookkeepingSchema.prepareBookkeeping($0, store: store)
            try file.save($0)
        }
        let made = try AtomicFile(newFile: path)
        // Nothing is written to it before.
        file.number = try made.number
        try RecordedFile.record(records) { [file] in try file.save($0) }
        let result = try body(made.write)
        try made.finish()
        return result
    }

    package func explain(_ error: any Error) -> ImportError {
        switch error {
        case let error as ImportError: error
        case let error as DatabaseError: ImportError(store: path, error)
        default: ImportError(.fault, at: path, "\(error)")
        }
    }
}
