extension String {
    /// As SQLite compares names: ASCII letters without case, all else as it is.
    package var asciiLowercased: String {
        String(decoding: utf8.map { (65...90).contains($0) ? $0 + 32 : $0 }, as: UTF8.self)
    }
}
