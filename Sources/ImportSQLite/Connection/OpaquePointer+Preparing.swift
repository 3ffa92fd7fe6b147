import GRDB
import GRDBSQLite
import ImportSources

/// A connection's pointer.
extension OpaquePointer {
    /// Prepares a statement that is used again and again; the caller finalizes it (`sqlite3_prepare_v3`).
    ///
    /// - Throws: `DatabaseError`.
    package func prepare(_ sql: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        let persistent = UInt32(bitPattern: SQLITE_PREPARE_PERSISTENT)
        guard sqlite3_prepare_v3(self, sql, -1, persistent, &statement, nil) == SQLITE_OK else { throw lastError }
        return statement
    }

    /// What SQLite says of the last call that has failed.
    package var lastError: DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_extended_errcode(self)),
            message: String(cString: sqlite3_errmsg(self))
        )
    }
}

extension Database {
    /// The connection's pointer.
    ///
    /// - Throws: `ImportError` where it is closed.
    package var handle: OpaquePointer {
        get throws {
            guard let sqliteConnection else { throw ImportError(.fault, "the store's connection is closed") }
            return sqliteConnection
        }
    }
}
