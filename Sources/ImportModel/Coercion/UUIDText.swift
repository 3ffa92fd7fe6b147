/// A UUID in one of the spellings of RFC 9562 §4: hexadecimal in either case, in braces, or as a URN.
struct UUIDText {
    /// The 36 characters with hyphens.
    private let digits: ByteView
    /// Whether the text is the canonical one already: lower case and nothing around it.
    let isCanonical: Bool

    /// Reads a UUID; nil if `text` is not one.
    init?(_ text: ByteView) {
        if Self.isCanonical(text) {
            digits = text
            isCanonical = true
            return
        }
        var digits = text
        if text.count == 38, text[0] == UInt8(ascii: "{"), text[37] == UInt8(ascii: "}") {
            digits = text[1..<37]
        } else if text.count == 45, Self.hasURNPrefix(text) {
            digits = text[9..<45]
        }
        guard digits.count == 36 else { return nil }
        var hasUpperCase = false
        for index in 0..<36 {
            let byte = digits[index]
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
            } else {
                guard hexadecimalDigit(byte) != nil else { return nil }
                hasUpperCase = hasUpperCase || byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "F")
            }
        }
        self.digits = digits
        isCanonical = text.count == 36 && !hasUpperCase
    }

    /// Whether these are the 36 characters in lower case, which most are: eight digits are looked at at a time.
    private static func isCanonical(_ text: ByteView) -> Bool {
        guard text.count == 36 else { return false }
        let bytes = UnsafeRawPointer(text.base)
        func four(_ offset: Int) -> UInt64 {
            UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        // The digits between the hyphens at 8, 13, 18 and 23.
        let words = (
            four(0) | four(4) << 32, four(9) | four(14) << 32, four(19) | four(24) << 32, four(28) | four(32) << 32
        )
        let hyphens = (text[8] ^ 0x2D) | (text[13] ^ 0x2D) | (text[18] ^ 0x2D) | (text[23] ^ 0x2D)
        let areDigits =
            lowercaseDigits(words.0) & lowercaseDigits(words.1) & lowercaseDigits(words.2) & lowercaseDigits(words.3)
        return hyphens == 0 && areDigits == highBits
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// The high bit of each byte that is a hexadecimal digit in lower case.
    @inline(__always)
    private static func lowercaseDigits(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low = word & ~highBits
        // The high bit of each byte that is at least `least`: the sums do not reach the next byte.
        func atLeast(_ least: UInt64) -> UInt64 { low &+ ones &* (0x80 &- least) }
        let digits = atLeast(0x30) & ~atLeast(0x3A) | atLeast(0x61) & ~atLeast(0x67)
        return digits & ~word & highBits
    }

    private static func hasURNPrefix(_ text: ByteView) -> Bool {
        var index = 0
        for expected in "urn:uuid:".utf8 {
            let byte = text[index]
            // Letters fold to lower case; a colon has this bit already.
            guard byte == expected || byte | 0x20 == expected && expected != UInt8(ascii: ":") else { return false }
            index += 1
        }
        return true
    }

    /// Appends the 36 characters in lower case.
    func append(to output: inout [UInt8]) {
        for byte in digits.buffer {
            // Digits and hyphens have this bit already.
            output.append(byte | 0x20)
        }
    }
}

/// Whether `text` is a UUID as the store keeps it: 36 characters, lower case.
package func isLowercaseUUID(_ text: ByteView) -> Bool {
    text.count == 36 && UUIDText(text)?.isCanonical == true
}
