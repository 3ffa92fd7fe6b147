extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Creates a number.
    public init(integerLiteral value: Int64) { self = .number(String(value)) }

    /// Creates a boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// Creates an object with the members in the given order.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }

    /// Creates an object with the members in the given order.
    package init(_ members: [(String, JSONValue)]) { self = .object(members.map { Member(key: $0.0, value: $0.1) }) }

    /// An array of strings.
    package static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}
