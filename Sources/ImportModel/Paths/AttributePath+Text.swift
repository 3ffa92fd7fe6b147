extension AttributePath: CustomStringConvertible, Codable {
    /// Parses a path: keys separated by dots (`name.full`), keys that are not plain names in brackets and quotes (`['a.b'].c`), `$key`,
    /// `$key[1]` or `$`; in nested objects also `@value`, `@index`, `@key` or `@parent.name`.
    ///
    /// - Throws: `PathSyntaxError` if the text is anything else.
    public init(_ text: String) throws(PathSyntaxError) {
        var scanner = PathScanner(text)
        if scanner.take("$") {
            if scanner.isAtEnd {
                self = .record
                return
            }
            guard scanner.take("k"), scanner.take("e"), scanner.take("y"), let level = scanner.keyLevel() else {
                throw scanner.error(
                    "after $ there may only be key or key[1], key[2] …; a key that begins with $ is written in ['…']"
                )
            }
            self = .recordKey(outwards: level)
            return
        }
        if scanner.take("@") {
            self = try Self.nested(&scanner)
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

    /// What follows an `@`.
    private static func nested(_ scanner: inout PathScanner) throws(PathSyntaxError) -> AttributePath {
        let name = try scanner.name()
        if name.hasSameBytes(as: "parent") {
            guard !scanner.isAtEnd else { throw scanner.error("an attribute's name is missing, as in @parent.id") }
            let attribute: String
            if scanner.take("[") {
                attribute = try scanner.bracketedKey()
            } else {
                guard scanner.take(".") else { throw scanner.error("a step begins with . or [") }
                attribute = try scanner.name()
            }
            guard scanner.isAtEnd else { throw scanner.error("an attribute of the parent has no parts") }
            return .parent(attribute: attribute)
        }
        let known: [(String, AttributePath)] = [("value", .element), ("index", .index), ("key", .recordKey)]
        guard scanner.isAtEnd, let path = known.first(where: { name.hasSameBytes(as: $0.0) })?.1 else {
            throw scanner.error(
                "after @ there may be value, index, key or parent.name; a key that begins with @ is written in ['…']"
            )
        }
        return path
    }

    /// The path as text, which can be parsed again.
    public var description: String {
        switch origin {
        case .key(let level): return level == 0 ? "$key" : "$key[\(level)]"
        case .element: return "@value"
        case .index: return "@index"
        case .parent(let attribute):
            if PathScanner.isPlainName(attribute) { return "@parent.\(attribute)" }
            var text = "@parent"
            PathScanner.appendBracketed(attribute, to: &text)
            return text
        case .value: break
        }
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

    /// Decodes the path from its text.
    public init(from decoder: any Decoder) throws {
        self = try decoder.path("attribute path") { text throws(PathSyntaxError) in try AttributePath(text) }
    }

    /// Encodes the path as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
