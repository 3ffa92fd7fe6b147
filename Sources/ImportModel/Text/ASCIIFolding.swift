/// Text without regard to the case of ASCII letters, as SQLite compares names.
extension UInt8 {
    /// The letter in lower case; every other byte as it is.
    @inline(__always)
    package var asciiLowercased: UInt8 {
        self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self | 0x20 : self
    }
}

extension String {
    /// ASCII letters in lower case, all else as it is.
    package var asciiLowercased: String { String(decoding: foldedASCII, as: UTF8.self) }

    /// The same as bytes: strings are equal already when they look the same.
    var foldedASCII: [UInt8] { utf8.map { $0.asciiLowercased } }

    package func equalsFoldingASCII(_ other: String) -> Bool { foldedASCII == other.foldedASCII }

    func hasASCIIPrefix(_ prefix: String) -> Bool { foldedASCII.starts(with: prefix.utf8) }
}
