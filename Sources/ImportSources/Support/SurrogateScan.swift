/// Looks for `\u` escapes of half a surrogate pair (RFC 8259 §8.2).
enum SurrogateScan {
    /// True if a string, whose escapes are sound, has a surrogate without its other half.
    static func hasLoneSurrogate(_ bytes: [UInt8]) -> Bool {
        var index = 0
        var high = false
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count else {
                if high { return true }
                index += 1
                continue
            }
            guard bytes[index + 1] == UInt8(ascii: "u"), index + 6 <= bytes.count,
                let unit = UInt16(String(decoding: bytes[index + 2..<index + 6], as: UTF8.self), radix: 16)
            else {
                if high { return true }
                index += 2
                continue
            }
            switch unit {
            case 0xDC00...0xDFFF:
                guard high else { return true }
                high = false
            case 0xD800...0xDBFF:
                if high { return true }
                high = true
            default:
                if high { return true }
            }
            index += 6
        }
        return high
    }
}
