/// An attribute to sort by (after `NSSortDescriptor`).
///
/// Null comes before every value, as in SQLite. Decimals are compared as numbers, whatever the collation.
public struct RecordSort: Sendable, Hashable {
    /// The comparisons of texts (<https://www.sqlite.org/datatype3.html#collating_sequences>).
    public enum Collation: String, Sendable, Hashable, Codable, CaseIterable {
        /// Compares bytes.
        case binary
        /// Compares bytes, ignoring the case of ASCII letters.
        case nocase
        /// Compares bytes, ignoring spaces at the end.
        case rtrim
    }

    /// The attribute's name.
    public var attribute: String
    /// True if small values come first.
    public var ascending: Bool
    /// The comparison of texts.
    public var collation: Collation

    /// Creates a sort order.
    public init(_ attribute: String, ascending: Bool = true, collation: Collation = .binary) {
        self.attribute = attribute
        self.ascending = ascending
        self.collation = collation
    }

    /// True if the attribute is the same, byte by byte, and the order, too.
    public static func == (one: RecordSort, other: RecordSort) -> Bool {
        one.attribute.utf8.elementsEqual(other.attribute.utf8) && one.ascending == other.ascending
            && one.collation == other.collation
    }
}
