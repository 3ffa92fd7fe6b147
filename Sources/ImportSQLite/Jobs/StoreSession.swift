import GRDB
import ImportEngine
import ImportSources

/// The store of a run, open for writing from the run's first to its last moment.
///
/// The importer's lock is held meanwhile. The last connection to close takes the WAL away from under those that come next, so
/// this one is opened before those of the workers and closed after them.
package final class StoreSession: SQLiteJournalReader {
    package let store: String
    package let database: DatabaseQueue
    /// The store's file, which is written as long as it is in its place.
    package let file: StoreFile
    /// True if the store is to be in WAL mode afterwards, too.
    package let keepsWAL: Bool
    /// Finds rows by a predicate; nil where nobody asks for any.
    package var rowSelection: MirrorDeletion.RowSelection?
    /// True if the connection is gone, which must not be used any more then.
    package private(set) var isClosed = false

    private let interruption: Interruption

    package var connection: DatabaseQueue? { isClosed ? nil : database }

    /// - Parameters:
    ///   - file: its file; nil where it cannot be made, which opening it explains.
    ///   - keepsWAL: whether the store is to be in WAL mode afterwards, too.
    ///   - pageSize: of a new store, in bytes.
    /// - Throws: `ImportError` when the store cannot be opened.
    package init(
        _ store: String,
        file: StoreFile?,
        keepsWAL: Bool,
        durability: RunOptions.Durability,
        pageSize: Int = 16384,
        _ interruption: Interruption = Interruption()
    ) throws {
        self.store = store
        self.interruption = interruption
        let file = file ?? StoreFile(store)
        // Where there is no file, and none can be made, this says why.
        database = try StoreConnection.writer(
            store,
            durability: durability,
            of: file,
            pageSize: pageSize,
            interruption: interruption
        )
        guard let file else { throw StoreFile.isGone(store) }
        self.file = file
        self.keepsWAL = keepsWAL
    }

    /// Closes the connection; the WAL goes with it if nobody else has the store open.
    ///
    /// - Parameter leavesWAL: whether the store leaves WAL mode, unless it is to stay there.
    /// - Throws: `ImportError` with `.io` when the store's file is no longer in its place.
    package func close(leavesWAL: Bool) throws {
        guard !isClosed else { return }
        isClosed = true
        try StoreConnection.closeLast(database, of: file, leavesWAL: leavesWAL && !keepsWAL)
    }

    /// Closes the store after a run of a job; where the job is finished, it leaves WAL mode.
    ///
    /// - Throws: as `close` does.
    package func close(after job: StoredJob) throws {
        guard !isClosed else { return }
        let isFinished = try? database.read { try StoredJob.isFinished(job.id, $0) }
        try close(leavesWAL: isFinished == true)
    }

    /// True if the store has any job; a job that turns out to be impossible is taken out again.
    var holdsJobs: Bool { isClosed ? true : (try? database.read(StoredJob.isAnyThere)) ?? true }

    /// One transaction.
    ///
    /// - Throws: `ImportError`.
    package func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try explaining { try database.write(body) }
    }

    /// One transaction that is on the disk when this returns, unless the store's durability is off.
    ///
    /// - Throws: `ImportError`.
    package func record<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try explaining { try RecordedFile.record(database, body) }
    }

    /// - Throws: the interruption's error where that has ended the wait for another writer.
    private func explaining<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            let hasWaited = error.resultCode.primaryResultCode == .SQLITE_BUSY
            throw hasWaited && interruption.isRequested ? interruption.error : ImportError(store: store, error)
        }
    }

    /// One transaction that builds indexes, and that an interruption ends at once, as if it had not begun.
    ///
    /// - Throws: `ImportError`; the interruption's where there was one.
    func writeIndexes<Result>(_ interruption: Interruption, _ body: (Database) throws -> Result) throws -> Result {
        try ImportError.explaining(store) {
            try database.interruptible(by: interruption) { try StoreConnection.writeIndexes(database, body) }
        }
    }
}
