import ImportModel

/// One row of an entity's table, as it is stored.
public struct Record: Sendable, Hashable {
    /// A stored value, with SQLite's storage classes (<https://www.sqlite.org/datatype3.html>).
    public typealias Value = CoercedJSON

    /// The row's id in its table.
    public let rowID: Int64
    /// The values of the requested columns, in their order; by default those of the entity's attributes.
    ///
    /// They are followed by the included related objects, as one JSON value for each relationship; null if a to-one is empty.
    public let values: [Value]

    /// Creates a record.
    public init(rowID: Int64, values: [Value]) {
        self.rowID = rowID
        self.values = values
    }

    /// True if row id and values are the same; texts are compared by their bytes, as `String` considers some equal that differ.
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

extension Record.Value {
    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// True if it is the same value of the same storage class, byte by byte.
    package func isSame(as other: Self) -> Bool {
        guard case .text(let one) = self, case .text(let other) = other else { return self == other }
        return one.utf8.elementsEqual(other.utf8)
    }
}
