import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel

import struct ImportSources.Record

/// A query whose rows are read where SQLite has them, through its C functions (`sqlite3_step`, `sqlite3_column_*`).
///
/// A row of GRDB makes a `String` of each text, which ends at a NUL. It is made, used and reset within one transaction; there
/// must be only one at a time with the same text.
package struct RawRowCursor {
    private let statement: Statement
    private let beyond: Statement?
    private let rest: SelectedColumns.Rest?
    private let database: Database

    /// - Parameters:
    ///   - text: with the values to bind; `bind` takes others.
    ///   - rest: the columns that it has no room for, which are read by its own first column, a row id.
    package init(_ database: Database, _ text: SQLFragment, beyond rest: SelectedColumns.Rest? = nil) throws {
        self.database = database
        statement = try database.cachedStatement(sql: text.sql)
        beyond = try rest.map { try database.cachedStatement(sql: $0.query) }
        self.rest = rest
        try bind(text.arguments)
    }

    /// Binds all arguments, and begins again.
    package func bind(_ arguments: [RawArgument]) throws {
        let pointer = statement.sqliteStatement
        sqlite3_reset(pointer)
        for (index, argument) in arguments.enumerated() {
            let code = Self.bind(argument, Int32(index + 1), pointer)
            guard code == SQLITE_OK else { throw error(code) }
        }
    }

    private static func bind(_ argument: RawArgument, _ place: Int32, _ pointer: OpaquePointer) -> Int32 {
        // SQLite makes a copy (SQLITE_TRANSIENT).
        let copying = SQLiteDestructor.copied
        switch argument {
        case .null: return sqlite3_bind_null(pointer, place)
        case .integer(let number): return sqlite3_bind_int64(pointer, place, number)
        case .real(let number): return sqlite3_bind_double(pointer, place, number)
        // An empty array may have no memory, and no memory is null.
        case .text(let bytes) where bytes.isEmpty: return sqlite3_bind_text(pointer, place, "", 0, copying)
        case .text(let bytes):
            return bytes.withUnsafeBytes { buffer in
                let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                return sqlite3_bind_text(pointer, place, base, Int32(clamping: buffer.count), copying)
            }
        case .blob(let bytes) where bytes.isEmpty: return sqlite3_bind_zeroblob(pointer, place, 0)
        case .blob(let bytes): return sqlite3_bind_blob(pointer, place, bytes, Int32(clamping: bytes.count), copying)
        }
    }

    /// The first row's first column as a number; nil where there is no row, or a null.
    package static func number(_ database: Database, _ text: SQLFragment) throws -> Int64? {
        let statement = try RawRowCursor(database, text)
        defer { statement.reset() }
        guard let row = try statement.next(), case .integer(let number) = row.value(at: 0) else { return nil }
        return number
    }

    /// Goes to the next row; nil after the last.
    package func next() throws -> StoredRow? {
        let code = sqlite3_step(statement.sqliteStatement)
        switch code {
        case SQLITE_ROW: return try row()
        case SQLITE_DONE: return nil
        default: throw error(code)
        }
    }

    private func row() throws -> StoredRow {
        let pointer = statement.sqliteStatement
        guard let beyond = beyond?.sqliteStatement else { return StoredRow(pointer: pointer, beyond: nil, rest: nil) }
        sqlite3_reset(beyond)
        // A link may lead to no row.
        guard sqlite3_column_type(pointer, 0) != SQLITE_NULL else {
            return StoredRow(pointer: pointer, beyond: beyond, rest: rest)
        }
        sqlite3_bind_int64(beyond, 1, sqlite3_column_int64(pointer, 0))
        let code = sqlite3_step(beyond)
        guard code == SQLITE_ROW else { throw error(code) }
        return StoredRow(pointer: pointer, beyond: beyond, rest: rest)
    }

    /// Lets go of what it holds in the store.
    package func reset() {
        sqlite3_reset(statement.sqliteStatement)
        if let beyond { sqlite3_reset(beyond.sqliteStatement) }
    }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: database.lastErrorMessage)
    }
}

/// The row that a statement is at; it is gone with the next one.
package struct StoredRow {
    fileprivate let pointer: OpaquePointer
    /// Where the columns are that one statement has no room for.
    fileprivate let beyond: OpaquePointer?
    fileprivate let rest: SelectedColumns.Rest?

    /// A value with its storage class; the bytes of texts and blobs stay where SQLite has them.
    package enum Value {
        case null
        case integer(Int64)
        case real(Double)
        case text(UnsafeBufferPointer<UInt8>)
        case blob(UnsafeBufferPointer<UInt8>)
    }

    package func integer(at index: Int) -> Int64 {
        let (pointer, index) = place(of: index)
        return sqlite3_column_int64(pointer, index)
    }

    /// The value of a column, from 0; valid until the statement continues.
    package func value(at index: Int) -> Value {
        let (pointer, index) = place(of: index)
        switch sqlite3_column_type(pointer, index) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(pointer, index))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(pointer, index))
        case SQLITE_TEXT:
            // The text first, and then how long it is in the encoding that was asked for.
            let base = sqlite3_column_text(pointer, index)
            return .text(UnsafeBufferPointer(start: base, count: Int(sqlite3_column_bytes(pointer, index))))
        case SQLITE_BLOB:
            let base = sqlite3_column_blob(pointer, index)
            let count = Int(sqlite3_column_bytes(pointer, index))
            return .blob(UnsafeBufferPointer(start: base?.assumingMemoryBound(to: UInt8.self), count: count))
        default: return .null
        }
    }

    private func place(of index: Int) -> (OpaquePointer, Int32) {
        guard let beyond, let rest, index >= rest.place else { return (pointer, Int32(index)) }
        let place = index - rest.place
        return place < rest.count ? (beyond, Int32(place)) : (pointer, Int32(index - rest.count))
    }

    /// The same to keep.
    package func stored(at index: Int) -> Record.Value { value(at: index).stored }
}

extension StoredRow.Value {
    /// The same to keep.
    package var stored: Record.Value {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .real(number)
        case .text(let bytes): .text(String(decoding: bytes, as: UTF8.self))
        case .blob(let bytes): .blob(Array(bytes))
        }
    }
}
