extension RecordPath: CustomStringConvertible, Codable {
    /// Parses a path: `$`, and after it any of `[*]`, `.*`, `.name`, `['any key']` and `["any key"]`.
    ///
    /// - Throws: `PathSyntaxError` if the text is anything else.
    public init(_ text: String) throws(PathSyntaxError) {
        var scanner = PathScanner(text)
        guard scanner.take("$") else { throw scanner.error("a record path begins with $") }
        var steps: [Step] = []
        while !scanner.isAtEnd {
            if scanner.take(".") {
                steps.append(scanner.take("*") ? .anyMember : .key(try scanner.name()))
            } else if scanner.take("[") {
                guard scanner.take("*") else {
                    steps.append(.key(try scanner.bracketedKey()))
                    continue
                }
                guard scanner.take("]") else { throw scanner.error("] is missing") }
                steps.append(.anyElement)
            } else {
                throw scanner.error("a step begins with . or [")
            }
        }
        self.init(steps: steps)
    }

    /// The path as text, which can be parsed again.
    ///
    /// Keys that are not plain names are in `['…']`.
    public var description: String {
        var text = "$"
        for step in steps {
            switch step {
            case .anyElement: text += "[*]"
            case .anyMember: text += ".*"
            case .key(let key):
                if PathScanner.isPlainName(key) {
                    text += "." + key
                } else {
                    PathScanner.appendBracketed(key, to: &text)
                }
            }
        }
        return text
    }

    /// Decodes the path from its text.
    public init(from decoder: any Decoder) throws {
        self = try decoder.path("record path") { text throws(PathSyntaxError) in try RecordPath(text) }
    }

    /// Encodes the path as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
