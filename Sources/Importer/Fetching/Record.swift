import Foundation
import GRDB
import ImportModel

/// One row of an entity's table, as it is stored.
public struct Record: Sendable, Hashable {
    /// A stored value, with SQLite's storage classes (<https://www.sqlite.org/datatype3.html>).
    public typealias Value = CoercedJSON

    /// The row's id in its table.
    public let rowID: Int64
    /// The values of the columns that were asked for, in their order: those of the entity's attributes, if nothing else is
    /// said.
    public let values: [Value]

    /// Puts one together from its parts.
    public init(rowID: Int64, values: [Value]) {
        self.rowID = rowID
        self.values = values
    }

    /// Whether row id and values are the same, texts by their bytes: `String` takes some for equal that are not.
    public static func == (one: Record, other: Record) -> Bool {
        one.rowID == other.rowID && one.values.count == other.values.count
            && zip(one.values, other.values).allSatisfy { $0.isSame(as: $1) }
    }

    /// Equal records have the same row id.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rowID)
        hasher.combine(values.count)
    }
}

extension Record {
    /// Takes a row whose first column is the row id, and the next `count` values.
    init(_ row: Row, count: Int) throws {
        self.init(rowID: row[0], values: try (0..<count).map { try Value(row, at: $0 + 1) })
    }
}

extension Record.Value {
    /// Text is read by its length: it may hold NUL, where a C string would end.
    init(_ row: Row, at index: Int) throws {
        let value: DatabaseValue = row[index]
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string:
            self = .text(try row.withUnsafeData(atIndex: index) { String(decoding: $0 ?? Data(), as: UTF8.self) })
        case .blob(let data): self = .blob([UInt8](data))
        }
    }

    /// Whether it is the same value of the same storage class, byte by byte.
    func isSame(as other: Self) -> Bool {
        guard case .text(let one) = self, case .text(let other) = other else { return self == other }
        return one.utf8.elementsEqual(other.utf8)
    }
}
