import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// The order of texts by their bytes in UTF-8, for stores that keep them otherwise.
enum ByteOrder {
    static let name = "importer_bytes"

    static let collation = DatabaseCollation(name) { one, other in
        if one.utf8.elementsEqual(other.utf8) { return .orderedSame }
        return one.utf8.lexicographicallyPrecedes(other.utf8) ? .orderedAscending : .orderedDescending
    }
}

/// One of the stores that are compared, in one read transaction from beginning to end.
package final class ComparedStore {
    package let store: String
    package let schema: ComparedSchema
    package let isUTF8: Bool
    /// True if others may write to it meanwhile.
    let isInWALMode: Bool
    /// How much of a store SQLite keeps in memory unless told otherwise, in KiB.
    ///
    /// Rows are read as they lie, or in an order by which most pages are read once: what is kept longer than the processor's own cache
    /// has room for it takes longer to read into.
    static let cacheSize = 1_000
    private let queue: DatabaseQueue
    private let block: UnsafeMutablePointer<PackedRowBlock>

    /// - Parameter cacheSize: how much of it SQLite keeps in memory, in KiB.
    /// - Throws: `ImportError` when it cannot be read.
    package init(_ store: String, identifiers: [String: [String]], cacheSize: Int = ComparedStore.cacheSize) throws {
        self.store = store
        do {
            queue = try Self.opened(store, cacheSize: cacheSize)
            (schema, isUTF8, isInWALMode, block) = try queue.inDatabase { database in
                let encoding = try String.fetchOne(database, sql: "PRAGMA encoding") ?? "UTF-8"
                return (
                    try ComparedSchema(store, database, identifiers: identifiers), encoding == "UTF-8",
                    try WALMode.isOn(database), try Self.block(database, isUTF8: encoding == "UTF-8")
                )
            }
        } catch let error as DatabaseError {
            throw Self.unreadable(store, error)
        } catch let error as ImportError where error.reason == .storeUnusable {
            throw error.becoming(.notSQLite).advising("Give the path of a store, or of another SQLite database.")
        }
    }

    /// The same state by another connection, for another thread; not in WAL mode, where that might see a later one.
    ///
    /// - Throws: `ImportError` when it cannot be opened once more.
    package func again() throws -> ComparedStore { try ComparedStore(again: self) }

    private init(again other: ComparedStore) throws {
        (store, schema, isUTF8, isInWALMode) = (other.store, other.schema, other.isUTF8, other.isInWALMode)
        do {
            queue = try Self.opened(store, cacheSize: 500)
            block = try queue.inDatabase { try Self.block($0, isUTF8: other.isUTF8) }
        } catch let error as DatabaseError {
            throw Self.unreadable(store, error)
        }
    }

    /// - Parameter cacheSize: in KiB.
    private static func opened(_ store: String, cacheSize: Int) throws -> DatabaseQueue {
        let queue = try StoreConnection.reader(store, keepsTransactions: true)
        try queue.inDatabase { database in
            database.add(collation: ByteOrder.collation)
            database.add(collation: DecimalText.collation)
            if let connection = database.sqliteConnection { try RowKey.addDigestFunction(to: connection) }
            try database.execute(sql: "PRAGMA cache_size = -\(cacheSize); BEGIN")
        }
        return queue
    }

    deinit { try? queue.retire() }

    /// Ends the transaction, once all has been read, so that nobody waits for it.
    package func end() throws {
        try read { if $0.isInsideTransaction { try $0.execute(sql: "COMMIT") } }
    }

    /// The rows of a statement.
    package func rows(_ text: SQLFragment, path: Int) throws -> ComparisonCursor {
        try read { database in
            let connection = try database.handle
            return try ComparisonCursor(connection, text, path: path, isUTF8: isUTF8)
        }
    }

    private static func block(_ database: Database, isUTF8: Bool) throws -> UnsafeMutablePointer<PackedRowBlock> {
        let connection = try database.handle
        return try PackedRowBlock.add(to: connection, isUTF8: isUTF8)
    }

    /// The rows of a statement that packs them; no other one that does may be in use meanwhile.
    func packedRows(_ text: SQLFragment, identifierCells: Int) throws -> PackedRowCursor {
        try read { database in
            let connection = try database.handle
            return try PackedRowCursor(connection, block, text, identifierCells: identifierCells)
        }
    }

    /// Calls `body` with the connection, which may write to temporary tables meanwhile.
    func writingTemporaryData(_ body: (Database) throws -> Void) throws {
        try read { database in
            try database.execute(sql: "PRAGMA query_only = 0")
            let result = Result { try body(database) }
            try database.execute(sql: "PRAGMA query_only = 1")
            try result.get()
        }
    }

    /// Calls `body` with the connection.
    package func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        do {
            return try queue.inDatabase(body)
        } catch let error as DatabaseError {
            throw Self.unreadable(store, error)
        }
    }

    private static func unreadable(_ store: String, _ error: DatabaseError) -> ImportError {
        ImportError(store: store, error)
    }
}
