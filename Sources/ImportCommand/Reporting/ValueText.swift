import ImportModel
import Importer

/// Stored values and identifiers as people read them, fit for a terminal.
enum ValueText {
    /// A value; a text is in quotes.
    ///
    /// - Parameters:
    ///   - most: longer texts are cut to this many Unicode scalars.
    ///   - keepsLineBreaks: whether LF stays as it is.
    static func value(_ value: StoredValue, most: Int, keepsLineBreaks: Bool = false) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "'\(cut(text, most: most, keepsLineBreaks: keepsLineBreaks))'"
        case .textBytes(let bytes): "text of \(NumberText.counted(Int64(bytes.count), "byte")) that is not UTF-8"
        case .blob(let bytes) where bytes.count == 16: uuid(bytes)
        case .blob(let bytes): "binary of \(NumberText.counted(Int64(bytes.count), "byte"))"
        }
    }

    /// A value as an identifier has it: texts without quotes.
    static func plain(_ value: StoredValue, most: Int) -> String {
        if case .text(let text) = value { return cut(text, most: most) }
        return self.value(value, most: most)
    }

    /// `guid 7`, or `host a number 3`.
    static func identifier(_ object: ObjectReference, most: Int) -> String {
        object.values.map { "\(TerminalText.escaped($0.name)) \(plain($0.value, most: most))" }.joined(separator: " ")
    }

    /// 16 bytes, which nearly always are those of a UUID.
    private static func uuid(_ bytes: [UInt8]) -> String {
        AttributeDescription(name: "", type: .uuid).text(ofBinary: bytes) ?? ""
    }

    /// The beginning of a text, with `…` where more follows.
    ///
    /// Nothing is made of the rest: a value may have 1 GB.
    private static func cut(_ text: String, most: Int, keepsLineBreaks: Bool = false) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: most, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return TerminalText.escaped(text, keepingLineBreaks: keepsLineBreaks) }
        return TerminalText.escaped(String(scalars.prefix(most - 1)), keepingLineBreaks: keepsLineBreaks) + "…"
    }
}
