import Foundation
import GRDBSQLite
import ImportEngine
import ImportModel

/// The values by which a row is referred to, as bytes that are equal only if the values are.
///
/// The bookkeeping keeps keys in this form: each value's kind as a byte, then 8 bytes of a number, or the length of a text or
/// blob in 8 bytes and its bytes; all numbers little-endian.
package struct RowKey: Hashable {
    package enum Kind: UInt8 {
        case null, integer, real, text, blob
    }

    package private(set) var bytes: [UInt8] = []

    package init() {}

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// The key of these cells.
    package init(_ cells: some Sequence<Cell>, _ values: RowValues) {
        for cell in cells {
            switch cell.tag {
            case .null: bytes.append(Kind.null.rawValue)
            case .integer: append(.integer, cell.payload)
            case .real: append(.real, cell.payload)
            case .chunkText, .batchText, .generatedText: append(.text, values.text(cell))
            case .batchBlob, .generatedBlob: append(.blob, values.text(cell))
            }
        }
    }

    /// A row id as a key.
    package init(rowID: Int64) { append(.integer, UInt64(bitPattern: rowID)) }

    /// The key in the columns of a statement's row.
    package init(_ statement: OpaquePointer?, columns: Range<Int32>) {
        for column in columns {
            switch sqlite3_column_type(statement, column) {
            case SQLITE_INTEGER:
                append(.integer, UInt64(bitPattern: sqlite3_column_int64(statement, column)))
            case SQLITE_FLOAT: append(.real, sqlite3_column_double(statement, column).bitPattern)
            case SQLITE_TEXT:
                let text = sqlite3_column_text(statement, column)
                append(.text, UnsafeRawBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column))))
            case SQLITE_BLOB:
                let blob = sqlite3_column_blob(statement, column)
                append(.blob, UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(statement, column))))
            default: bytes.append(Kind.null.rawValue)
            }
        }
    }

    /// The key of these values.
    package init(_ values: [StoredValue]) {
        for value in values {
            switch value {
            case .null: bytes.append(Kind.null.rawValue)
            case .integer(let number): append(.integer, UInt64(bitPattern: number))
            case .real(let number): append(.real, number.bitPattern)
            case .text(var text): text.withUTF8 { append(.text, UnsafeRawBufferPointer($0)) }
            case .textBytes(let text): text.withUnsafeBytes { append(.text, $0) }
            case .blob(let blob): blob.withUnsafeBytes { append(.blob, $0) }
            }
        }
    }

    /// Its values; nil where the bytes are no key.
    package var values: [StoredValue]? {
        var values: [StoredValue] = []
        let isWhole = forEach { kind, word, text in
            switch kind {
            case .null: values.append(.null)
            case .integer: values.append(.integer(Int64(bitPattern: word)))
            case .real: values.append(.real(Double(bitPattern: word)))
            case .text: values.append(StoredValue(text: Array(text)))
            case .blob: values.append(.blob(Array(text)))
            }
        }
        return isWhole ? values : nil
    }

    /// The name of the SQL function whose value is the key of its arguments, as bytes.
    package static let function = "import_key"

    /// The name of the SQL function whose value is its arguments, one after the other.
    private static let joinFunction = "import_join"

    /// A call has at most this many arguments (`SQLITE_MAX_FUNCTION_ARG`).
    private static let mostArguments = 100

    /// The SQL whose value is the key of expressions, as many as there are.
    package static func call(_ expressions: [String]) -> String {
        func groups(_ all: [String], _ function: String) -> [String] {
            stride(from: 0, to: max(all.count, 1), by: mostArguments).map { start in
                "\(function)(\(all[start..<min(start + mostArguments, all.count)].joined(separator: ", ")))"
            }
        }
        var parts = groups(expressions, function)
        while parts.count > 1 { parts = groups(parts, joinFunction) }
        return parts[0]
    }

    /// Gives a connection the functions.
    ///
    /// - Throws: `DatabaseError`.
    static func addFunction(to connection: OpaquePointer) throws {
        try add(joinFunction, to: connection) { context, count, values in
            var bytes: [UInt8] = []
            for index in 0..<Int(count) {
                let value = values?[index]
                let blob = sqlite3_value_blob(value)
                bytes += UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_value_bytes(value)))
            }
            RowKey.give(bytes, to: context)
        }
        try add(function, to: connection) { context, count, values in
            RowKey.give(RowKey(count, values).bytes, to: context)
        }
    }

    /// What SQLite calls: the context, and the arguments.
    package typealias Function = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// Gives a connection a function of any number of arguments (`sqlite3_create_function_v2`).
    package static func add(_ name: String, to connection: OpaquePointer, _ body: Function) throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        let code = sqlite3_create_function_v2(connection, name, -1, flags, nil, body, nil, nil, nil)
        guard code == SQLITE_OK else { throw connection.lastError }
    }

    /// The key of a function's arguments.
    package init(_ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
        // A kind and 8 bytes, and the bytes of texts and blobs.
        var room = 9 * Int(count)
        for index in 0..<Int(count) where sqlite3_value_type(values?[index]) >= SQLITE_TEXT {
            room += Int(sqlite3_value_bytes(values?[index]))
        }
        bytes.reserveCapacity(room)
        for index in 0..<Int(count) { append(values?[index]) }
    }

    /// Makes bytes a function's value.
    static func give(_ bytes: [UInt8], to context: OpaquePointer?) {
        bytes.withUnsafeBytes {
            sqlite3_result_blob(context, $0.baseAddress, Int32(clamping: $0.count), SQLiteDestructor.copied)
        }
    }

    /// Adds a value of a function's argument.
    private mutating func append(_ value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: append(.integer, UInt64(bitPattern: sqlite3_value_int64(value)))
        case SQLITE_FLOAT: append(.real, sqlite3_value_double(value).bitPattern)
        case SQLITE_TEXT:
            let text = sqlite3_value_text(value)
            append(.text, UnsafeRawBufferPointer(start: text, count: Int(sqlite3_value_bytes(value))))
        case SQLITE_BLOB:
            let blob = sqlite3_value_blob(value)
            append(.blob, UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_value_bytes(value))))
        default: bytes.append(Kind.null.rawValue)
        }
    }

    private mutating func append(_ kind: Kind, _ word: UInt64) {
        bytes.append(kind.rawValue)
        withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func append(_ kind: Kind, _ text: UnsafeRawBufferPointer) {
        append(kind, UInt64(text.count))
        bytes.append(contentsOf: text)
    }

    /// True if a part of it is null: then it refers to nothing.
    package var hasNull: Bool {
        var isNull = false
        forEach { kind, _, _ in if kind == .null { isNull = true } }
        return isNull
    }

    /// Its values as JSON; a blob in the format of its column, or in base64.
    package func texts(in columns: [TableDescription.Column]) -> [String] {
        var texts: [String] = []
        forEach { kind, word, text in
            switch kind {
            case .null: texts.append("null")
            case .integer: texts.append("\(Int64(bitPattern: word))")
            case .real: texts.append("\(Double(bitPattern: word))")
            case .text: texts.append(JSONValue.string(String(decoding: text, as: UTF8.self)).serialized())
            case .blob:
                let attribute = columns.indices.contains(texts.count) ? columns[texts.count].attribute : nil
                let value = attribute?.text(ofBinary: text) ?? Data(text).base64EncodedString()
                texts.append(JSONValue.string(value).serialized())
            }
        }
        return texts
    }

    /// Binds its values to consecutive parameters of a statement.
    ///
    /// - Returns: how many they are.
    @discardableResult
    package func bind(to statement: OpaquePointer?, at first: Int32) -> Int32 {
        var parameter = first
        forEach { kind, word, text in
            switch kind {
            case .null: sqlite3_bind_null(statement, parameter)
            case .integer: sqlite3_bind_int64(statement, parameter, Int64(bitPattern: word))
            case .real: sqlite3_bind_double(statement, parameter, Double(bitPattern: word))
            case .text:
                text.withUnsafeBytes {
                    let start = $0.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
                    let characters = start.assumingMemoryBound(to: CChar.self)
                    sqlite3_bind_text(
                        statement,
                        parameter,
                        characters,
                        Int32(clamping: $0.count),
                        SQLiteDestructor.copied
                    )
                }
            case .blob:
                text.withUnsafeBytes {
                    let start = $0.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
                    sqlite3_bind_blob(statement, parameter, start, Int32(clamping: $0.count), SQLiteDestructor.copied)
                }
            }
            parameter += 1
        }
        return parameter - first
    }

    @discardableResult
    private func forEach(_ body: (Kind, UInt64, ArraySlice<UInt8>) -> Void) -> Bool {
        var rest = bytes[...]
        while let first = rest.popFirst() {
            guard let kind = Kind(rawValue: first) else { return false }
            guard kind != .null else {
                body(kind, 0, [])
                continue
            }
            guard rest.count >= 8 else { return false }
            let word = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(8)
            guard kind == .text || kind == .blob else {
                body(kind, word, [])
                continue
            }
            guard word <= UInt64(rest.count) else { return false }
            body(kind, word, rest.prefix(Int(word)))
            rest = rest.dropFirst(Int(word))
        }
        return true
    }
}
