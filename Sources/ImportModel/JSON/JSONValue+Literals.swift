extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// A number.
    public init(integerLiteral value: Int64) { self = .number(String(value)) }

    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension JSONValue: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

    /// An object with the members in this order.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }

    /// An object with the members in this order.
    package init(_ members: [(String, JSONValue)]) { self = .object(members.map { Member(key: $0.0, value: $0.1) }) }

    /// An array of strings.
    package static func strings(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }
}
