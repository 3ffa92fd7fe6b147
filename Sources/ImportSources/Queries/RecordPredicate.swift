import ImportModel

/// A condition on records (after `NSPredicate`): `age > 30 and city = 'Oslo'`.
///
/// ```swift
/// let (minimum, cities) = (18, ["Oslo", "Bergen"])
/// let written = try RecordPredicate("age > \(minimum) and city in \(cities)")
/// let built = RecordPredicate.attribute("age") > minimum && RecordPredicate.attribute("city").isIn(cities)
/// let typed = try RecordPredicate(parsing: "age > ? and city = 'Oslo'", arguments: [18])
/// ```
///
/// <doc:Fetching> describes the language. A predicate does not belong to an entity; its attributes and types are checked when it is
/// used with one.
public struct RecordPredicate: Sendable, Hashable {
    /// The text, as written.
    public let text: String
    /// The values of the `?` in it, in order.
    public let arguments: [JSONValue]
    package let node: PredicateNode

    /// Creates a predicate from a literal in the program.
    ///
    /// - Parameter text: the predicate. Its interpolations are values (`RecordPredicateValue`), which never become part of the text,
    ///   whatever they contain; an array may follow `in`.
    /// - Throws: `RecordPredicateError` with the position of the mistake, when the text is not a predicate.
    public init(_ text: Text) throws {
        try self.init(parsing: text.text, arguments: text.arguments)
    }

    /// - Parameter node: what `text` says with `arguments`.
    package init(_ text: String, _ arguments: [JSONValue], _ node: PredicateNode) {
        self.text = text
        self.arguments = arguments
        self.node = node
    }

    /// Parses a predicate from a text that is not in the program, such as one typed by a user.
    ///
    /// - Parameters:
    ///   - text: the predicate.
    ///   - arguments: the values of the `?` in it, in order; an array for a `?` after `in`. They never become part of the text, whatever
    ///     they contain.
    /// - Throws: `RecordPredicateError` with the position of the mistake, when the text is not a predicate.
    public init(parsing text: String, arguments: [JSONValue] = []) throws {
        node = try PredicateParser.parse(text, arguments: arguments)
        self.text = text
        self.arguments = arguments
    }

    /// True if text and values are the same.
    public static func == (one: RecordPredicate, other: RecordPredicate) -> Bool {
        BytewiseString(one.text) == BytewiseString(other.text)
            && one.arguments.elementsEqual(other.arguments) {
                BytewiseString($0.serialized()) == BytewiseString($1.serialized())
            }
    }

    /// Equal predicates have the same text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(BytewiseString(text))
    }
}
