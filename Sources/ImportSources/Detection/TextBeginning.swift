import ImportModel

/// Text that is taken for JSON by its first byte alone.
package enum TextBeginning {
    /// Where values without brackets, at the beginning of a text, touch what follows or are none; nil where that is JSON.
    ///
    /// Texts in CSV double their quotes, which reads as strings that touch: no line of JSON has that.
    package static func firstFault(in text: [UInt8], isLines: Bool) -> Int? {
        if !isLines, let place = textBeforeJSON(in: text) { return place }
        var index = 0
        while true {
            while index < text.count, ByteScan.isSpace(text[index]) { index += 1 }
            guard index < text.count, !opens(text[index]) else { break }
            let start = index
            if text[index] == UInt8(ascii: "\"") {
                index += 1
                while index < text.count, text[index] != UInt8(ascii: "\"") {
                    index += text[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                index += 1
                guard index < text.count else { return nil }
                if ByteScan.isSpace(text[index]) || opens(text[index]) { continue }
                return !isLines || text[index] == UInt8(ascii: "\"") ? index : nil
            }
            while index < text.count, !ByteScan.isSpace(text[index]), !opens(text[index]),
                text[index] != UInt8(ascii: "\"")
            {
                index += 1
            }
            // What ends with the sample may go on.
            guard !isLines, index < text.count else { return nil }
            if (try? JSONValue(parsing: Array(text[start..<index]))) == nil { return index }
        }
        return isLines ? nil : bracketFault(in: text[index...])
    }

    /// Where a line that begins with something in brackets, as those of logs do, is not JSON any more.
    private static func bracketFault(in text: ArraySlice<UInt8>) -> Int? {
        guard text.first == UInt8(ascii: "[") else { return nil }
        let line = text.prefix { $0 != 0x0A }
        // JSON goes on after it with a comma or a bracket, or not at all.
        guard let close = line.firstIndex(of: UInt8(ascii: "]")),
            let next = line[(close + 1)...].first(where: { !ByteScan.isSpace($0) }), !",]}".utf8.contains(next)
        else { return nil }
        let rest = text.dropFirst().prefix(64)
        // A date or a level: an element of letters, or of digits that touch what no number goes on with.
        guard let end = rest.firstIndex(where: { !isWordByte($0) }) else { return nil }
        let word = Array(rest[..<end])
        return word.isEmpty || (try? JSONValue(parsing: word)) != nil ? nil : end
    }

    /// Where JSON begins in the first line, if each of the first lines has some text before it.
    private static func textBeforeJSON(in text: [UInt8]) -> Int? {
        let lines = text.prefix(64 << 10).split(separator: 0x0A, maxSplits: 100, omittingEmptySubsequences: false)
            .dropLast().filter { !$0.allSatisfy(ByteScan.isSpace) }
        let places = lines.map { line in
            line.first(where: { !ByteScan.isSpace($0) }).map(opens) != false
                ? nil : line.indices.dropFirst().first { opens(line[$0]) && ByteScan.isSpace(line[$0 - 1]) }
        }
        return places.count > 1 && places.allSatisfy { $0 != nil } ? places[0] : nil
    }

    /// A letter, a digit, or one of `+-./:`.
    private static func isWordByte(_ byte: UInt8) -> Bool {
        0x61...0x7A ~= byte | 0x20 || 0x2B...0x3A ~= byte && byte != UInt8(ascii: ",")
    }

    private static func opens(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") }

    static let sql = "SQL"
    static let markup = "XML or HTML"

    /// What files of other kinds begin with.
    private static let marks = [
        ("PAR1", "Parquet"), ("SQLite format 3\0", "a SQLite database"), ("Obj\u{1}", "Avro"), ("ORC", "ORC"),
        ("%PDF", "PDF"),
    ]

    /// True if it begins with the length of a document, and with a type and a name (<https://bsonspec.org/spec.html>).
    private static func isBSON(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 6, bytes[3] == 0, 1...0x13 ~= bytes[4], bytes[5] > 0x20 else { return false }
        let length = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        return length >= 7 && (length > bytes.count || bytes[length - 1] == 0)
    }

    /// What the text looks like; nil for nothing that is known.
    package static func kind(of text: [UInt8]) -> String? {
        let lines = String(decoding: text.prefix(4_096), as: UTF8.self).split(whereSeparator: \.isNewline)
        guard let first = lines.first(where: { !$0.allSatisfy(\.isWhitespace) }) else { return nil }
        if let (_, name) = marks.first(where: { text.starts(with: $0.0.utf8) }) { return name }
        if text.starts(with: [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]) { return "an Excel or Word document" }
        if isBSON(text) { return "BSON" }
        let word = first.split(separator: " ").first?.lowercased() ?? ""
        let statements: Set = [
            "alter", "begin", "begin;", "copy", "create", "drop", "insert", "lock", "pragma", "select", "set", "start",
            "update", "use", "with",
        ]
        let isComment = word.hasPrefix("--") && !word.hasPrefix("---") || word.hasPrefix("/*")
        if statements.contains(word) || isComment { return sql }
        if word.hasPrefix("<") { return markup }
        if text.prefix(4_096).contains(0) { return nil }
        if textBeforeJSON(in: text) != nil { return "lines with text before their JSON" }
        if first == "---" || first.prefixMatch(of: /(- )?[\w-]+:( |$)/) != nil { return "YAML" }
        if first.hasPrefix("\"") || first.contains(",\"") { return "CSV" }
        if first.first == "["
            || first.first?.isNumber == true && first.prefix(24).contains(where: { ":/-".contains($0) })
        {
            return "lines of a log"
        }
        if first.contains(where: { ",;\t".contains($0) }) { return "CSV" }
        return lines.count > 1 && lines[1].contains("\"\"") ? "CSV" : nil
    }
}
