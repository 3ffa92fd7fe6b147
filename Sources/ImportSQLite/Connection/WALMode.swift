import Foundation
import GRDB
import ImportSources

/// A store is in WAL mode while an import writes to it, and otherwise not (<https://www.sqlite.org/wal.html>): in WAL mode
/// it could not be read from a folder that cannot be written to.
///
/// One that was in WAL mode before its first import stays there, which the store remembers.
package enum WALMode {
    /// How long an import waits for readers and writers that keep it from entering, in milliseconds.
    package static let patience = 10_000
    /// How long SQLite waits at a time, in milliseconds: an interruption ends the wait then.
    private static let step = 200
    /// In `_import_meta`.
    private static let key = "keeps_wal"

    package static func isOn(_ database: Database) throws -> Bool {
        try String.fetchOne(database, sql: "PRAGMA journal_mode") == "wal"
    }

    /// True if a store is to stay in WAL mode after an import.
    ///
    /// - Parameter database: a connection from before the import enters it.
    package static func isKept(_ database: Database) throws -> Bool {
        guard try database.hasTable("_import_meta") else { return try isOn(database) }
        return try database.exists("SELECT 1 FROM _import_meta WHERE key = ?", [key])
    }

    /// Remembers that the store is to stay in WAL mode.
    package static func keep(_ database: Database) throws {
        try database.execute(sql: "INSERT OR IGNORE INTO _import_meta (key, value) VALUES (?, 1)", arguments: [key])
    }

    /// Enters WAL mode; nothing is written where that is not possible.
    ///
    /// - Throws: `ImportError` with `.inUse` when readers or writers do not let it, `.cannotCreate` when the file system does not;
    ///   the interruption's where that ends the wait.
    package static func enter(
        _ database: Database,
        store: String,
        _ interruption: Interruption = Interruption()
    ) throws {
        try database.execute(sql: "PRAGMA busy_timeout = \(step)")
        let mode = try mode(database, store: store, until: .now + .milliseconds(patience), interruption)
        guard mode == "wal" else {
            throw ImportError(
                .noWALMode,
                at: store,
                "cannot be put into WAL mode",
                advice: "The store must be on a file system of this machine that has shared memory and locks."
            )
        }
    }

    /// Asks for WAL mode until there is an answer.
    private static func mode(
        _ database: Database,
        store: String,
        until deadline: ContinuousClock.Instant,
        _ interruption: Interruption
    ) throws -> String? {
        while true {
            do {
                // Not by GRDB's `journalMode`: it sets `synchronous` back to NORMAL, and it looks at the WAL's file, which a
                // reader that is the last to close takes away at any time.
                return try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
            } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_BUSY {
                try interruption.check()
                // SQLite waits for readers by itself; for a writer it does not, as both could wait for each other.
                guard ContinuousClock.now < deadline else {
                    throw ImportError(
                        .storeInUse,
                        at: store,
                        "another program is reading or writing it, so it cannot be put into WAL mode",
                        advice:
                            "Nothing was written. Let the other program end its transaction, then \(.sameAgain)."
                    )
                }
                usleep(10_000)
            }
        }
    }

    /// Leaves WAL mode, unless some other connection has the store open: then it stays.
    ///
    /// What is committed is in the store's file and on the disk before the WAL goes; then the first page is written.
    ///
    /// - Returns: whether it is left.
    @discardableResult
    package static func leave(_ database: Database) throws -> Bool {
        try database.execute(sql: "PRAGMA busy_timeout = 0")
        do {
            return try String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE") == "delete"
        } catch let error as DatabaseError
            where [.SQLITE_BUSY, .SQLITE_LOCKED].contains(error.resultCode.primaryResultCode)
        {
            return false
        }
    }
}
