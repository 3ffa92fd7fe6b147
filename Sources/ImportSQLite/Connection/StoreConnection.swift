import Foundation
import GRDB
import GRDBSQLite
import ImportSources

/// Opens connections to a store.
package enum StoreConnection {
    /// A connection that writes, and commits only while the store's file is in its place.
    ///
    /// - Parameters:
    ///   - durability: its `synchronous`, for good.
    ///   - file: the store's file; nil for whichever is at the path.
    ///   - pageSize: of a new file, in bytes.
    ///   - interruption: ends each wait for others.
    /// - Throws: `ImportError` with `.cannotCreate` when the file cannot be made, is not writable, is no SQLite database, or
    ///   cannot have a WAL; `.io` when another file is in its place, which is then left as it is.
    package static func writer(
        _ store: String,
        durability: RunOptions.Durability,
        of file: StoreFile? = nil,
        pageSize: Int = 16384,
        interruption: Interruption = Interruption()
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        // The page size counts for new files only; fewer, larger pages are fewer writes. An index is sorted on threads of
        // its own: with fewer, the one that reads the table sorts as well, and meanwhile the others run out of work.
        configuration.prepareDatabase { database in
            // Up to here SQLite has read nothing of the file, and opened nothing beside it.
            guard let file = file ?? StoreFile(store) else { throw StoreFile.isGone(store) }
            try file.check()
            if UntrustedStoreGuard.hasMoved(database) { throw file.isAnother }
            try UntrustedStoreGuard.apply(to: database)
            database.add(transactionObserver: StoreFileGuard(file, keeping: interruption), extent: .databaseLifetime)
            waitForWriters(database, until: interruption)
            try UntrustedStoreGuard.readSchema(database)
            try database.execute(
                sql: """
                    PRAGMA page_size = \(pageSize);
                    PRAGMA synchronous = \(durability.rawValue.uppercased());
                    PRAGMA cache_size = -4000;
                    PRAGMA threads = 3;
                    PRAGMA wal_autocheckpoint = 1000;
                    """
            )
            try WALMode.enter(database, store: store, interruption)
            // Entering has its own way to wait.
            waitForWriters(database, until: interruption)
            // The first read opens the WAL.
            _ = try Int.fetchOne(database, sql: "PRAGMA schema_version")
            try UntrustedStoreGuard.readTriggersAsSQLiteDoes(database)
            try file.noteCompanions()
        }
        return try opening(store) { try DatabaseQueue(path: store, configuration: configuration) }
    }

    /// Waits for other writers for up to 60 s, as long as nobody asks to stop.
    ///
    /// - Parameter interruption: one that lives as long as the connection.
    private static func waitForWriters(_ database: Database, until interruption: Interruption) {
        let context = Unmanaged.passUnretained(interruption).toOpaque()
        sqlite3_busy_handler(
            database.sqliteConnection,
            { context, tries in
                guard let context, tries < 6_000 else { return 0 }
                if Unmanaged<Interruption>.fromOpaque(context).takeUnretainedValue().isRequested { return 0 }
                usleep(UInt32(min(tries + 1, 10)) * 1_000)
                return 1
            },
            context
        )
    }

    /// Makes the cache larger, after `writeIndexes` or within it: the pages that a transaction has changed fill it, and SQLite gives up
    /// all others for them, which would be read again at each lookup.
    ///
    /// - Parameter room: in KiB.
    /// - Returns: the size to go back to.
    static func makeRoomForLookups(_ database: Database, _ room: Int = 12_000) throws -> Int {
        let size = try Int.fetchOne(database, sql: "PRAGMA cache_size") ?? -4000
        try database.execute(sql: "PRAGMA cache_size = -\(room)")
        return size
    }

    /// Closes the last connection of an import: moves the WAL into the store, and leaves WAL mode where nobody else has the
    /// store open.
    ///
    /// - Throws: `ImportError` with `.io` when the file is no longer in its place: it has all that was committed then, and what is
    ///   there now is left as it is.
    package static func closeLast(_ queue: DatabaseQueue, of file: StoreFile, leavesWAL: Bool) throws {
        defer { try? queue.retire() }
        try queue.inDatabase { database in
            guard file.isInPlace else {
                // Waits for those who read the file under its new name.
                try database.execute(sql: "PRAGMA busy_timeout = \(WALMode.patience)")
                _ = try database.checkpoint(.truncate)
                file.removeCompanions()
                return try file.check()
            }
            // What is left in the WAL is copied while everybody is locked out; this only waits for those who read what was
            // there before, and not for long.
            try database.execute(sql: "PRAGMA busy_timeout = 1000")
            _ = try? database.checkpoint(.full)
            try file.check()
            if leavesWAL { try WALMode.leave(database) }
            try UntrustedStoreGuard.setTidiesUp(true, database)
        }
    }

    /// Runs a transaction that builds indexes.
    ///
    /// The connection keeps up to 6.5 MB of changed pages in memory from now on. Building an index changes a page once more
    /// when the one beside it is full. Had the WAL got it already, everything after it there would be read and summed
    /// again at the end (`walRewriteChecksums` in SQLite's wal.c).
    static func writeIndexes<Result>(_ database: DatabaseQueue, _ body: (Database) throws -> Result) throws -> Result {
        try database.inDatabase { try $0.execute(sql: "PRAGMA cache_spill = -6500") }
        return try database.write(body)
    }

    /// A connection that only reads; it leaves the WAL where it is when it is closed.
    ///
    /// - Parameter keepsTransactions: whether a transaction may last longer than a call.
    /// - Throws: `ImportError` with `.noInput` when there is no file, `.cannotCreate` when it is no SQLite database.
    package static func reader(_ store: String, keepsTransactions: Bool = false) throws -> DatabaseQueue {
        guard FileManager.default.fileExists(atPath: store) else { throw ImportError.noStore(at: store) }
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(10)
        // The last connection to close tidies the WAL away, which one that may not write cannot.
        configuration.readonly = access(store, W_OK) != 0
        configuration.allowsUnsafeTransactions = keepsTransactions
        configuration.prepareDatabase { database in
            try UntrustedStoreGuard.apply(to: database)
            try database.execute(sql: "PRAGMA query_only = 1")
            try UntrustedStoreGuard.readSchema(database)
        }
        return try opening(store) { try DatabaseQueue(path: store, configuration: configuration) }
    }

    private static func opening(_ store: String, _ open: () throws -> DatabaseQueue) throws -> DatabaseQueue {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: store, isDirectory: &isDirectory), isDirectory.boolValue {
            throw ImportError(.storeUnusable, at: store, "is a directory", advice: "Give the path of a file.")
        }
        return try ImportError.explaining(store) {
            // The store, its WAL, its WAL's index, temporary files, and what Dispatch takes.
            try ImportError.checkDescriptors(12, "to open \(store)")
            let queue = try open()
            do {
                // The first read is what says whether it is a database at all.
                try queue.inDatabase { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
            } catch {
                try? queue.retire()
                throw error
            }
            return queue
        }
    }
}

extension ImportError {
    /// Says of what goes wrong in SQLite what that means for a store.
    package static func explaining<Result>(_ store: String, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw ImportError(store: store, error)
        }
    }

    /// What an SQLite error means to a person.
    package init(store: String, _ error: DatabaseError) {
        let text = error.message ?? error.resultCode.description
        switch error.resultCode.primaryResultCode {
        case .SQLITE_NOTADB:
            self.init(
                .storeUnusable,
                at: store,
                "is not an SQLite database",
                advice: "Give the path of a store, or of a file that does not exist yet."
            )
        case .SQLITE_READONLY:
            self.init(
                .storeReadOnly,
                at: store,
                "is read-only",
                advice: "Make the file and its folder writable."
            )
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(
                .storeUnusable,
                at: store,
                "cannot be opened (\(text))",
                advice: "The store's folder must exist and be writable."
            )
        case .SQLITE_FULL:
            self.init(
                .diskFull,
                at: store,
                "the disk is full",
                advice: "What is committed stays. Free some space, then resume."
            )
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(
                .storeInUse,
                at: store,
                "another program holds a lock on it",
                advice: "Close the program that is writing to it, then resume."
            )
        // What `sum()` says (<https://www.sqlite.org/lang_aggfunc.html#sumunc>); the importer's own counts are far below.
        case .SQLITE_ERROR where text == "integer overflow":
            self.init(damaged: store, "its counts are too large to be added")
        case .SQLITE_CORRUPT where text.contains("unsafe use of"):
            self.init(
                .storeUnusable,
                at: store,
                "its schema uses what is not run of a store that somebody else may have written (\(text))",
                advice: "Take it out of the schema."
            )
        case .SQLITE_CORRUPT:
            self.init(
                .storeDamaged,
                at: store,
                "the database is damaged (\(text))",
                advice: "Restore it from a backup."
            )
        default:
            self.init(
                .storeFailed,
                at: store,
                "\(text)",
                advice: "What is committed stays in the store. Correct this, then \(.sameAgain)."
            )
        }
    }
}
