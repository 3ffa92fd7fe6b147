/// An attribute to sort by (after `NSSortDescriptor`).
///
/// Null comes before every value, as in SQLite. Decimals are compared as numbers, whatever the collation.
public struct RecordSort: Sendable, Hashable {
    /// How texts are compared (<https://www.sqlite.org/datatype3.html#collating_sequences>).
    public enum Collation: String, Sendable, Hashable, Codable, CaseIterable {
        /// By their bytes.
        case binary
        /// Like `binary`, but ASCII letters without case.
        case nocase
        /// Like `binary`, but without spaces at the end.
        case rtrim
    }

    /// The attribute's name.
    public var attribute: String
    /// Whether small values come first.
    public var ascending: Bool
    /// How texts are compared.
    public var collation: Collation

    /// Creates one.
    public init(_ attribute: String, ascending: Bool = true, collation: Collation = .binary) {
        self.attribute = attribute
        self.ascending = ascending
        self.collation = collation
    }

    /// Whether it is the same attribute, byte by byte, in the same order.
    public static func == (one: RecordSort, other: RecordSort) -> Bool {
        one.attribute.utf8.elementsEqual(other.attribute.utf8) && one.ascending == other.ascending
            && one.collation == other.collation
    }
}
