import Foundation
import GRDB
import GRDBSQLite
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// The rows of a query in one of the stores, read and compared where SQLite has them (`sqlite3_column_*`).
///
/// Cells are equal when their storage classes and bytes are. Nothing is made of rows that are the same. It is made and used by one
/// thread, within one read transaction.
package final class ComparisonCursor {
    /// How many columns there are before those of the object itself: the keys of the objects around it.
    package let path: Int
    /// True if there is a row.
    private(set) var hasRow = false
    private let statement: OpaquePointer
    private let connection: OpaquePointer
    private let isUTF8: Bool

    /// - Parameters:
    ///   - path: how many columns are the keys of the objects around each row's.
    ///   - isUTF8: whether the store's texts are.
    package init(_ connection: OpaquePointer, _ text: SQLFragment, path: Int, isUTF8: Bool) throws {
        self.path = path
        self.connection = connection
        self.isUTF8 = isUTF8
        guard let statement = try connection.prepare(text.sql) else {
            throw ImportError(.fault, "an empty statement")
        }
        self.statement = statement
        for (index, argument) in text.arguments.enumerated() { try bind(argument, at: index) }
    }

    deinit { sqlite3_finalize(statement) }

    /// How many arguments the statement has.
    var argumentCount: Int { Int(sqlite3_bind_parameter_count(statement)) }

    /// How many columns the statement has.
    var columnCount: Int { Int(sqlite3_column_count(statement)) }

    /// Makes all arguments null.
    func unbind() { sqlite3_clear_bindings(statement) }

    /// Gives an argument, whose index counts from 0; to be called before the first row.
    package func bind(_ argument: RawArgument, at index: Int) throws {
        let place = Int32(index + 1)
        let code: Int32 =
            switch argument {
            case .null: sqlite3_bind_null(statement, place)
            case .integer(let number): sqlite3_bind_int64(statement, place, number)
            case .real(let number): sqlite3_bind_double(statement, place, number)
            case .text(let bytes):
                bytes.isEmpty
                    ? sqlite3_bind_text(statement, place, "", 0, SQLiteDestructor.copied)
                    : bytes.withUnsafeBytes {
                        sqlite3_bind_text(
                            statement,
                            place,
                            $0.baseAddress?.assumingMemoryBound(to: CChar.self),
                            Int32(clamping: $0.count),
                            SQLiteDestructor.copied
                        )
                    }
            case .blob(let bytes):
                bytes.isEmpty
                    ? sqlite3_bind_zeroblob(statement, place, 0)
                    : sqlite3_bind_blob(statement, place, bytes, Int32(clamping: bytes.count), SQLiteDestructor.copied)
            }
        guard code == SQLITE_OK else { throw connection.lastError }
    }

    /// Begins again with cells of another row as the arguments.
    package func bind(_ other: ComparisonCursor, _ columns: Range<Int>) throws {
        sqlite3_reset(statement)
        hasRow = false
        for (index, column) in columns.enumerated() {
            let value = sqlite3_column_value(other.statement, Int32(column))
            guard sqlite3_bind_value(statement, Int32(index + 1), value) == SQLITE_OK else {
                throw connection.lastError
            }
        }
    }

    /// Begins again with the values of a key as the arguments.
    package func bind(_ key: RowKey) {
        sqlite3_reset(statement)
        hasRow = false
        _ = key.bind(to: statement, at: 1)
    }

    /// Goes to the next row.
    func advance() throws {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: hasRow = true
        case SQLITE_DONE: hasRow = false
        default:
            hasRow = false
            throw connection.lastError
        }
    }

    /// Lets go of the row.
    package func reset() {
        sqlite3_reset(statement)
        hasRow = false
    }

    // MARK: Cells

    package func isNull(_ column: Int) -> Bool { sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL }

    package func integer(_ column: Int) -> Int64 { sqlite3_column_int64(statement, Int32(column)) }

    /// A cell to keep.
    package func value(_ column: Int) -> StoredValue {
        let column = Int32(column)
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT: return StoredValue(text: Array(text(column)))
        case SQLITE_BLOB: return .blob(Array(blob(column)))
        default: return .null
        }
    }

    /// Appends bytes that are the same for the same cell alone, and that end by themselves.
    func appendKey(_ column: Int, to key: inout [UInt8]) {
        func append(_ kind: UInt8, _ bytes: UnsafeRawBufferPointer) {
            key.append(kind)
            withUnsafeBytes(of: Int64(bytes.count)) { key.append(contentsOf: $0) }
            key.append(contentsOf: bytes)
        }
        let column = Int32(column)
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER:
            withUnsafeBytes(of: sqlite3_column_int64(statement, column)) { append(1, $0) }
        case SQLITE_FLOAT:
            withUnsafeBytes(of: sqlite3_column_double(statement, column)) { append(2, $0) }
        case SQLITE_TEXT: append(3, text(column))
        case SQLITE_BLOB: append(4, blob(column))
        default: key.append(0)
        }
    }

    private func text(_ column: Int32) -> UnsafeRawBufferPointer {
        // As a blob, a text stays where it is: without a NUL after its end.
        if isUTF8 { return blob(column) }
        let base = sqlite3_column_text(statement, column)
        return UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(statement, column)))
    }

    private func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let base = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(start: base, count: Int(sqlite3_column_bytes(statement, column)))
    }

    /// True if cells beside each other are the same in two rows.
    static func areEqual(_ one: ComparisonCursor, _ first: Int, _ other: ComparisonCursor, _ second: Int, count: Int)
        -> Bool
    {
        for index in 0..<count where !isEqual(one, Int32(first + index), other, Int32(second + index)) { return false }
        return true
    }

    @inline(__always)
    private static func isEqual(_ one: ComparisonCursor, _ first: Int32, _ other: ComparisonCursor, _ second: Int32)
        -> Bool
    {
        // What is asked of a value takes fewer steps than what is asked of a column.
        let (value, another) = (
            sqlite3_column_value(one.statement, first), sqlite3_column_value(other.statement, second)
        )
        let type = sqlite3_value_type(value)
        guard type == sqlite3_value_type(another) else { return false }
        switch type {
        case SQLITE_INTEGER: return sqlite3_value_int64(value) == sqlite3_value_int64(another)
        case SQLITE_FLOAT: return sqlite3_value_double(value).bitPattern == sqlite3_value_double(another).bitPattern
        case SQLITE_TEXT where !one.isUTF8 || !other.isUTF8: return isSame(one.text(first), other.text(second))
        case SQLITE_TEXT, SQLITE_BLOB: return isSame(bytes(value), bytes(another))
        default: return true
        }
    }

    @inline(__always)
    private static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
        // As a blob, a text stays where it is: without a NUL after its end.
        let base = sqlite3_value_blob(value)
        return UnsafeRawBufferPointer(start: base, count: Int(sqlite3_value_bytes(value)))
    }

    @inline(__always)
    private static func isSame(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Bool {
        guard one.count == other.count else { return false }
        guard let first = one.baseAddress, let second = other.baseAddress else { return one.isEmpty }
        return memcmp(first, second, one.count) == 0
    }

    /// The order of cells beside each other in two rows: null, numbers, texts, blobs, each by value or bytes.
    ///
    /// - Returns: below 0, 0 or above 0.
    package static func order(
        _ one: ComparisonCursor,
        _ first: Int,
        _ other: ComparisonCursor,
        _ second: Int,
        count: Int
    )
        -> Int
    {
        for index in 0..<count {
            let order = order(one, Int32(first + index), other, Int32(second + index))
            if order != 0 { return order }
        }
        return 0
    }

    private static func order(_ one: ComparisonCursor, _ first: Int32, _ other: ComparisonCursor, _ second: Int32)
        -> Int
    {
        let types = (sqlite3_column_type(one.statement, first), sqlite3_column_type(other.statement, second))
        switch types {
        case (SQLITE_INTEGER, SQLITE_INTEGER):
            let numbers = (
                sqlite3_column_int64(one.statement, first), sqlite3_column_int64(other.statement, second)
            )
            return numbers.0 < numbers.1 ? -1 : numbers.0 > numbers.1 ? 1 : 0
        case (SQLITE_TEXT, SQLITE_TEXT): return order(one.text(first), other.text(second))
        case (SQLITE_BLOB, SQLITE_BLOB): return order(one.blob(first), other.blob(second))
        case (SQLITE_FLOAT, SQLITE_FLOAT):
            let numbers = (
                sqlite3_column_double(one.statement, first), sqlite3_column_double(other.statement, second)
            )
            if numbers.0 != numbers.1 { return numbers.0 < numbers.1 ? -1 : 1 }
            // -0.0 and 0.0 are two values.
            return numbers.0.bitPattern == numbers.1.bitPattern ? 0 : numbers.0.sign == .minus ? -1 : 1
        case (SQLITE_INTEGER, SQLITE_FLOAT):
            return order(
                sqlite3_column_int64(one.statement, first),
                sqlite3_column_double(other.statement, second)
            )
        case (SQLITE_FLOAT, SQLITE_INTEGER):
            return -order(
                sqlite3_column_int64(other.statement, second),
                sqlite3_column_double(one.statement, first)
            )
        default: return rank(types.0) - rank(types.1)
        }
    }

    /// An integer comes before the same number as a REAL.
    private static func order(_ integer: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        let whole = Int64(real.rounded(.down))
        return integer > whole ? 1 : -1
    }

    private static func rank(_ type: Int32) -> Int {
        switch type {
        case SQLITE_NULL: 0
        case SQLITE_INTEGER, SQLITE_FLOAT: 1
        case SQLITE_TEXT: 2
        default: 3
        }
    }

    private static func order(_ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer) -> Int {
        if let first = one.baseAddress, let second = other.baseAddress {
            let order = memcmp(first, second, min(one.count, other.count))
            if order != 0 { return Int(order) }
        }
        return one.count - other.count
    }
}
