/// The position of a record in a view (after `IndexPath` with its `section` and `row`).
public struct RecordIndexPath: Sendable, Hashable, Comparable {
    /// The index of the section, from 0.
    public var section: Int
    /// The index of the record in its section, from 0.
    public var row: Int

    /// Creates an index path.
    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }

    /// True if the first index path comes before the second.
    public static func < (one: Self, other: Self) -> Bool {
        (one.section, one.row) < (other.section, other.row)
    }
}

extension RecordIndexPath: CustomStringConvertible {
    /// Both indexes, separated by a dot.
    public var description: String { "\(section).\(row)" }
}
