extension AttributePath: CustomStringConvertible, Codable {
    /// Reads a path: keys with dots between them (`name.full`), keys that are not plain names in brackets and quotes
    /// (`['a.b'].c`), `$key` or `$`.
    ///
    /// - Throws: `PathSyntaxError` if the text is anything else.
    public init(_ text: String) throws(PathSyntaxError) {
        var scanner = PathScanner(text)
        if scanner.take("$") {
            if scanner.isAtEnd {
                self = .record
                return
            }
            guard scanner.take("k"), scanner.take("e"), scanner.take("y"), scanner.isAtEnd else {
                throw scanner.error("after $ there may only be key; a key that begins with $ is written in ['…']")
            }
            self = .recordKey
            return
        }
        var keys: [String] = []
        repeat {
            if scanner.take("[") {
                keys.append(try scanner.bracketedKey())
            } else {
                guard keys.isEmpty || scanner.take(".") else { throw scanner.error("a step begins with . or [") }
                keys.append(try scanner.name())
            }
        } while !scanner.isAtEnd
        self.init(keys: keys)
    }

    /// The path as text, from which it can be read again.
    public var description: String {
        if isRecordKey { return "$key" }
        if keys.isEmpty { return "$" }
        var text = ""
        for key in keys {
            if PathScanner.isPlainName(key) {
                if !text.isEmpty { text += "." }
                text += key
            } else {
                PathScanner.appendBracketed(key, to: &text)
            }
        }
        return text
    }

    /// Reads the path's text.
    public init(from decoder: any Decoder) throws {
        self = try decoder.path("attribute path") { text throws(PathSyntaxError) in try AttributePath(text) }
    }

    /// Writes the path's text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
