import ImportModel

/// The members of a JSON object that is put together, in their order.
struct JSONMembers: Sendable {
    private var members: [JSONValue.Member] = []

    /// Adds a member; of one that is there already, another.
    subscript(key: String) -> JSONValue {
        get { members.last { $0.key == key }?.value ?? .null }
        set { members.append(JSONValue.Member(key: key, value: newValue)) }
    }

    /// Adds a member where its value is known.
    mutating func set(_ key: String, _ value: JSONValue?) {
        if let value { self[key] = value }
    }

    /// The object.
    var value: JSONValue { .object(members) }
}

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
