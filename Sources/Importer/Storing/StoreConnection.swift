import Foundation
import GRDB

/// Opens connections to a store.
enum StoreConnection {
    /// A connection that writes.
    ///
    /// - Parameter durability: its `synchronous`, for good.
    /// - Throws: `ImportError` with `.cannotCreate` when the file cannot be made, is not writable, is no SQLite database, or
    ///   cannot have a WAL.
    static func writer(_ store: String, durability: RunOptions.Durability) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(60)
        // The page size counts for new files only; fewer, larger pages are fewer writes. An index is sorted on threads of
        // its own: with fewer, the one that reads the table sorts as well, and meanwhile the others run out of work.
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA page_size = 16384;
                    PRAGMA synchronous = \(durability.rawValue.uppercased());
                    PRAGMA cache_size = -4000;
                    PRAGMA threads = 3;
                    PRAGMA wal_autocheckpoint = 1000;
                    """
            )
            // Not by GRDB's `journalMode`: it sets `synchronous` anew, to NORMAL, and it looks at the WAL's file, which a reader
            // that is the last to close takes away at any time.
            guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
                throw ImportError(
                    .cannotCreate,
                    "\(store): cannot be put into WAL mode",
                    advice: "The store must be on a file system of this machine that has shared memory and locks."
                )
            }
        }
        return try opening(store) { try DatabaseQueue(path: store, configuration: configuration) }
    }

    /// Runs a transaction that builds indexes.
    ///
    /// The connection keeps up to 6.5 MB of changed pages in memory from now on. Building an index changes a page once more
    /// when the one beside it is full. Had the WAL got it already, everything behind it there would be read and summed
    /// again at the end (`walRewriteChecksums` in SQLite's wal.c).
    ///
    /// - Parameter durability: that of the connection.
    static func writeIndexes<Result>(
        _ database: DatabaseQueue,
        durability: RunOptions.Durability,
        _ body: (Database) throws -> Result
    ) throws -> Result {
        let writeback = try database.inDatabase { database in
            try database.execute(sql: "PRAGMA cache_spill = -6500")
            return durability == .off ? nil : WALWriteback(of: database)
        }
        defer { writeback?.stop() }
        return try database.write(body)
    }

    /// A connection that only reads.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is no file, `.cannotCreate` when it is no SQLite database.
    static func reader(_ store: String) throws -> DatabaseQueue {
        guard FileManager.default.fileExists(atPath: store) else {
            throw ImportError(.noInput, "\(store): there is no such store", advice: "Check the path.")
        }
        var configuration = Configuration()
        configuration.busyMode = .timeout(10)
        // The last connection to close tidies the WAL away, which one that may not write cannot.
        configuration.readonly = access(store, W_OK) != 0
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA query_only = 1") }
        return try opening(store) { try DatabaseQueue(path: store, configuration: configuration) }
    }

    private static func opening(_ store: String, _ open: () throws -> DatabaseQueue) throws -> DatabaseQueue {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: store, isDirectory: &isDirectory), isDirectory.boolValue {
            throw ImportError(.cannotCreate, "\(store): is a directory", advice: "Give the path of a file.")
        }
        do {
            let queue = try open()
            // The first read is what tells whether it is a database at all.
            try queue.inDatabase { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
            return queue
        } catch let error as DatabaseError {
            throw ImportError(store: store, error)
        }
    }
}

extension ImportError {
    /// What an SQLite error means to a person.
    init(store: String, _ error: DatabaseError) {
        let text = error.message ?? error.resultCode.description
        switch error.resultCode.primaryResultCode {
        case .SQLITE_NOTADB:
            self.init(
                .cannotCreate,
                "\(store): is not an SQLite database",
                advice: "Give the path of a store, or of a file that does not exist yet."
            )
        case .SQLITE_READONLY:
            self.init(
                .cannotCreate,
                "\(store): is read-only",
                advice: "Make the file and its folder writable."
            )
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(
                .cannotCreate,
                "\(store): cannot be opened (\(text))",
                advice: "The store's folder must be there and writable."
            )
        case .SQLITE_FULL:
            self.init(
                .io,
                "\(store): the disk is full",
                advice: "Everything committed so far is safe. Free some space, then resume."
            )
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(
                .inUse,
                "\(store): another program holds a lock on it",
                advice: "Close the program that is writing to it, then resume."
            )
        case .SQLITE_CORRUPT:
            self.init(.io, "\(store): the database is damaged (\(text))", advice: "Restore it from a backup.")
        default:
            self.init(
                .io,
                "\(store): \(text)",
                advice: "Everything committed so far is safe; resume when it is mended."
            )
        }
    }
}
