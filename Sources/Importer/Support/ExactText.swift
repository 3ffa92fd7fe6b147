/// A text that is equal to another only if their bytes are, as JSON keys and SQLite's names are.
///
/// `String` takes texts for equal that are canonically equivalent (`é` as one scalar or as two).
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (one: ExactText, other: ExactText) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
    }
}
