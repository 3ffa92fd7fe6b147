/// Text from data or file names, made fit for messages, terminals and shells.
extension String {
    /// The same text with everything escaped that a terminal could take for a command or that changes how text reads.
    ///
    /// That is control characters (C0, DEL, C1), line and paragraph separators, and marks of writing direction.
    package var printable: String { printable(keepingLineBreaks: false) }

    /// The printable text; with `keepingLineBreaks` LF stays, for texts of several lines.
    package func printable(keepingLineBreaks: Bool) -> String {
        guard unicodeScalars.contains(where: \.isUnprintable) else { return self }
        var result = ""
        for scalar in unicodeScalars {
            if !scalar.isUnprintable || (keepingLineBreaks && scalar == "\n") {
                result.unicodeScalars.append(scalar)
            } else {
                result += scalar.escape
            }
        }
        return result
    }

    /// A path as a shell takes it, and never as an option: `people.sqlite`, `'my people.sqlite'`, `./-x`.
    ///
    /// A path that is not printable is put as `$'…'` (POSIX.1-2024), so that it can be both read and pasted.
    package var shellQuoted: String { (hasPrefix("-") ? "./" + self : self).shellWord }

    /// A text as a shell takes it for one word, whatever it begins with.
    package var shellWord: String {
        if unicodeScalars.contains(where: \.isUnprintable) { return dollarQuoted }
        if !isEmpty, utf8.allSatisfy(\.isPlainInShell) { return self }
        return quoted(by: "'", with: "'\\''")
    }

    private var dollarQuoted: String {
        var result = "$'"
        for scalar in unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "'", "\\": result += "\\\(scalar)"
            case _ where scalar.isUnprintable:
                for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                    let digits = String(byte, radix: 8)
                    result += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
                }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "'"
    }
}

extension Unicode.Scalar {
    /// True if a terminal could take it for a command, or it changes how the text around it reads.
    package var isUnprintable: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0: true
        case 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    fileprivate var escape: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default: "\\u{" + String(value, radix: 16, uppercase: true) + "}"
        }
    }
}

extension UInt8 {
    /// True if it needs no quotes in any POSIX shell; the bytes of characters beyond ASCII do.
    fileprivate var isPlainInShell: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "+"),
            UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: ","):
            true
        default:
            self >= 0x80
        }
    }
}
