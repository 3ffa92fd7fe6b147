extension JSONValue {
    /// The layout of a value as text.
    public enum Layout: Sendable {
        /// Without any white space.
        case compact
        /// Two spaces for each level. A short container with at most lists of scalars in it is on one line.
        case indented
    }

    /// The value as JSON text, with members in their order and numbers as written; equal values have the same text.
    ///
    /// Control characters, invisible characters and marks of writing direction are escaped; all others are written as they are. A
    /// `number` must contain a JSON number, which is written as it is.
    public func serialized(_ layout: Layout = .compact) -> String {
        var writer = JSONWriter()
        switch layout {
        case .compact: writer.appendOnOneLine(self, separator: ",", colon: ":", brace: "")
        case .indented: writer.appendIndented(self, level: 0)
        }
        return writer.text
    }
}

/// Writes JSON.
private struct JSONWriter {
    private(set) var text = ""

    /// The longest container that an indented layout puts on one line, in bytes.
    private static let longestLine = 100

    mutating func appendOnOneLine(_ value: JSONValue, separator: String, colon: String, brace: String) {
        switch value {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let string): text.appendJSON(string)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += separator }
                appendOnOneLine(element, separator: separator, colon: colon, brace: brace)
            }
            text += "]"
        case .object(let members):
            text += "{"
            if !members.isEmpty { text += brace }
            for (index, member) in members.enumerated() {
                if index > 0 { text += separator }
                text.appendJSON(member.key)
                text += colon
                appendOnOneLine(member.value, separator: separator, colon: colon, brace: brace)
            }
            if !members.isEmpty { text += brace }
            text += "}"
        }
    }

    mutating func appendIndented(_ value: JSONValue, level: Int) {
        if isFlat(value) {
            var line = JSONWriter()
            line.appendOnOneLine(value, separator: ", ", colon: ": ", brace: " ")
            if !value.hasContents || line.text.utf8.count <= Self.longestLine {
                text += line.text
                return
            }
        }
        switch value {
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                breakLine(after: index, level: level + 1)
                appendIndented(element, level: level + 1)
            }
            breakLine(after: 0, level: level)
            text += "]"
        case .object(let members):
            text += "{"
            for (index, member) in members.enumerated() {
                breakLine(after: index, level: level + 1)
                text.appendJSON(member.key)
                text += ": "
                appendIndented(member.value, level: level + 1)
            }
            breakLine(after: 0, level: level)
            text += "}"
        default:
            break
        }
    }

    private mutating func breakLine(after index: Int, level: Int) {
        text += index > 0 ? ",\n" : "\n"
        for _ in 0..<level { text += "  " }
    }

    /// True if a value is plain, a list of plain values, or an object of these.
    private func isFlat(_ value: JSONValue) -> Bool {
        switch value {
        case .object(let members):
            members.allSatisfy { member in
                if case .array(let elements) = member.value { return elements.allSatisfy { !$0.hasContents } }
                return !member.value.hasContents
            }
        case .array(let elements): elements.allSatisfy { !$0.hasContents }
        default: true
        }
    }
}

extension JSONValue {
    /// True if the value is an object or array that is not empty.
    fileprivate var hasContents: Bool {
        switch self {
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        default: false
        }
    }
}
