import GRDB
import GRDBSQLite
import ImportModel
import ImportSQLite

/// Which objects have been told, and which still have to be: in a database of its own, which is on disk as soon as it is large.
///
/// It is made and used by one thread.
package final class ReportedObjects {
    private let connection: OpaquePointer
    private let insertion: ComparisonCursor
    private let postponement: ComparisonCursor
    private let postponed: ComparisonCursor
    private var key: [UInt8] = []
    private var last: Int64 = 0

    /// - Parameter keyCount: how many parts an identifier has at most.
    /// - Throws: `DatabaseError` when there is no room for it.
    package init(keyCount: Int) throws {
        var opened: OpaquePointer?
        // SQLite removes a database without a name by itself.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2("", &opened, flags, nil)
        guard code == SQLITE_OK, let connection = opened else {
            sqlite3_close_v2(opened)
            throw DatabaseError(resultCode: ResultCode(rawValue: code))
        }
        self.connection = connection
        do {
            let columns = (0..<keyCount).map { "k\($0)" }
            let marks = columns.indices.map { "?\($0 + 1)" }
            for sql in [
                "PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -4000", "BEGIN",
                "CREATE TABLE told(entity, key, PRIMARY KEY(entity, key)) WITHOUT ROWID",
                "CREATE TABLE postponed(number INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")), entity)",
            ] {
                guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else { throw connection.lastError }
            }
            func rows(_ sql: String) throws -> ComparisonCursor {
                try ComparisonCursor(connection, SQLFragment(sql), path: 0, isUTF8: true)
            }
            insertion = try rows("INSERT OR IGNORE INTO told VALUES(?1, ?2)")
            postponement = try rows(
                "INSERT INTO postponed VALUES(NULL, \(marks.joined(separator: ", ")), ?\(keyCount + 1))"
            )
            postponed = try rows(
                "SELECT \(columns.joined(separator: ", ")), entity, number FROM postponed WHERE number > ?1 ORDER BY number LIMIT 1"
            )
        } catch {
            sqlite3_close_v2(connection)
            throw error
        }
    }

    deinit { sqlite3_close_v2(connection) }

    /// Keeps that an object is told.
    ///
    /// - Parameters:
    ///   - entity: the index of its entity.
    ///   - rows: a row with its identifier, which begins at `first` and has `count` parts.
    /// - Returns: whether it was not told before.
    package func insert(_ entity: Int, _ rows: ComparisonCursor, at first: Int, count: Int) throws -> Bool {
        key.removeAll(keepingCapacity: true)
        for column in first..<first + count { rows.appendKey(column, to: &key) }
        insertion.reset()
        try insertion.bind(.integer(Int64(entity)), at: 0)
        try insertion.bind(.blob(key), at: 1)
        try insertion.advance()
        return sqlite3_changes(connection) > 0
    }

    /// Keeps an object for later.
    func postpone(_ entity: Int, _ rows: ComparisonCursor, at first: Int, count: Int) throws {
        postponement.reset()
        postponement.unbind()
        try postponement.bind(rows, first..<first + count)
        try postponement.bind(.integer(Int64(entity)), at: postponement.argumentCount - 1)
        try postponement.advance()
        postponement.reset()
    }

    /// The next object that was kept for later: the index of its entity, and a row that begins with its identifier; nil for none.
    func nextPostponed() throws -> (entity: Int, rows: ComparisonCursor)? {
        postponed.reset()
        try postponed.bind(.integer(last), at: 0)
        try postponed.advance()
        guard postponed.hasRow else { return nil }
        last = postponed.integer(postponed.columnCount - 1)
        return (Int(clamping: postponed.integer(postponed.columnCount - 2)), postponed)
    }
}
