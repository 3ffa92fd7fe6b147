import GRDB
import ImportModel

/// What must hold for a record (after `NSPredicate`), written as text: `age > 30 and city = 'Oslo'`.
public struct RecordPredicate: Sendable, Hashable {
    /// The text, as written.
    public let text: String

    /// Reads a predicate.
    ///
    /// - Throws: `PredicateError` with the place of the mistake, where it is none. Attributes and types are looked at only when
    ///   it is used.
    public init(_ text: String) throws {
        self.text = text
    }

    /// The condition for `WHERE`, all values as arguments.
    ///
    /// - Throws: `PredicateError` when an attribute is not there, or what it is compared with is of another type.
    func sql(for entity: EntityDescription) throws -> (sql: String, arguments: StatementArguments) {
        throw PredicateError("predicates are not read yet", in: text, at: 0..<text.utf8.count)
    }
}
