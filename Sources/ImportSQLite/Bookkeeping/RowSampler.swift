import GRDB
import GRDBSQLite
import ImportSources

/// Reads rows one by one to their digests.
///
/// It reads values where SQLite has them: a row of GRDB takes many times as long, and its texts end at a NUL. Made and used
/// within one transaction.
package struct RowSampler {
    /// A row, its digest, and how many bytes its values have.
    package typealias Sample = (rowID: Int64, digest: String, bytes: Int)

    /// It has one parameter, a row id, and its first column is that of the row.
    package let statement: Statement
    package let database: Database
    package let hasher = XXH3Hasher()

    /// The statement's first row; nil where there is none.
    ///
    /// - Throws: `DatabaseError` when SQLite fails.
    package func sample(_ place: Int64) throws -> Sample? {
        let pointer = statement.sqliteStatement
        sqlite3_bind_int64(pointer, 1, place)
        defer { sqlite3_reset(pointer) }
        guard try step(pointer) else { return nil }
        hasher.reset()
        var bytes = 0
        for column in 1..<max(1, sqlite3_column_count(pointer)) { bytes += try add(column, of: pointer) }
        return (sqlite3_column_int64(pointer, 0), hasher.digest, bytes)
    }

    /// - Returns: whether there is a row.
    private func step(_ pointer: OpaquePointer) throws -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
        }
    }

    /// Adds a value with its storage class and its length.
    ///
    /// - Returns: how many bytes it has.
    /// - Throws: `DatabaseError` when there is no memory to convert it.
    private func add(_ column: Int32, of pointer: OpaquePointer) throws -> Int {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER:
            return withUnsafeBytes(of: sqlite3_column_int64(pointer, column)) { add(1, $0.baseAddress, $0.count) }
        case SQLITE_FLOAT:
            let number = sqlite3_column_double(pointer, column)
            return withUnsafeBytes(of: number.bitPattern) { add(2, $0.baseAddress, $0.count) }
        case SQLITE_TEXT:
            // The text first, and then how long it is in the encoding that was asked for.
            guard let text = sqlite3_column_text(pointer, column) else {
                throw DatabaseError(resultCode: .SQLITE_NOMEM)
            }
            return add(3, text, Int(sqlite3_column_bytes(pointer, column)))
        case SQLITE_BLOB:
            let blob = sqlite3_column_blob(pointer, column)
            return add(4, blob, Int(sqlite3_column_bytes(pointer, column)))
        default: return add(0, nil, 0)
        }
    }

    private func add(_ tag: UInt64, _ base: UnsafeRawPointer?, _ count: Int) -> Int {
        withUnsafeBytes(of: (tag, UInt64(count))) { hasher.update($0) }
        hasher.update(UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : count))
        return count
    }
}
