/// Walks the members of an object of JSON, which may have comments, without decoding anything.
struct JSONMembers {
    private let bytes: ByteView
    private var index = 1

    /// - Parameter object: from the opening to the closing brace.
    init(_ object: ByteView) {
        bytes = object
    }

    /// The next member: what is between its key's quotes, escapes and all, and its value.
    mutating func next() -> (key: ByteView, value: JSONToken)? {
        skip(",")
        guard index < bytes.count, bytes[index] == UInt8(ascii: "\"") else { return nil }
        let keyEnd = JSONSyntax.endOfString(in: bytes, at: index)
        let key = bytes[min(index + 1, keyEnd - 1)..<keyEnd - 1]
        index = keyEnd
        skip(":")
        guard index < bytes.count else { return nil }
        let start = index
        switch bytes[start] {
        case UInt8(ascii: "\""):
            index = JSONSyntax.endOfString(in: bytes, at: start)
            let text = bytes[min(start + 1, index - 1)..<index - 1]
            let hasEscapes = text.buffer.contains(UInt8(ascii: "\\"))
            return (key, JSONToken(kind: .string, bytes: text, hasEscapes: hasEscapes))
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let kind: JSONKind = bytes[start] == UInt8(ascii: "{") ? .object : .array
            index = endOfContainer(at: start)
            return (key, JSONToken(kind: kind, bytes: bytes[start..<index]))
        default:
            while index < bytes.count, !Self.endsScalar(bytes[index]) { index += 1 }
            let kind: JSONKind =
                switch bytes[start] {
                case UInt8(ascii: "n"): .null
                case UInt8(ascii: "t"), UInt8(ascii: "f"): .boolean
                default: .number
                }
            return (key, JSONToken(kind: kind, bytes: bytes[start..<index]))
        }
    }

    /// Passes over white space, comments and one kind of punctuation.
    private mutating func skip(_ mark: Unicode.Scalar) {
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "/") {
                index = JSONSyntax.endOfComment(in: bytes, at: index)
            } else if bytes[index] <= 0x20 || bytes[index] == UInt8(ascii: mark) {
                index += 1
            } else {
                return
            }
        }
    }

    private func endOfContainer(at start: Int) -> Int {
        var depth = 0
        var index = start
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                index = JSONSyntax.endOfString(in: bytes, at: index)
                continue
            case UInt8(ascii: "/"):
                index = JSONSyntax.endOfComment(in: bytes, at: index)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return index + 1 }
            default: break
            }
            index += 1
        }
        return bytes.count
    }

    private static func endsScalar(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "}")
            || byte == UInt8(ascii: "]")
    }
}
