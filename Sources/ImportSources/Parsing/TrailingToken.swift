import ImportModel

/// What is between the last token that yajl has reported and the place up to which it was fed: white space, perhaps a
/// comma or colon, perhaps the beginning of a token.
package struct TrailingToken {
    /// What kind of token has begun.
    package enum Kind {
        case string
        case number
        case literal
    }

    /// Where the comma or colon is, as an offset in the source; -1 if there is none.
    package private(set) var separator: Int64 = -1
    /// Where the token that has begun begins, as an offset in the source; -1 if there is none.
    package private(set) var start: Int64 = -1
    /// Its kind, if it has begun.
    package private(set) var kind = Kind.literal
    /// In a string: how many more bytes an escape at the end asks for; after a backslash 1.
    private(set) var escapeRest = 0
    /// True if the last token that ended was a key, a scalar or a closing bracket, and no separator follows it.
    private var isBehindValue = false
    private var isAfterBackslash = false
    /// In a number: what its last byte was.
    private var numberPart = NumberPart.sign
    /// In a literal: how many bytes are missing.
    private var wordRest = 0

    /// The parts of a number (RFC 8259 §6).
    private enum NumberPart {
        case sign
        case zero
        case integer
        case point
        case fraction
        case exponent
        case exponentSign
        case exponentDigits

        /// The part that `byte` belongs to if it comes next; nil if the number ends before it.
        func next(_ byte: UInt8) -> NumberPart? {
            switch (self, byte) {
            case (.sign, UInt8(ascii: "0")): .zero
            case (.sign, UInt8(ascii: "1")...UInt8(ascii: "9")): .integer
            case (.integer, UInt8(ascii: "0")...UInt8(ascii: "9")): .integer
            case (.zero, UInt8(ascii: ".")), (.integer, UInt8(ascii: ".")): .point
            case (.point, UInt8(ascii: "0")...UInt8(ascii: "9")), (.fraction, UInt8(ascii: "0")...UInt8(ascii: "9")):
                .fraction
            case (.zero, UInt8(ascii: "e")), (.integer, UInt8(ascii: "e")), (.fraction, UInt8(ascii: "e")),
                (.zero, UInt8(ascii: "E")), (.integer, UInt8(ascii: "E")), (.fraction, UInt8(ascii: "E")):
                .exponent
            case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): .exponentSign
            case (.exponent, UInt8(ascii: "0")...UInt8(ascii: "9")),
                (.exponentSign, UInt8(ascii: "0")...UInt8(ascii: "9")),
                (.exponentDigits, UInt8(ascii: "0")...UInt8(ascii: "9")):
                .exponentDigits
            default: nil
            }
        }

        /// True if any number of digits may follow.
        var takesDigits: Bool { self == .integer || self == .fraction || self == .exponentDigits }
    }

    /// Nothing yet.
    ///
    /// - Parameter isBehindValue: whether the last token was a key, a scalar or a closing bracket.
    package init(isBehindValue: Bool = false) {
        self.isBehindValue = isBehindValue
    }

    /// Continues over the bytes from `from` to `count`, past keys and scalars, to what is at the end.
    ///
    /// - Parameters:
    ///   - bytes: where they are; yajl has found nothing wrong with them, or only with their last token.
    ///   - from: the first one to look at.
    ///   - count: how many there are.
    ///   - base: the offset of `bytes` in the source.
    ///   - limit: where yajl has found a token that may not be there: one that does not end before it, or has no
    ///     separator before it, is that one.
    /// - Returns: just past the last token that ends here, counted like `from`; -1 if none does.
    package mutating func advance(
        over bytes: UnsafePointer<UInt8>,
        from: Int,
        to count: Int,
        base: Int64,
        before limit: Int = .max
    ) -> Int {
        var index = from
        var last = -1
        while index < count {
            let byte = bytes[index]
            if start >= 0 {
                if limit != .max, isBehindValue { return last }
                guard let end = end(in: bytes, from: index, to: count), end < limit else { return last }
                self = TrailingToken(isBehindValue: true)
                index = end
                last = end
            } else if ByteScan.isSpace(byte) {
                index += 1
            } else if byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":") {
                separator = base + Int64(index)
                isBehindValue = false
                index += 1
            } else {
                if limit != .max, isBehindValue { return last }
                begin(with: byte, at: base + Int64(index))
                index += 1
            }
        }
        return last
    }

    private mutating func begin(with byte: UInt8, at offset: Int64) {
        start = offset
        switch byte {
        case UInt8(ascii: "\""): kind = .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            kind = .number
            numberPart = NumberPart.sign.next(byte) ?? .sign
        case UInt8(ascii: "t"), UInt8(ascii: "n"): wordRest = 3
        case UInt8(ascii: "f"): wordRest = 4
        // A bracket, or what can begin nothing: only the token that may not be there.
        default: wordRest = .max
        }
    }

    /// Goes on in the token that has begun.
    ///
    /// - Returns: just past its end; nil if it continues.
    private mutating func end(in bytes: UnsafePointer<UInt8>, from: Int, to count: Int) -> Int? {
        var index = from
        switch kind {
        case .literal:
            let step = min(wordRest, count - index)
            wordRest -= step
            return wordRest == 0 ? index + step : nil
        case .number:
            while index < count {
                guard let part = numberPart.next(bytes[index]) else { return index }
                numberPart = part
                index += 1
            }
            return nil
        case .string:
            while index < count {
                if isAfterBackslash {
                    isAfterBackslash = false
                    escapeRest = bytes[index] == UInt8(ascii: "u") ? 4 : 0
                } else if escapeRest > 0 {
                    escapeRest -= 1
                } else if bytes[index] == UInt8(ascii: "\"") {
                    return index + 1
                } else if bytes[index] == UInt8(ascii: "\\") {
                    isAfterBackslash = true
                    escapeRest = 1
                }
                index += 1
            }
            return nil
        }
    }

    @inline(__always)
    package static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// How many bytes of a long token's inside yajl need not see.
    ///
    /// yajl keeps a token that continues in another block, and looks at all of it again with each block; so it is not told
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
            guard numberPart.takesDigits else { return 0 }
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
                            (index + 2..<index + 6).allSatisfy({ hexadecimalDigit(bytes[$0]) != nil })
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
}
