import Foundation
import GRDB

/// A record's place in a sorted whole: its values of what is sorted by, byte by byte, and its row id.
///
/// It is a place also when the record has gone, or stands elsewhere.
struct WindowKey: Sendable, Hashable {
    /// A value as it is bound to a statement: text with its length, even if it holds NUL or is no UTF-8.
    enum Value: Sendable, Hashable {
        case null
        case number(DatabaseValue)
        case text(Data)
        case blob(Data)

        /// What stands for it in a statement: without an affinity, so that SQLite does not convert what it is compared
        /// with (<https://www.sqlite.org/datatype3.html#type_conversions_prior_to_comparison>).
        var placeholder: String {
            if case .text = self { "+CAST(? AS TEXT)" } else { "?" }
        }

        var argument: DatabaseValue {
            switch self {
            case .null: .null
            case .number(let number): number
            case .text(let bytes), .blob(let bytes): bytes.databaseValue
            }
        }
    }

    /// In the order of what is sorted by.
    let values: [Value]
    let rowID: Int64

    /// Takes the values out of a row whose first column is the row id.
    init(_ row: Row, columns: [Int]) throws {
        values = try columns.map { column in
            let value: DatabaseValue = row[column]
            return switch value.storage {
            case .null: .null
            case .int64, .double: .number(value)
            case .string: .text(try row.withUnsafeData(atIndex: column) { Data($0 ?? Data()) })
            case .blob(let bytes): .blob(bytes)
            }
        }
        rowID = row[0]
    }
}
