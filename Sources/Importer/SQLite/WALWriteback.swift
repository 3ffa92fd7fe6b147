import Foundation
import GRDB
import GRDBSQLite

/// Writes what one long transaction puts into the WAL to the disk while it continues, on a thread of its own.
///
/// The checkpoint after a transaction first waits until the WAL is on the disk (`sqlite3OsSync` in `walCheckpoint`), and
/// nothing can be done meanwhile. It relies on nothing that happened here: an error of the disk is told to each descriptor
/// of the file, SQLite's own among them.
final class WALWriteback: Sendable {
    private static let interval = DispatchTimeInterval.milliseconds(30)

    private let ending = DispatchSemaphore(value: 0)

    /// - Parameter database: a connection to a store in WAL mode; of another one nothing is written.
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread.
    init(of database: Database) throws {
        guard let store = sqlite3_db_filename(database.sqliteConnection, nil), let path = sqlite3_filename_wal(store)
        else {
            return
        }
        // SQLite holds no locks on this file, so none of this process is dropped when the descriptor is closed
        // (<https://sqlite.org/howtocorrupt.html>, 2.2).
        let wal = open(path, O_RDONLY | O_CLOEXEC)
        guard wal >= 0 else { return }
        do {
            try SystemThread.start(to: "write the WAL to the disk") { [ending] in
                while ending.wait(timeout: .now() + Self.interval) == .timedOut { fdatasync(wal) }
                Glibc.close(wal)
            }
        } catch {
            Glibc.close(wal)
            throw error
        }
    }

    /// Ends the thread, and does not wait for it.
    func stop() { ending.signal() }
}
