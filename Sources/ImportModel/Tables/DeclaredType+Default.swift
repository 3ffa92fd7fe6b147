extension DeclaredType {
    /// The value of a default that is a number, a text in single quotes, or NULL; nil for all else.
    package static func literal(_ text: String) -> JSONValue? {
        if text.asciiLowercased == "null" { return .null }
        if text.count > 1, text.hasPrefix("'"), text.hasSuffix("'") {
            let inner = text.dropFirst().dropLast()
            // A quote in it is doubled; anything else is an expression.
            guard !inner.replacing("''", with: "").contains("'") else { return nil }
            return .string(String(inner).replacing("''", with: "'"))
        }
        guard let value = try? JSONValue(parsing: Array(text.utf8)), case .number = value else { return nil }
        return value
    }
}
