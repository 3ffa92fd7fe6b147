import Foundation

/// A regular expression for text, in ICU's dialect.
///
/// The one place where Foundation is needed: its expressions are immutable and may be used by all workers at once.
struct TextPattern: Sendable {
    private let expression: NSRegularExpression

    /// - Returns: nil if `pattern` is no regular expression.
    init?(_ pattern: String) {
        // What an expression of nothing means is undefined in Foundation; it matches everything.
        guard let expression = try? NSRegularExpression(pattern: pattern.isEmpty ? "(?:)" : pattern) else { return nil }
        self.expression = expression
    }

    /// True if it matches somewhere in `text`.
    func matches(_ text: ByteView) -> Bool {
        let string = String(decoding: text.buffer, as: UTF8.self)
        let range = NSRange(location: 0, length: string.utf16.count)
        return expression.firstMatch(in: string, range: range) != nil
    }
}
