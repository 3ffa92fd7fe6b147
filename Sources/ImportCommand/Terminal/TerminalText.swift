import ImportModel

/// Text from data or file names, made fit for a terminal.
enum TerminalText {
    /// Escapes control characters, line and paragraph separators, and marks of writing direction.
    ///
    /// With `keepingLineBreaks` LF stays, for texts of several lines.
    static func escaped(_ text: String, keepingLineBreaks: Bool = false) -> String {
        text.printable(keepingLineBreaks: keepingLineBreaks)
    }

    /// Escapes the same characters in JSON text.
    ///
    /// Unescaped they can only be inside of strings, except for the white space between tokens, which stays.
    static func escapedInJSON(_ json: String) -> String {
        guard json.unicodeScalars.contains(where: { $0.isUnprintable && $0 != "\n" }) else { return json }
        var result = ""
        for scalar in json.unicodeScalars {
            if !scalar.isUnprintable || scalar == "\n" || scalar == "\t" || scalar == "\r" {
                result.unicodeScalars.append(scalar)
            } else {
                scalar.appendEscape(to: &result)
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
}
