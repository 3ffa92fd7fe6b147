extension JSONValue {
    /// How many containers may be inside each other.
    static let maxDepth = 512

    /// Parses one JSON document (RFC 8259), strictly.
    ///
    /// Members keep their order, and members with repeated keys are all kept. A byte order mark at the beginning is skipped.
    ///
    /// - Parameter bytes: the document in UTF-8, nested at most 512 deep.
    /// - Throws: `JSONSyntaxError` if it is anything else, also for half a surrogate pair, which is not text.
    public init(parsing bytes: [UInt8]) throws(JSONSyntaxError) {
        self = try bytes.withUnsafeBufferPointer { buffer throws(JSONSyntaxError) in
            var reader = JSONReader(ByteView(buffer))
            return try reader.document()
        }
    }
}

/// Reads a JSON document by recursive descent.
private struct JSONReader {
    private let bytes: ByteView
    private var index = 0
    private var depth = 0

    init(_ bytes: ByteView) {
        self.bytes = bytes
    }

    mutating func document() throws(JSONSyntaxError) -> JSONValue {
        if let offset = UTF8Validation.firstInvalid(in: bytes) { throw error("bytes that are not UTF-8", at: offset) }
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { index = 3 }
        skipWhiteSpace()
        let value = try value()
        skipWhiteSpace()
        guard index == bytes.count else { throw error("unexpected text after the value") }
        return value
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private func error(_ reason: String, at offset: Int? = nil) -> JSONSyntaxError {
        JSONSyntaxError(reason, at: offset ?? index, in: bytes)
    }

    private mutating func skipWhiteSpace() {
        while let byte = next, JSONSyntax.isWhiteSpace(byte) { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func value() throws(JSONSyntaxError) -> JSONValue {
        switch next ?? 0 {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw error("a value is missing")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONSyntaxError) -> JSONValue {
        for offset in 0..<word.utf8CodeUnitCount {
            guard take(word.utf8Start[offset]) else { throw error("a value is missing") }
        }
        return value
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONValue {
        let start = index
        index = JSONSyntax.endOfNumber(in: bytes, at: start)
        guard JSONNumber(bytes[start..<index]) != nil else { throw error("a number that is not JSON's", at: start) }
        return .number(String(decoding: bytes[start..<index].buffer, as: UTF8.self))
    }

    private mutating func string() throws(JSONSyntaxError) -> String {
        let start = index + 1
        index = start
        var hasEscapes = false
        while true {
            switch next {
            case nil: throw error("the closing quote is missing")
            case UInt8(ascii: "\""):
                let token = JSONToken(kind: .string, bytes: bytes[start..<index], hasEscapes: hasEscapes)
                index += 1
                if hasEscapes, let offset = JSONUnescaper.firstLoneSurrogate(in: token.bytes) {
                    throw error("half of a surrogate pair", at: start + offset)
                }
                return token.text
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try skipEscape()
            case .some(let byte):
                guard byte >= 0x20 else { throw error("a control character in a string") }
                index += 1
            }
        }
    }

    private mutating func skipEscape() throws(JSONSyntaxError) {
        guard index + 1 < bytes.count else { throw error("the closing quote is missing", at: bytes.count) }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            index += 2
        case UInt8(ascii: "u"):
            guard JSONUnescaper.codeUnit(in: bytes, at: index) != nil else {
                throw error("\\u needs four hexadecimal digits")
            }
            index += 6
        default: throw error("an unknown escape")
        }
    }

    private mutating func open() throws(JSONSyntaxError) {
        guard depth < JSONValue.maxDepth else { throw error("nested more than \(JSONValue.maxDepth) deep") }
        depth += 1
        index += 1
        skipWhiteSpace()
    }

    private mutating func array() throws(JSONSyntaxError) -> JSONValue {
        try open()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        while true {
            elements.append(try value())
            skipWhiteSpace()
            if take(UInt8(ascii: "]")) { return .array(elements) }
            guard take(UInt8(ascii: ",")) else { throw error("a comma or ] is missing") }
            skipWhiteSpace()
        }
    }

    private mutating func object() throws(JSONSyntaxError) -> JSONValue {
        try open()
        defer { depth -= 1 }
        var members: [JSONValue.Member] = []
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            guard next == UInt8(ascii: "\"") else { throw error("a key in quotes is missing") }
            let key = try string()
            skipWhiteSpace()
            guard take(UInt8(ascii: ":")) else { throw error("a colon is missing") }
            skipWhiteSpace()
            members.append(JSONValue.Member(key: key, value: try value()))
            skipWhiteSpace()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw error("a comma or } is missing") }
            skipWhiteSpace()
        }
    }
}
