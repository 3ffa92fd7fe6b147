import Foundation
import ImportModel
import Importer
import Synchronization

/// Joins an import started by another process, from any host that can read its chunk directory.
///
/// Options and model are those of the job. Workers import chunks as long as there are any, and end with the job.
public final class PostgreSQLWorker: Sendable {
    /// The counts of this process.
    public struct Summary: Sendable, Hashable, Codable {
        /// The job's number in the schema.
        public var job: Int64
        /// The number of chunks that it has committed.
        public var chunks = 0
        /// The number of their records, including rejects.
        public var records: Int64 = 0
        /// The number of their bytes in the sources.
        public var bytes: Int64 = 0
        /// The number of rejected records.
        public var rejects: Int64 = 0
    }

    /// The progress of the run, for observers.
    public let progress = ImportProgress()
    /// Interrupts the run when requested.
    public let interruption = Interruption()

    private let store: PostgreSQLStore
    private let workers: Int
    private let chunkDirectory: String?
    private let wait: Double
    private let transformers: TransformerRegistry
    private let summary = Mutex(Summary(job: 0))

    /// Prepares to join an import; nothing is read or written before `run`.
    ///
    /// - Parameters:
    ///   - store: the schema.
    ///   - workers: the number of workers, each with a connection of its own, from 1.
    ///   - chunkDirectory: the path of the job's chunk directory on this host; nil if it is the same on all hosts.
    ///   - wait: the time in seconds to wait if there is nothing to do and no importing process.
    ///   - transformers: the transformers that the import was started with.
    public init(
        _ store: PostgreSQLStore,
        workers: Int,
        chunkDirectory: String? = nil,
        wait: Double = 60,
        transformers: TransformerRegistry = .standard
    ) {
        self.store = store
        self.workers = workers
        self.chunkDirectory = chunkDirectory
        self.wait = wait
        self.transformers = transformers
    }

    private var label: String { store.label }

    /// Imports chunks until all of the job's chunks are done; blocks the calling thread.
    ///
    /// - Returns: the counts of this process.
    /// - Throws: `ImportError`: with `.storeInUse` when there was nothing to do and no importing process for too long; with
    ///   `.chunksNotFound` or `.chunksChanged` when the chunk directory does not exist, or is another one; with `.interrupted` when
    ///   ``interruption`` was requested.
    public func run() throws -> Summary {
        try progress.ending {
            let interruption = interruption.child()
            let session = PGLockingSession(store, interruption)
            defer { session.close() }
            let job = try jobToDo(session, interruption)
            guard let model = job.model else { throw ImportError(.fault, at: label, "the job has no model") }
            let directory = try directory(of: job, session, interruption)
            summary.withLock { $0.job = job.id }
            progress.update {
                $0.phase = .importing
                $0.totalBytes = job.sources.map(\.description).plainSize
            }
            let task = ChunkWorker.Task(
                store: store,
                links: IdlePool { [store] in PGWorkerConnection(store, interruption) },
                job: job,
                model: try session.read { try PGTables.withDefaults(model, $0) },
                transformers: transformers,
                directory: directory,
                removal: nil,
                interruption: interruption,
                signal: ChunkSignal(),
                endsWithout: wait
            ) { [self] records, bytes, rejects in
                summary.withLock {
                    $0.chunks += 1
                    $0.records += records
                    $0.bytes += bytes
                    $0.rejects += rejects
                }
                progress.update {
                    $0.importedRecords += records
                    $0.importedBytes += bytes
                    $0.rejects += rejects
                }
            }
            let pool = WorkerPool(workers: workers) { _ in interruption.request(.interrupt) }
            try pool.start(
                Array(repeating: { try task.links.use { try ChunkWorker(task, $0).work() } }, count: workers)
            )
            try pool.wait()
            if model.isStagedOnServer {
                // The importing process waits for all buckets; this one does what is left when it comes to it.
                let settlers = WorkerPool(workers: workers) { _ in interruption.request(.interrupt) }
                try settlers.start(
                    Array(repeating: { try task.links.use { try PGUpsertWorker(task).work($0) } }, count: workers)
                )
                try settlers.wait()
            }
            progress.update { $0.phase = .finished }
            return summary.withLock { $0 }
        }
    }

    /// Waits until a job has its model, and with it chunks to be imported.
    private func jobToDo(_ session: PGLockingSession, _ interruption: Interruption) throws -> StoredJob {
        let deadline = ContinuousClock.now + .seconds(wait)
        while true {
            try interruption.check()
            let (job, isLed) = try session.read { connection -> (StoredJob?, Bool) in
                guard try session.hasBookkeeping(connection) else { return (nil, false) }
                return (
                    try StoredJob.unfinished(connection, label: label).last,
                    try PGLockingSession.isLockHeld(connection, store.lockName)
                )
            }
            if let job, job.model != nil, job.state == .running || isLed { return job }
            guard isLed || ContinuousClock.now < deadline else {
                throw ImportError(
                    .storeInUse,
                    at: label,
                    job == nil ? "no import is running there" : "its import is interrupted, and nobody resumes it",
                    advice: job == nil
                        ? "Begin one with \(call: .importing)." : "Resume it: \(call: .resuming(store: label))."
                )
            }
            Thread.sleep(forTimeInterval: 0.2)
        }
    }

    /// The job's chunk folder, as this host sees it; waits for its first chunk where it has none yet.
    private func directory(
        of job: StoredJob,
        _ session: PGLockingSession,
        _ interruption: Interruption
    ) throws -> ChunkDirectory {
        let deadline = ContinuousClock.now + .seconds(wait)
        while true {
            do {
                return try directory(of: job)
            } catch let error as ImportError {
                let hasChunks = try session.read { connection in
                    try !connection.execute(
                        "SELECT 1 FROM _import_chunk WHERE job = $1 LIMIT 1",
                        [.integer(job.id)]
                    ).isEmpty
                }
                guard !hasChunks, ContinuousClock.now < deadline else { throw error }
                try interruption.check()
                Thread.sleep(forTimeInterval: 0.1)
            }
        }
    }

    /// The job's chunk folder, as this host sees it.
    private func directory(of job: StoredJob) throws -> ChunkDirectory {
        let path = chunkDirectory ?? job.chunkDirectory
        guard FileManager.default.fileExists(atPath: path) else {
            throw ImportError(
                .chunksNotFound,
                at: path,
                "the chunk folder of the import is not there on this host",
                advice:
                    "Share it, by NFS for example, and name it with \(.chunkDirectory) if its path is another one here."
            )
        }
        let directory = try ChunkDirectory(path: path, creates: false)
        let token = job.takesChunks ? nil : job.token
        guard try directory.holdsChunks(ofJob: token, job.sources.map(\.shape)) else {
            throw ImportError(
                .chunksChanged,
                at: path,
                "is not the chunk folder of the import at \(label)",
                advice: "Give the folder that the importing process writes to."
            )
        }
        return directory
    }
}
