/// Makes up records as JSON: people, and orders with what belongs to them.
struct MadeUpRecords {
    var random: SeededNumbers

    /// What a string may have in it: escapes, letters of other scripts, a surrogate pair, U+0000.
    private static let names = [
        "Ada", "Grace", "Edsger \\\"E. W.\\\"", "\\u00c9va\\n", "李", "\\ud83d\\ude00", "nul\\u0000", "a\\\\b\\/c",
        "Zoë",
    ]

    /// The model of people, where one is given.
    static let model = """
        {"entities": {"people": {"attributes": {
          "id": {"type": "integer64"}, "guid": {"type": "uuid"}, "name": {"type": "string"},
          "age": {"type": "integer16", "optional": true}, "score": {"type": "decimal", "optional": true},
          "active": {"type": "boolean", "optional": true}, "created": {"type": "date", "optional": true},
          "city": {"type": "string", "from": ["address.city"], "optional": true},
          "tags": {"type": "json", "optional": true}, "note": {"type": "string", "optional": true}
        }}}}
        """

    /// A person; what it lacks is not in it.
    mutating func person(_ id: Int) -> String {
        var text = "{\"id\": \(id), \"guid\": \"\(Self.guid(id))\", \"name\": \"\(name())\""
        if random.chance(90) { text += ", \"age\": \(random.number(0...99))" }
        if random.chance(80) { text += ", \"score\": \(random.number(-5_000...5_000)).\(random.number(0...99))" }
        if random.chance(50) { text += ", \"active\": \(random.chance(50))" }
        if random.chance(70) {
            text += ", \"created\": \"2024-0\(random.number(1...9))-1\(random.number(0...9))T10:11:12Z\""
        }
        if random.chance(60) {
            text += ", \"address\": {\"city\": \"\(name())\", \"zip\": \"0\(random.number(1_000...9_999))\"}"
        }
        if random.chance(40) { text += ", \"tags\": [\"\(name())\", \(random.number(0...9)), null]" }
        if random.chance(20) { text += ", \"note\": null" }
        if random.chance(5) {
            text += ", \"note\": \"" + String(repeating: "long ", count: random.number(1...200)) + "\""
        }
        return text + "}"
    }

    /// A person that the model does not accept, or that is not JSON.
    mutating func misfit(_ id: Int) -> String {
        switch random.number(0...2) {
        case 0: "{\"id\": \(id), \"name\": \"\(name())\"}"
        case 1: String(person(id).dropLast(random.number(1...9)))
        default: "{\"id\": \"x\(id)\", \"guid\": 1, \"name\": \"\(name())\", \"age\": 70000}"
        }
    }

    /// An order with a customer and lines in it.
    mutating func order(_ id: Int) -> String {
        let lines = (0..<random.number(0...5)).map { line in
            let taxes = (0..<random.number(0...2)).map { "{\"rate\": \($0 + random.number(1...20))}" }
            return
                "{\"sku\": \"s\(random.number(1...99))\", \"count\": \(line + 1), \"taxes\": [\(taxes.joined(separator: ", "))]}"
        }
        return """
            {"id": \(id), "customer": {"name": "\(name())", "since": \(random.number(1990...2025))}, \
            "lines": [\(lines.joined(separator: ", "))]}
            """
    }

    private mutating func name() -> String { random.one(of: Self.names) + " \(random.number(0...9_999))" }

    private static func guid(_ id: Int) -> String {
        let digits = String(id, radix: 16)
        return "3f2504e0-4f89-41d3-9a0c-" + String(repeating: "0", count: max(12 - digits.count, 0)) + digits
    }
}
