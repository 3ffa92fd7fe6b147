import ImportModel
import ImportSources

/// What must hold for a record (after `NSPredicate`): `age > 30 and city = 'Oslo'`.
///
/// ```swift
/// let (minimum, cities) = (18, ["Oslo", "Bergen"])
/// let written = try RecordPredicate("age > \(minimum) and city in \(cities)")
/// let built = RecordPredicate.attribute("age") > minimum && RecordPredicate.attribute("city").isIn(cities)
/// let typed = try RecordPredicate(parsing: "age > ? and city = 'Oslo'", arguments: [18])
/// ```
///
/// <doc:Fetching> describes the language. A predicate knows no entity; its attributes and types are looked at when it is used
/// with one.
public struct RecordPredicate: Sendable, Hashable {
    /// The text, as written.
    public let text: String
    /// The values of the `?` in it, in order.
    public let arguments: [JSONValue]
    package let node: PredicateNode

    /// Reads a predicate that is written in the program.
    ///
    /// - Parameter text: the predicate. Its interpolations are values (`RecordPredicateValue`), and never become a part of it,
    ///   whatever they hold; an array is one after `in`.
    /// - Throws: `RecordPredicateError` with the position of the mistake, where it is none.
    public init(_ text: Text) throws {
        try self.init(parsing: text.text, arguments: text.arguments)
    }

    /// - Parameter node: what `text` says with `arguments`.
    package init(_ text: String, _ arguments: [JSONValue], _ node: PredicateNode) {
        self.text = text
        self.arguments = arguments
        self.node = node
    }

    /// Reads a predicate that is not written in the program, as one that somebody has typed.
    ///
    /// - Parameters:
    ///   - text: the predicate.
    ///   - arguments: the values of the `?` in it, in order; an array for one after `in`. They are never a part of the
    ///     predicate, whatever they hold.
    /// - Throws: `RecordPredicateError` with the position of the mistake, where it is none.
    public init(parsing text: String, arguments: [JSONValue] = []) throws {
        node = try PredicateParser.parse(text, arguments: arguments)
        self.text = text
        self.arguments = arguments
    }

    /// Whether text and values are the same.
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
