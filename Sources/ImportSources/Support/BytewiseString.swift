/// A text that is equal to another only if their bytes are, as JSON keys and SQLite's names are.
///
/// `String` takes texts for equal that are canonically equivalent (`é` as one scalar or as two).
@usableFromInline package struct BytewiseString: Hashable, Sendable {
    @usableFromInline package let text: String

    @inlinable package init(_ text: String) {
        self.text = text
    }

    @inlinable package static func == (one: BytewiseString, other: BytewiseString) -> Bool {
        one.text.utf8.count == other.text.utf8.count && one.text.utf8.elementsEqual(other.text.utf8)
    }

    @inlinable package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(0xFF as UInt8)
    }
}
