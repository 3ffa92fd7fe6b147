extension Unicode.Scalar {
    /// True if the character is a control character, shows nothing, or turns the direction of writing.
    ///
    /// Where a person reads it, it could hide what is there, or give orders to a terminal. The list is fixed, so that
    /// what is written does not depend on the version of Unicode.
    var isInvisible: Bool {
        switch value {
        case 0...0x1F, 0x7F...0x9F, 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
            0xFE00...0xFE0F,
            0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE0FFF:
            true
        default: false
        }
    }

    /// The same, or white space of any width.
    var isSpaceOrInvisible: Bool {
        switch value {
        case 0x20, 0xA0, 0x1680, 0x2000...0x200A, 0x202F, 0x205F, 0x3000: true
        default: isInvisible
        }
    }

    /// Appends the character as JSON's `\uXXXX`, as a surrogate pair if it needs one.
    package func appendEscape(to text: inout String) {
        for unit in String(self).utf16 {
            let digits = String(unit, radix: 16)
            text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
}
