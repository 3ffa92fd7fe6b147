import ImportModel

/// Writes texts as JSON has them.
package enum JSONOutput {
    /// Appends a text as a JSON string.
    ///
    /// Characters that control a terminal, turn the direction of writing or cannot be seen are escaped too.
    package static func append(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        if text.allSatisfy(isPlain) {
            output.append(UInt8(ascii: "\""))
            output.append(contentsOf: text)
            output.append(UInt8(ascii: "\""))
        } else {
            output.append(contentsOf: JSONValue.string(String(decoding: text, as: UTF8.self)).serialized().utf8)
        }
    }

    /// Appends a text as it is, but for what is not UTF-8.
    package static func appendRepaired(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        guard text.baseAddress != nil else { return }
        if UTF8Validation.firstInvalid(in: ByteView(text)) == nil {
            output.append(contentsOf: text)
        } else {
            output.append(contentsOf: String(decoding: text, as: UTF8.self).utf8)
        }
    }

    /// True if a text is a JSON value on one line, as stored JSON is; another program may have written something else.
    ///
    /// - Parameter text: as SQLite has it, with a NUL after its end.
    package static func isValue(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let base = text.baseAddress, !text.isEmpty, !text.contains(where: { $0 < 0x20 }),
            UTF8Validation.firstInvalid(in: ByteView(text)) == nil
        else { return false }
        var nothing = Nothing()
        let end = FastJSON.end(of: 0, in: base, last: text.count, maxDepth: FastJSON.mostLevels, .none, &nothing)
        return end == text.count || (try? JSONValue(parsing: Array(text))) != nil
    }

    /// ASCII that needs no escape.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// Wants to know nothing of a value's tokens.
    private struct Nothing: FastJSONHandler {
        static var spaceHasLineFeeds: Bool { false }
        var hasRoom: Bool { true }
        mutating func lineBreak() {}
        mutating func string(from start: Int, to end: Int, hasEscapes: Bool) {}
        mutating func scalar(_ kind: JSONKind, from start: Int, to end: Int) {}
        mutating func open(_ kind: JSONKind, at start: Int) {}
        mutating func close(at end: Int) {}
    }
}
