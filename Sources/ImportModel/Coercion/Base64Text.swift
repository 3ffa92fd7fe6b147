/// Bytes as text (RFC 4648): base64 (§4) and base64url (§5).
enum Base64Text {
    /// Which characters stand for 62 and 63.
    enum Alphabet: String, Sendable, CaseIterable {
        /// `+` and `/`; padding is required.
        case base64
        /// `-` and `_`; padding may be left out.
        case base64url
        /// Either, but not both in one text; padding is required where `+` or `/` occur.
        case either

        /// The names that a model may give.
        static let names = [base64.rawValue, base64url.rawValue]
    }

    /// Appends the bytes that `text` stands for.
    ///
    /// White space within is passed over and noted.
    ///
    /// - Returns: where they are in `output`; nil if `text` is anything else, also where the last character has bits that
    ///   stand for nothing. `output` may then be longer than before.
    static func decode(
        _ text: ByteView,
        _ alphabet: Alphabet,
        to output: inout [UInt8],
        notes: inout CoercionNotes
    ) -> Range<Int>? {
        let start = output.count
        var (isStandard, isURLSafe) = (alphabet == .base64, alphabet == .base64url)
        var bits: UInt32 = 0
        var (digits, padding) = (0, 0)
        var hasWhiteSpace = false
        for index in 0..<text.count {
            let byte = text[index]
            let digit: UInt32
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit = UInt32(byte) - 65
            case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = UInt32(byte) - 71
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt32(byte) + 4
            case UInt8(ascii: "+"), UInt8(ascii: "/"):
                guard !isURLSafe else { return nil }
                isStandard = true
                digit = byte == UInt8(ascii: "+") ? 62 : 63
            case UInt8(ascii: "-"), UInt8(ascii: "_"):
                guard !isStandard else { return nil }
                isURLSafe = true
                digit = byte == UInt8(ascii: "-") ? 62 : 63
            case UInt8(ascii: "="):
                padding += 1
                guard padding <= 2 else { return nil }
                continue
            case 0x20, 0x09, 0x0A, 0x0D:
                hasWhiteSpace = true
                continue
            default: return nil
            }
            guard padding == 0 else { return nil }
            bits = bits << 6 | digit
            digits += 1
            if digits % 4 == 0 {
                output.append(UInt8(truncatingIfNeeded: bits >> 16))
                output.append(UInt8(truncatingIfNeeded: bits >> 8))
                output.append(UInt8(truncatingIfNeeded: bits))
            }
        }
        switch digits % 4 {
        case 2:
            guard bits & 0xF == 0 else { return nil }
            output.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3:
            guard bits & 0x3 == 0 else { return nil }
            output.append(UInt8(truncatingIfNeeded: bits >> 10))
            output.append(UInt8(truncatingIfNeeded: bits >> 2))
        case 1: return nil
        default: break
        }
        let missing = (4 - digits % 4) % 4
        guard padding == missing || padding == 0 && !isStandard else { return nil }
        if hasWhiteSpace { notes.insert(.trimmed) }
        return start..<output.count
    }
}
