extension String {
    /// Whether both are the same bytes in UTF-8.
    ///
    /// Strings are equal already when they look the same (`é` composed and not); JSON keys and SQLite's names are not.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    /// The bytes with ASCII letters in lower case.
    var foldedASCII: [UInt8] {
        utf8.map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    }

    func equalsFoldingASCII(_ other: String) -> Bool { foldedASCII == other.foldedASCII }

    func hasASCIIPrefix(_ prefix: String) -> Bool { foldedASCII.starts(with: prefix.utf8) }
}
