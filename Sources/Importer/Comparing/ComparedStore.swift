import Foundation
import GRDB
import ImportModel

/// The order of texts by their bytes in UTF-8, for stores that keep them otherwise.
enum ByteOrder {
    static let name = "importer_bytes"

    static let collation = DatabaseCollation(name) { one, other in
        if one.utf8.elementsEqual(other.utf8) { return .orderedSame }
        return one.utf8.lexicographicallyPrecedes(other.utf8) ? .orderedAscending : .orderedDescending
    }
}

/// One of the stores that are compared, in one read transaction from beginning to end.
final class ComparedStore {
    let store: String
    let schema: SideSchema
    let isUTF8: Bool
    private let queue: DatabaseQueue

    /// - Parameter cacheSize: how much of it SQLite keeps in memory, in KiB.
    /// - Throws: `ImportError` when it cannot be read.
    init(_ store: String, identifiers: [String: [String]], cacheSize: Int = 16_000) throws {
        self.store = store
        do {
            queue = try StoreConnection.reader(store, keepsTransactions: true)
            (schema, isUTF8) = try queue.inDatabase { database in
                database.add(collation: ByteOrder.collation)
                database.add(collation: DecimalText.collation)
                try database.execute(sql: "PRAGMA cache_size = -\(cacheSize); BEGIN")
                let encoding = try String.fetchOne(database, sql: "PRAGMA encoding") ?? "UTF-8"
                return (try SideSchema(store, database, identifiers: identifiers), encoding == "UTF-8")
            }
        } catch let error as DatabaseError {
            throw Self.unreadable(store, error)
        } catch let error as ImportError where error.reason == .storeUnusable {
            throw error.becoming(.notSQLite)
        }
    }

    deinit { try? queue.retire() }

    /// Calls `body` with the connection.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
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
