/// A UUID in one of the spellings of RFC 9562 §4: hexadecimal in either case, in braces, or as a URN.
struct UUIDText {
    /// The 36 characters with hyphens.
    private let digits: ByteView
    /// Whether the text is the canonical one already: lower case and nothing around it.
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
