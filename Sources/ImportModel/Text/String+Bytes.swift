extension String {
    /// True if both are the same bytes in UTF-8.
    ///
    /// Strings are equal already when they look the same (`é` composed and not); JSON keys and SQLite's names are not.
    package func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
