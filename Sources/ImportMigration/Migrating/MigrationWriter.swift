import GRDB
import ImportSQLite
import ImportSources

/// The connection of a migration.
///
/// Where nobody else has the store open, everybody is locked out meanwhile and a rollback journal keeps what was there
/// before (<https://www.sqlite.org/atomiccommit.html>): the new rows are then written once, and not to a WAL first.
/// Otherwise, and where the store is to stay in WAL mode, it is in WAL mode (`WALMode`): readers go on and see what was
/// there before. The store is before or after it at any time, either way.
struct MigrationWriter {
    private let store: String
    private let queue: DatabaseQueue
    private let file: StoreFile
    private let keepsWAL: Bool
    private let isAlone: Bool

    /// How long it waits for other writers, in milliseconds.
    private static let patience = 10_000
    /// Pages that are kept in memory, in KiB.
    private static let cacheSize = 16_000

    /// - Throws: `ImportError` as `StoreConnection.writer` does.
    init(_ store: String) throws {
        self.store = store
        do {
            (queue, file, keepsWAL) = try Self.opened(store)
            isAlone = try !keepsWAL && queue.inDatabase(WALMode.leave)
        } catch let error as ImportError where [.diskFull, .storeFailed].contains(error.reason) {
            // What an import says of it is that it can be resumed.
            throw error.advising("Nothing was changed. Correct that, then \(.sameAgain).")
        }
    }

    private static func opened(_ store: String) throws -> (DatabaseQueue, StoreFile, keepsWAL: Bool) {
        guard let file = StoreFile(store) else { throw StoreFile.isGone(store) }
        let reader = try StoreConnection.reader(store)
        defer { try? reader.retire() }
        let keepsWAL = try reader.read(WALMode.isKept)
        return (try StoreConnection.writer(store, durability: .full, of: file), file, keepsWAL)
    }

    /// One transaction that nobody writes beside, and that an interruption ends at once.
    ///
    /// - Throws: `ImportError`, after which the store is as it was.
    func write<Result>(_ interruption: Interruption, _ body: (Database) throws -> Result) throws -> Result {
        do {
            return try queue.interruptible(by: interruption) {
                try queue.writeWithoutTransaction { database in
                    try database.execute(
                        sql: "PRAGMA busy_timeout = \(Self.patience); PRAGMA cache_size = -\(Self.cacheSize)"
                    )
                    var result: Result?
                    try database.inTransaction(isAlone ? .exclusive : .immediate) {
                        result = try body(database)
                        return .commit
                    }
                    guard let result else { throw ImportError(.fault, at: store, "the transaction has no result") }
                    return result
                }
            }
        } catch let error as DatabaseError {
            throw Self.explained(error, store)
        }
    }

    private static func explained(_ error: DatabaseError, _ store: String) -> ImportError {
        switch error.resultCode.primaryResultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            ImportError(
                .storeInUse,
                at: store,
                "another program is reading or writing it",
                advice: "Nothing was changed. Let the other program end its transaction, then \(.sameAgain)."
            )
        case .SQLITE_FULL:
            ImportError(
                .diskFull,
                at: store,
                "the disk is full",
                advice:
                    "Nothing was changed. The tables that change need their size twice for a while: free as much, then "
                    + "\(.sameAgain)."
            )
        case .SQLITE_IOERR:
            ImportError(store: store, error).advising(
                "Nothing was changed. When the disk has room and can be written, \(.sameAgain)."
            )
        default: ImportError(store: store, error)
        }
    }

    /// - Parameter hasWritten: whether the transaction is committed.
    /// - Throws: `ImportError` with `.io` when the store's file is no longer in its place, or has no room for what is in its WAL.
    func close(hasWritten: Bool) throws {
        do {
            try StoreConnection.closeLast(queue, of: file, leavesWAL: !keepsWAL)
        } catch let error as DatabaseError {
            throw ImportError(store: store, error).advising(
                hasWritten
                    ? "The store has this model now, in its WAL (\(store)-wal); the next program that opens it writes it back."
                    : "Nothing was changed. Correct that, then \(.sameAgain)."
            )
        }
    }
}
