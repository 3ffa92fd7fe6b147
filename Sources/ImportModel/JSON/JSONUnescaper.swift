/// Turns the text between a JSON string's quotes into the string (RFC 8259 §7).
package enum JSONUnescaper {
    /// Appends the string that `token` spells to `output`, in UTF-8.
    ///
    /// - Parameters:
    ///   - token: what is between the quotes of a valid JSON string, in valid UTF-8. Anything else does no harm, but
    ///     what is appended for a broken escape is unspecified.
    ///   - output: what is appended to.
    /// - Returns: whether a surrogate without its other half became U+FFFD.
    package static func append(_ token: ByteView, to output: inout [UInt8]) -> Bool {
        let count = token.count
        var hasLoneSurrogate = false
        let first = output.count
        var hasBytes = false
        var index = 0
        while index < count {
            let start = index
            while index < count, token[index] != UInt8(ascii: "\\") { index &+= 1 }
            if index > start { output.append(contentsOf: token[start..<index].buffer) }
            guard index &+ 1 < count else { break }
            let escape = token[index &+ 1]
            guard escape == UInt8(ascii: "u") else {
                if escape == UInt8(ascii: "x"), let byte = byte(in: token, at: index) {
                    output.append(byte)
                    hasBytes = hasBytes || byte >= 0x80
                    index &+= 4
                    continue
                }
                output.append(character(forEscape: escape))
                index &+= 2
                continue
            }
            guard let unit = codeUnit(in: token, at: index) else { break }
            index &+= 6
            switch unit {
            case 0xD800...0xDBFF:
                if let low = codeUnit(in: token, at: index), low & 0xFC00 == 0xDC00 {
                    index &+= 6
                    append(scalar: 0x10000 &+ (unit & 0x3FF) << 10 | low & 0x3FF, to: &output)
                } else {
                    hasLoneSurrogate = true
                    append(scalar: 0xFFFD, to: &output)
                }
            case 0xDC00...0xDFFF:
                hasLoneSurrogate = true
                append(scalar: 0xFFFD, to: &output)
            default:
                append(scalar: unit, to: &output)
            }
        }
        return hasBytes ? mendBytes(from: first, of: &output) || hasLoneSurrogate : hasLoneSurrogate
    }

    /// The text that is between quotes.
    package static func text(_ token: [UInt8]) -> String {
        var text: [UInt8] = []
        token.withUnsafeBufferPointer { _ = append(ByteView($0), to: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Puts U+FFFD in place of bytes that are not UTF-8, and says whether there were any.
    private static func mendBytes(from first: Int, of output: inout [UInt8]) -> Bool {
        let isUTF8 = output.withUnsafeBufferPointer {
            UTF8Validation.firstInvalid(in: ByteView($0)[first..<$0.count]) == nil
        }
        if !isUTF8 { output.replaceSubrange(first..., with: String(decoding: output[first...], as: UTF8.self).utf8) }
        return !isUTF8
    }

    /// The byte of a `\xHH` at `index`, which is not JSON's (`LenientScanner`), or nil if there is none.
    static func byte(in bytes: ByteView, at index: Int) -> UInt8? {
        guard index &+ 4 <= bytes.count, bytes[index &+ 1] == UInt8(ascii: "x"),
            let high = hexadecimalDigit(bytes[index &+ 2]), let low = hexadecimalDigit(bytes[index &+ 3])
        else { return nil }
        return high << 4 | low
    }

    /// JSON with the escapes that JSON lacks in its own way; nil where it has none of them.
    static func respelled(_ json: ByteView) -> [UInt8]? {
        let bytes = json.buffer
        var (output, start, index) = ([UInt8](), 0, 0)
        while let slash = bytes[index...].firstIndex(of: UInt8(ascii: "\\")), slash + 1 < bytes.count {
            index = slash + 2
            guard byte(in: json, at: slash) != nil || bytes[slash + 1] == UInt8(ascii: "'") else { continue }
            // Characters of several bytes have an escape for each.
            index = slash
            while index + 1 < bytes.count, bytes[index] == UInt8(ascii: "\\") {
                if byte(in: json, at: index) != nil {
                    index += 4
                } else if bytes[index + 1] == UInt8(ascii: "'") {
                    index += 2
                } else {
                    break
                }
            }
            output += bytes[start..<slash]
            var text: [UInt8] = []
            _ = append(json[slash..<index], to: &text)
            output += JSONValue.string(String(decoding: text, as: UTF8.self)).serialized().utf8.dropFirst().dropLast()
            start = index
        }
        guard start > 0 else { return nil }
        return output + bytes[start...]
    }

    /// The offset of the first escape that is a surrogate without its other half, and so no Unicode text; nil if there
    /// is none.
    package static func firstLoneSurrogate(in token: ByteView) -> Int? {
        var index = 0
        while index < token.count {
            guard token[index] == UInt8(ascii: "\\") else {
                index &+= 1
                continue
            }
            guard let unit = codeUnit(in: token, at: index) else {
                index &+= 2
                continue
            }
            let start = index
            index &+= 6
            guard unit & 0xF800 == 0xD800 else { continue }
            guard unit < 0xDC00, let low = codeUnit(in: token, at: index), low & 0xFC00 == 0xDC00 else { return start }
            index &+= 6
        }
        return nil
    }

    /// True if an escape is U+0000, which no valid JSON string has in another way.
    package static func hasNUL(in token: ByteView) -> Bool {
        var index = 0
        while index < token.count {
            guard token[index] == UInt8(ascii: "\\") else {
                index &+= 1
                continue
            }
            guard let unit = codeUnit(in: token, at: index) else {
                if byte(in: token, at: index) == 0 { return true }
                index &+= 2
                continue
            }
            if unit == 0 { return true }
            index &+= 6
        }
        return false
    }

    /// The byte that stands for `\b`, `\n` and their kin; for `\"`, `\\` and `\/` the byte itself.
    @inline(__always)
    static func character(forEscape escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: escape
        }
    }

    /// The UTF-16 code unit of a `\uXXXX` at `index`, or nil if there is none.
    @inline(__always)
    static func codeUnit(in bytes: ByteView, at index: Int) -> UInt32? {
        guard index &+ 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index &+ 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt32 = 0
        for offset in 2..<6 {
            guard let digit = hexadecimalDigit(bytes[index &+ offset]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Appends a code point that is no surrogate, in UTF-8.
    @inline(__always)
    static func append(scalar: UInt32, to output: inout [UInt8]) {
        if scalar < 0x80 {
            output.append(UInt8(truncatingIfNeeded: scalar))
            return
        }
        if scalar < 0x800 {
            output.append(UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6))
        } else {
            if scalar < 0x10000 {
                output.append(UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12))
            } else {
                output.append(UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18))
                output.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 12 & 0x3F))
            }
            output.append(UInt8(truncatingIfNeeded: 0x80 | scalar >> 6 & 0x3F))
        }
        output.append(UInt8(truncatingIfNeeded: 0x80 | scalar & 0x3F))
    }
}

/// The value of a hexadecimal digit in either case, or nil.
@inline(__always)
package func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte &- UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte &- UInt8(ascii: "a") &+ 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte &- UInt8(ascii: "A") &+ 10
    default: nil
    }
}
