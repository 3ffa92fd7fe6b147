extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// A number.
    public init(integerLiteral value: Int64) { self = .number(String(value)) }

    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}
