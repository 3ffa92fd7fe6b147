/// Text from data or file names, made fit for a terminal.
enum TerminalText {
    /// Escapes everything that a terminal could take for a command or that changes how text reads.
    ///
    /// That is control characters (C0, DEL, C1), line and paragraph separators, and marks of writing direction. With
    /// `keepingLineBreaks` LF stays, for texts of several lines.
    static func escaped(_ text: String, keepingLineBreaks: Bool = false) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if !isUnsafe(scalar) || (keepingLineBreaks && scalar == "\n") {
                result.unicodeScalars.append(scalar)
            } else {
                result += escape(scalar)
            }
        }
        return result
    }

    /// Escapes the same characters in JSON text.
    ///
    /// Unescaped they can only stand inside of strings, except for the white space between tokens, which stays.
    static func escapedInJSON(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: { isUnsafe($0) && $0 != "\n" }) else { return json }
        var result = ""
        for scalar in json.unicodeScalars {
            if !isUnsafe(scalar) || scalar == "\n" || scalar == "\t" || scalar == "\r" {
                result.unicodeScalars.append(scalar)
            } else {
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return result
    }

    /// The beginning of a record's bytes on one line.
    ///
    /// It has at most `columns` characters, the last of them `…` where more follows. Bytes that are not UTF-8 are shown as U+FFFD.
    static func excerpt(_ bytes: [UInt8], columns: Int) -> String {
        // A character takes at most 4 bytes of plain UTF-8; combining marks beyond that are cut.
        let head = bytes.prefix(columns * 4)
        let text = escaped(String(decoding: head, as: UTF8.self))
        guard head.count < bytes.count || text.count > columns else { return text }
        return text.prefix(max(columns - 1, 0)) + "…"
    }

    /// A path as a POSIX shell takes it, and never as an option.
    static func shellQuoted(_ path: String) -> String {
        let path = path.hasPrefix("-") ? "./" + path : path
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "+"),
                UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: ","):
                true
            default:
                byte >= 0x80
            }
        }
        if isPlain && !path.isEmpty { return path }
        return "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0x061C: true
        default: false
        }
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
    }
}
