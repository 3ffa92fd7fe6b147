/// Where a record is in a view (after `IndexPath` with its `section` and `row`).
public struct RecordIndexPath: Sendable, Hashable, Comparable {
    /// The section's number, from 0.
    public var section: Int
    /// The record's number in its section, from 0.
    public var row: Int

    /// Creates one.
    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }

    /// Whether it comes before the other.
    public static func < (one: Self, other: Self) -> Bool {
        (one.section, one.row) < (other.section, other.row)
    }
}

extension RecordIndexPath: CustomStringConvertible {
    /// Both numbers, with a dot between them.
    public var description: String { "\(section).\(row)" }
}
