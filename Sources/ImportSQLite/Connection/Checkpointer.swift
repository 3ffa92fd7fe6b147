import Foundation
import GRDB
import GRDBSQLite
import ImportSources

/// Moves what is committed from the WAL into the store's file, on a thread of its own beside the commits.
///
/// A checkpoint copies pages and waits for the disk twice (<https://sqlite.org/wal.html#ckpt>). Were it made by anyone who
/// commits, as SQLite does by itself, all workers would wait for their turn meanwhile. But only a checkpoint that reaches
/// the WAL's end lets it begin again, which one beside commits never does. So when the WAL has grown to `restartPages`,
/// the committing worker makes one, and finds little left to do.
///
/// As with SQLite's own, a checkpoint that fails is no error: what is committed stays in the WAL, and the next checkpoint
/// tries again, at last the one when the store is closed.
package final class Checkpointer: Sendable {
    /// After how many more pages in the WAL a checkpoint begins: SQLite's own measure.
    private static let pages = 1_000
    /// At how many pages in the WAL the committing worker makes the checkpoint.
    static let restartPages = 4_000

    private struct State {
        /// Pages in the WAL after the last commit.
        var pages = 0
        /// Of these, when the last checkpoint began.
        var checkpointed = 0
        var isBusy = false
        var isClosed = false

        var isDue: Bool { pages - checkpointed >= Checkpointer.pages && pages < Checkpointer.restartPages }
    }

    // Guarded by `condition`; a `Mutex` cannot be waited on.
    nonisolated(unsafe) private var state = State()
    private let condition = NSCondition()
    private let queue: DatabaseQueue
    private let syncs: Bool

    /// - Parameter file: its file; nil for whichever is at the path.
    /// - Throws: `ImportError` when the store cannot be opened, or the system gives no thread.
    package init(store: String, file: StoreFile? = nil, durability: RunOptions.Durability) throws {
        queue = try StoreConnection.writer(store, durability: durability, of: file)
        syncs = durability != .off
        state.isBusy = true
        do {
            try SystemThread.start(to: "checkpoint the store") { [self] in run() }
        } catch {
            try? queue.retire()
            throw error
        }
    }

    /// Ends the thread, after the checkpoint that it makes; called once.
    package func close() throws {
        condition.withLock {
            state.isClosed = true
            condition.broadcast()
            while state.isBusy { condition.wait() }
        }
        try queue.retire()
    }

    /// Makes the checkpoints of a connection that commits, which makes none by itself any more.
    ///
    /// - Parameter database: the connection; this must live until it is closed.
    func attach(to database: Database) {
        sqlite3_wal_hook(
            database.sqliteConnection,
            { context, connection, schema, pages in
                guard let context else { return SQLITE_OK }
                let checkpointer = Unmanaged<Checkpointer>.fromOpaque(context).takeUnretainedValue()
                if checkpointer.noteCommit(pages: Int(pages)) {
                    sqlite3_wal_checkpoint_v2(connection, schema, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                }
                return SQLITE_OK
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// - Parameter pages: how many the WAL has after a commit.
    /// - Returns: whether the committing worker must make a checkpoint; none is being made then.
    private func noteCommit(pages: Int) -> Bool {
        condition.withLock {
            // Fewer than before: the WAL began again.
            if pages < state.pages { state.checkpointed = 0 }
            state.pages = pages
            if state.isDue { condition.broadcast() }
            guard pages >= Self.restartPages else { return false }
            while state.isBusy { condition.wait() }
            return true
        }
    }

    private func run() {
        while true {
            let goesOn = condition.withLock {
                state.isBusy = false
                condition.broadcast()
                while !state.isClosed, !state.isDue { condition.wait() }
                guard !state.isClosed else { return false }
                state.isBusy = true
                state.checkpointed = state.pages
                return true
            }
            guard goesOn else { return }
            queue.inDatabase { database in
                guard let connection = database.sqliteConnection else { return }
                sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                if syncs { Self.syncFile(of: connection) }
            }
        }
    }

    /// Waits until the store's file is on the disk, so that the checkpoint that reaches the WAL's end finds it there.
    ///
    /// SQLite itself syncs the file only with that one, which does not rely on this: an error of the disk is told to
    /// each descriptor of the file. Through SQLite's own descriptor, as closing another one would drop the locks of this
    /// process (<https://sqlite.org/howtocorrupt.html>, 2.2).
    private static func syncFile(of connection: OpaquePointer) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(connection, nil, SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK,
            let file, let methods = file.pointee.pMethods
        else { return }
        _ = methods.pointee.xSync(file, SQLITE_SYNC_NORMAL)
    }
}
