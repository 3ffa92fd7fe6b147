import ImportModel

/// One row of an entity's table, as it is stored.
public struct Record: Sendable, Hashable {
    /// A stored value, with SQLite's storage classes (<https://www.sqlite.org/datatype3.html>).
    public typealias Value = CoercedJSON

    /// The row's id in its table.
    public let rowID: Int64
    /// The values of the columns that were asked for, in their order: those of the entity's attributes, if nothing else is
    /// said.
    ///
    /// Then the related objects that were asked for, as the JSON of each relationship; null where a to-one leads nowhere.
    public let values: [Value]

    /// Creates one.
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

extension Record.Value {
    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// Whether it is the same value of the same storage class, byte by byte.
    package func isSame(as other: Self) -> Bool {
        guard case .text(let one) = self, case .text(let other) = other else { return self == other }
        return one.utf8.elementsEqual(other.utf8)
    }
}
