import Importer

/// What is wrong with a predicate, under its text.
enum PredicateErrorText {
    /// More of the text than this is not shown on either side of the mistake, in characters.
    private static let mostAround = 60

    /// The predicate, a mark under the mistake, and what to do, a line each.
    static func lines(_ error: RecordPredicateError) -> [String] {
        let bytes = Array(error.text.utf8)
        let start = min(max(error.byteOffset, 0), bytes.count)
        let end = min(max(start + error.byteCount, start), bytes.count)
        var before = TerminalText.escaped(String(decoding: bytes[..<start], as: UTF8.self))
        var mistake = TerminalText.escaped(String(decoding: bytes[start..<end], as: UTF8.self))
        var after = TerminalText.escaped(String(decoding: bytes[end...], as: UTF8.self))
        if before.count > mostAround { before = "…" + before.suffix(mostAround) }
        if mistake.count > mostAround { mistake = mistake.prefix(mostAround) + "…" }
        if after.count > mostAround { after = after.prefix(mostAround) + "…" }
        let space = String(repeating: " ", count: TextWidth.columns(of: before))
        let mark = "^" + String(repeating: "~", count: max(TextWidth.columns(of: mistake) - 1, 0))
        return [before + mistake + after, space + mark] + (error.advice.map { [$0] } ?? [])
    }
}
