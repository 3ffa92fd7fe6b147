import ImportModel

/// What must hold for a record (after `NSPredicate`), written as text: `age > 30 and city = 'Oslo'`.
///
/// <doc:Fetching> describes the language. A predicate knows no entity; its attributes and types are looked at when it is used
/// with one.
public struct RecordPredicate: Sendable, Hashable {
    /// The text, as written.
    public let text: String
    /// The values of the `?` in it, in order.
    public let arguments: [JSONValue]
    private let node: PredicateNode

    /// Reads a predicate.
    ///
    /// - Parameters:
    ///   - text: the predicate.
    ///   - arguments: the values of the `?` in it, in order; an array for one after `in`. They are never a part of the
    ///     predicate, whatever they hold.
    /// - Throws: `RecordPredicateError` with the position of the mistake, where it is none.
    public init(_ text: String, arguments: [JSONValue] = []) throws {
        node = try PredicateParser.parse(text, arguments: arguments)
        self.text = text
        self.arguments = arguments
    }

    /// Checks it against an entity.
    ///
    /// - Throws: `RecordPredicateError` when an attribute is not there, or is compared with something of another type.
    public func check(for entity: EntityDescription) throws {
        _ = try compiled(for: entity)
    }

    /// The condition for `WHERE`, all values as arguments.
    ///
    /// - Throws: `RecordPredicateError` when an attribute is not there, or is compared with something of another type.
    func compiled(for entity: EntityDescription) throws -> SQLText {
        try PredicateCompiler.compile(node, text: text, for: entity)
    }

    /// Whether text and values are the same.
    public static func == (one: RecordPredicate, other: RecordPredicate) -> Bool {
        ExactText(one.text) == ExactText(other.text)
            && one.arguments.elementsEqual(other.arguments) {
                ExactText($0.serialized()) == ExactText($1.serialized())
            }
    }

    /// Equal predicates have the same text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(text))
    }
}
