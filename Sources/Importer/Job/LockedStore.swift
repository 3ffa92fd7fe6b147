import Foundation
import GRDB

/// The store of a run, from its lock to its last connection: no other importer writes it meanwhile.
final class LockedStore {
    let path: String
    private let durability: RunOptions.Durability
    private let lock: StoreLock
    /// The file that was found; nil where the store is to be made.
    let file: StoreFile?
    /// Whether a run has ended because the file is no longer at its path: what is there now is another's.
    private(set) var isLost = false

    /// Locks a store.
    ///
    /// - Parameters:
    ///   - path: the store's, without symbolic links.
    ///   - durability: that of the run.
    /// - Throws: `ImportError`: `.inUse` when another importer has the lock, `.cannotCreate` when something else than a store
    ///   is there.
    init(_ path: String, durability: RunOptions.Durability) throws {
        self.path = path
        self.durability = durability
        try Self.check(path)
        lock = try StoreLock(store: path)
        file = StoreFile(path)
    }

    /// Makes sure that a store is at a path, or may be made there.
    ///
    /// - Throws: `ImportError` with `.cannotCreate`.
    static func check(_ path: String) throws {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return }
        guard !isDirectory.boolValue else {
            throw ImportError(.cannotCreate, "\(path): is a directory", advice: "Give the path of a file.")
        }
        let type = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        guard type == .typeRegular || type == .typeSymbolicLink else {
            throw ImportError(.cannotCreate, "\(path): is not a file", advice: "Give the path of a file.")
        }
        guard FileManager.default.isWritableFile(atPath: path) else {
            throw ImportError(.cannotCreate, "\(path): is read-only", advice: "Make the file writable.")
        }
    }

    /// Tidies up where it fails what a run has to do before it begins.
    func tidyingUp<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            tidyUp()
            throw error
        }
    }

    /// Does what a run could not do that was killed after its job's end: removes what it has left behind, and leaves WAL mode
    /// where no job is open.
    ///
    /// What cannot be done now is done by another run. Nothing is done to a store whose bookkeeping is not ours.
    func tidyUp() {
        guard let file, let reader = try? StoreConnection.reader(path) else { return }
        let found = try? reader.read { database in
            try StoreSchema.checkFormat(database, store: path)
            let isOver = try StoredJob.all(database).allSatisfy { $0.state == .finished }
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

    /// Whether the store is to be in WAL mode after the import, too.
    private var keepsWAL: Bool {
        get throws {
            guard file != nil else { return false }
            let database = try StoreConnection.reader(path)
            defer { try? database.retire() }
            return try database.read(WALMode.isKept)
        }
    }

    // MARK: Running a job

    /// Opens the store, which is made if it is not there, and starts a job in it.
    ///
    /// - Throws: `ImportError`; what was made for an import that fails before its first record goes again.
    func start(
        _ decision: JobOpening.Decision,
        _ context: RunContext,
        continuing continued: [String: ContinuedEntity]? = nil
    ) throws -> JobRun {
        // A worker has a connection and a chunk open; the rest is for the splitter, the checkpoints and sorting an index.
        let workers = context.options.workers
        try ImportError.checkDescriptors(24 + 4 * workers, "to import with --workers \(workers)")
        let keepsWAL = try keepsWAL
        let made = try file == nil ? StoreFile.made(path) : nil
        do {
            let session = try StoreSession(path, file: file ?? made, keepsWAL: keepsWAL, durability: durability)
            do {
                return try StartJob(context: context, session: session, continued: continued).start(decision)
            } catch {
                session.abandon()
                throw error
            }
        } catch {
            made?.remove()
            tidyUp()
            throw error
        }
    }

    /// Does a run's phases and closes the store.
    ///
    /// - Returns: the job's report.
    /// - Throws: `ImportError`. A store that was made for a job that cannot be done goes again.
    func finish(_ run: JobRun, _ phases: (JobRun) throws -> Void) throws -> ImportReport {
        do {
            try run.notingFailures(phases)
            try run.session.file.check()
            let report = try StoreInspection(store: path).status(of: run.job.id)
            try run.close()
            return report
        } catch {
            isLost = !run.session.file.isInPlace
            let isEmpty = file == nil && !run.session.holdsJobs
            try? run.close()
            if isEmpty { run.session.file.remove() }
            throw error
        }
    }

    // MARK: A finished job

    /// Builds indexes that were asked for only now, when the import is finished.
    ///
    /// - Returns: their names.
    func build(_ indexes: [[String]], of job: StoredJob, _ interruption: Interruption) throws -> [String] {
        guard let file, !indexes.isEmpty, let model = job.model else { return [] }
        let leavesWAL = try !keepsWAL
        let database = try StoreConnection.writer(path, durability: durability, of: file)
        interruption.onRequest { [weak database] in database?.interrupt() }
        let result = Result {
            try StoreConnection.writeIndexes(database, durability: durability) {
                try StoreIndexes(wanted: indexes).build(for: model, $0)
            }
        }
        let closing = Result { try StoreConnection.closeLast(database, of: file, leavesWAL: leavesWAL) }
        do {
            let built = try result.get()
            try closing.get()
            return built
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_INTERRUPT {
            throw interruption.error
        }
    }
}
