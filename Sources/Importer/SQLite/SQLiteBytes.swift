import GRDBSQLite

/// What becomes of a text or blob that is bound.
enum SQLiteBytes {
    /// SQLite copies it (`SQLITE_TRANSIENT`).
    static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
