import GRDB

/// The store of a run, open for writing from the run's first to its last moment.
///
/// The importer's lock is held meanwhile. The last connection to close takes the WAL away from under those that come next, so
/// this one is opened before those of the workers and closed after them.
final class StoreSession {
    let database: DatabaseQueue
    /// The store's file, which is written as long as it is in its place.
    let file: StoreFile
    private let keepsWAL: Bool
    /// Whether the connection is gone, which must not be used any more then.
    private(set) var isClosed = false

    /// - Parameters:
    ///   - store: its path.
    ///   - file: its file; nil where it cannot be made, which opening it explains.
    ///   - keepsWAL: whether the store is to be in WAL mode afterwards, too.
    ///   - durability: that of the commits.
    /// - Throws: `ImportError` when the store cannot be opened.
    init(_ store: String, file: StoreFile?, keepsWAL: Bool, durability: RunOptions.Durability) throws {
        database = try StoreConnection.writer(store, durability: durability, of: file)
        guard let file = file ?? StoreFile(store) else { throw StoreFile.isGone(store) }
        self.file = file
        self.keepsWAL = keepsWAL
    }

    /// Closes the connection; the WAL goes with it if nobody else has the store open.
    ///
    /// - Parameter leavesWAL: whether the store leaves WAL mode, unless it is to stay there.
    /// - Throws: `ImportError` with `.io` when the store's file is no longer in its place.
    func close(leavesWAL: Bool) throws {
        guard !isClosed else { return }
        isClosed = true
        try StoreConnection.closeLast(database, of: file, leavesWAL: leavesWAL && !keepsWAL)
    }

    /// Closes it as a run does that has done nothing: the store is as it was.
    func abandon() {
        try? close(leavesWAL: true)
    }

    /// Whether the store has any job; a job that turns out to be impossible is taken out again.
    var holdsJobs: Bool { isClosed ? true : (try? database.read { try !StoredJob.all($0).isEmpty }) ?? true }

    /// Whether WAL mode is kept, for the transaction that makes the bookkeeping.
    func keepMode(_ database: Database) throws {
        if keepsWAL { try WALMode.keep(database) }
    }
}
