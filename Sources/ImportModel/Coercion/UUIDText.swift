/// A UUID in one of the spellings of RFC 9562 §4: hexadecimal in either case, in braces, or as a URN.
struct UUIDText {
    /// The 36 characters with hyphens.
    private let digits: ByteView
    /// True if the text is the canonical one already: lower case and nothing around it.
    let isCanonical: Bool

    /// Reads a UUID; nil if `text` is not one.
    init?(_ text: ByteView) {
        var digits = text
        if text.count == 38, text[0] == UInt8(ascii: "{"), text[37] == UInt8(ascii: "}") {
            digits = text[1..<37]
        } else if text.count == 45, Self.hasURNPrefix(text) {
            digits = text[9..<45]
        }
        guard digits.count == 36 else { return nil }
        // Eight of the digits between the hyphens at a time.
        let bytes = UnsafeRawPointer(digits.base)
        func four(_ offset: Int) -> UInt64 {
            UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        let words = (
            four(0) | four(4) << 32, four(9) | four(14) << 32, four(19) | four(24) << 32, four(28) | four(32) << 32
        )
        let hyphens = (digits[8] ^ 0x2D) | (digits[13] ^ 0x2D) | (digits[18] ^ 0x2D) | (digits[23] ^ 0x2D)
        let areDigits =
            Self.hexadecimalDigits(words.0) & Self.hexadecimalDigits(words.1)
            & Self.hexadecimalDigits(words.2) & Self.hexadecimalDigits(words.3)
        guard hyphens == 0, areDigits == Self.highBits else { return nil }
        self.digits = digits
        // Of hexadecimal digits, capitals alone lack this bit.
        let areLowercase = words.0 & words.1 & words.2 & words.3 & Self.caseBits == Self.caseBits
        isCanonical = text.count == 36 && areLowercase
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080
    /// What letters in lower case have and capitals have not.
    private static let caseBits: UInt64 = 0x2020_2020_2020_2020

    /// The high bit of each byte that is a hexadecimal digit in either case.
    @inline(__always)
    private static func hexadecimalDigits(_ word: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let low = (word | caseBits) & ~highBits
        // The high bit of each byte that is at least `least`: the sums do not reach the next byte.
        func atLeast(_ least: UInt64) -> UInt64 { low &+ ones &* (0x80 &- least) }
        let digits = atLeast(0x30) & ~atLeast(0x3A) | atLeast(0x61) & ~atLeast(0x67)
        // Digits have the bit 0x20, capitals 0x40, and letters in lower case both; control characters, which `caseBits`
        // turns into digits, have neither.
        return digits & (word << 1 | word << 2) & ~word & highBits
    }

    /// True if `text` is the 32 digits alone, and says of itself that it is a UUID: by its version and variant (RFC 9562, §4), which
    /// seven of eight other numbers do not have.
    static func isUndashed(_ text: ByteView) -> Bool {
        guard text.count == 32, text.buffer.allSatisfy({ hexadecimalDigit($0) != nil }) else { return false }
        let (version, variant) = (hexadecimalDigit(text[12]) ?? 0, hexadecimalDigit(text[16]) ?? 0)
        return 1...8 ~= version && 8...11 ~= variant
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

    /// Appends the 16 bytes that it represents.
    func appendBytes(to output: inout [UInt8]) {
        var high: UInt8?
        for byte in digits.buffer where byte != UInt8(ascii: "-") {
            let digit = byte & 0xF + (byte > UInt8(ascii: "9") ? 9 : 0)
            if let first = high { output.append(first << 4 | digit) }
            high = high == nil ? digit : nil
        }
    }

    /// Appends the 36 characters in lower case.
    func append(to output: inout [UInt8]) {
        let start = output.count
        output.append(contentsOf: digits.buffer)
        output.withUnsafeMutableBufferPointer { output in
            // Digits and hyphens have this bit already.
            for index in start..<output.count { output[index] |= 0x20 }
        }
    }
}

/// True if `text` is a UUID as the store keeps it: 36 characters, lower case.
package func isLowercaseUUID(_ text: ByteView) -> Bool {
    UUIDText(text)?.isCanonical == true
}
