import ImportModel

extension JSONValue {
    /// A whole number; a text where JavaScript would round it.
    static func integer(_ number: Int64) -> JSONValue {
        number.magnitude < 1 << 53 ? .number(String(number)) : .string(String(number))
    }

    /// A number with a fraction; a text where JSON has no such number.
    static func double(_ number: Double) -> JSONValue {
        guard number.isFinite else { return .string("\(number)") }
        return .number("\(number)")
    }
}
