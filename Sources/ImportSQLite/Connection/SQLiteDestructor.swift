import GRDBSQLite

/// What becomes of a text or blob that is bound.
package enum SQLiteDestructor {
    /// SQLite copies it (`SQLITE_TRANSIENT`).
    package static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
