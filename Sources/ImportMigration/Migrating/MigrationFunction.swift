import Foundation
import GRDB
import GRDBSQLite
import ImportModel
import ImportSQLite
import ImportSources

/// A function that SQL calls (`sqlite3_create_function_v2`).
///
/// GRDB's own get a text up to its first NUL, and take longer.
final class MigrationFunction {
    /// Gets the arguments, and returns the value.
    typealias Body = ([DatabaseValue]) throws -> DatabaseValue

    private let body: Body

    private init(_ body: @escaping Body) { self.body = body }

    /// Gives a connection a function whose value depends on its arguments alone.
    ///
    /// - Parameters:
    ///   - argumentCount: how many arguments it has; -1 for any number.
    ///   - body: what it throws ends the statement. A text that is not well-formed UTF-8 gets to it as a blob.
    /// - Throws: `DatabaseError`.
    static func add(_ name: String, argumentCount: Int32, to database: Database, _ body: @escaping Body) throws {
        let connection = try database.handle
        let code = sqlite3_create_function_v2(
            connection,
            name,
            argumentCount,
            SQLITE_UTF8 | SQLITE_DETERMINISTIC,
            Unmanaged.passRetained(MigrationFunction(body)).toOpaque(),
            { context, count, values in
                guard let own = sqlite3_user_data(context) else { return sqlite3_result_null(context) }
                let function = Unmanaged<MigrationFunction>.fromOpaque(own).takeUnretainedValue()
                do {
                    let arguments = (0..<Int(count)).map { DatabaseValue(argument: values?[$0]) }
                    try function.body(arguments).returned(to: context)
                } catch {
                    sqlite3_result_error(context, (error as? ImportError)?.message ?? "\(error)", -1)
                }
            },
            nil,
            nil,
            { own in own.map { Unmanaged<MigrationFunction>.fromOpaque($0).release() } }
        )
        guard code == SQLITE_OK else { throw connection.lastError }
    }
}

extension DatabaseValue {
    /// The value of a function's argument.
    fileprivate init(argument value: OpaquePointer?) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = sqlite3_value_int64(value).databaseValue
        case SQLITE_FLOAT: self = sqlite3_value_double(value).databaseValue
        case SQLITE_TEXT:
            let start = sqlite3_value_text(value)
            let text = UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
            self = String(validating: text, as: UTF8.self)?.databaseValue ?? Data(text).databaseValue
        case SQLITE_BLOB:
            let start = sqlite3_value_blob(value)
            let blob = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
            self = Data(blob).databaseValue
        default: self = .null
        }
    }

    /// Makes this the value of a function.
    fileprivate func returned(to context: OpaquePointer?) {
        switch storage {
        case .null: sqlite3_result_null(context)
        case .int64(let number): sqlite3_result_int64(context, number)
        case .double(let number): sqlite3_result_double(context, number)
        case .string(var text):
            text.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    sqlite3_result_text(context, $0.baseAddress, Int32(clamping: $0.count), SQLiteDestructor.copied)
                }
            }
        case .blob(let data):
            data.withUnsafeBytes {
                guard let start = $0.baseAddress else { return sqlite3_result_zeroblob(context, 0) }
                sqlite3_result_blob(context, start, Int32(clamping: $0.count), SQLiteDestructor.copied)
            }
        }
    }
}
