/// What stands between the last token that yajl has reported and the place up to which it was fed: white space, perhaps a
/// comma or colon, perhaps the beginning of a token.
struct TokenTail {
    /// What kind of token has begun.
    enum Kind {
        case string
        case number
        case literal
    }

    /// Where the comma or colon stands, as an offset in the source; -1 if there is none.
    private(set) var separator: Int64 = -1
    /// Where the token that has begun begins, as an offset in the source; -1 if there is none.
    private(set) var start: Int64 = -1
    /// Its kind, if it has begun.
    private(set) var kind = Kind.literal
    /// In a string: how many more bytes an escape at the end asks for; after a backslash 1.
    private(set) var escapeRest = 0
    /// In a number: whether its last byte was a digit.
    private(set) var endsWithDigit = false
    private var isAfterBackslash = false

    /// Goes on over the bytes from `from` to `count`.
    ///
    /// - Parameters:
    ///   - bytes: where they are.
    ///   - from: the first one to look at.
    ///   - count: how many there are.
    ///   - base: the offset of `bytes` in the source.
    mutating func advance(over bytes: UnsafePointer<UInt8>, from: Int, to count: Int, base: Int64) {
        var index = from
        while start < 0 {
            guard index < count else { return }
            let byte = bytes[index]
            if ByteScan.isSpace(byte) {
                // Between tokens.
            } else if byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") {
                separator = base + Int64(index)
            } else {
                start = base + Int64(index)
                escapeRest = 0
                isAfterBackslash = false
                switch byte {
                case UInt8(ascii: "\""): kind = .string
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    kind = .number
                    endsWithDigit = byte != UInt8(ascii: "-")
                default: kind = .literal
                }
            }
            index += 1
        }
        guard index < count else { return }
        switch kind {
        case .string: advanceString(over: bytes, from: index, to: count)
        case .number: endsWithDigit = Self.isDigit(bytes[count - 1])
        case .literal: break
        }
    }

    private mutating func advanceString(over bytes: UnsafePointer<UInt8>, from: Int, to count: Int) {
        var index = from
        while index < count {
            if isAfterBackslash {
                isAfterBackslash = false
                escapeRest = bytes[index] == UInt8(ascii: "u") ? 4 : 0
                index += 1
            } else if escapeRest > 0 {
                escapeRest -= 1
                index += 1
            } else {
                while index < count, bytes[index] != UInt8(ascii: "\\") { index += 1 }
                if index < count {
                    isAfterBackslash = true
                    escapeRest = 1
                    index += 1
                }
            }
        }
    }

    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// How many bytes of a long token's inside yajl need not see.
    ///
    /// yajl keeps a token that goes on in another block, and looks at all of it again with each block; so it is not told
    /// of what cannot change how the token ends. Sound escapes are passed over, whatever else than plain text comes is
    /// left to yajl.
    ///
    /// - Parameters:
    ///   - bytes: what comes next; the token has begun before it.
    ///   - count: how many they are.
    /// - Returns: how many of them, from the first.
    func dispensable(in bytes: UnsafePointer<UInt8>, _ count: Int) -> Int {
        var index = 0
        switch kind {
        case .literal:
            return 0
        case .number:
            guard endsWithDigit else { return 0 }
            while index < count, Self.isDigit(bytes[index]) { index += 1 }
            return index
        case .string:
            guard escapeRest == 0 else { return 0 }
            while index < count {
                let byte = bytes[index]
                if byte == UInt8(ascii: "\\") {
                    guard index + 1 < count else { return index }
                    switch bytes[index + 1] {
                    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
                        UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
                        index += 2
                    default:
                        guard bytes[index + 1] == UInt8(ascii: "u"), index + 6 <= count,
                            (index + 2..<index + 6).allSatisfy({ Self.isHexDigit(bytes[$0]) })
                        else { return index }
                        index += 6
                    }
                } else if byte == UInt8(ascii: "\"") || byte < 0x20 {
                    return index
                } else {
                    index += 1
                }
            }
            return index
        }
    }

    @inline(__always)
    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20 >= UInt8(ascii: "a") && byte | 0x20 <= UInt8(ascii: "f"))
    }
}
