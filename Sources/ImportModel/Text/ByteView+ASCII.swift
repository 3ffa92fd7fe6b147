extension ByteView {
    /// The text without ASCII white space around it.
    var trimmed: ByteView {
        var (start, end) = (0, count)
        while start < end, Self.isWhiteSpace(self[start]) { start &+= 1 }
        while end > start, Self.isWhiteSpace(self[end &- 1]) { end &-= 1 }
        return self[start..<end]
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte >= 0x09 && byte <= 0x0D }

    /// True if the text is `word`, which is in lower case, in any case.
    @inline(__always)
    func equalsFoldingASCII(_ word: StaticString) -> Bool {
        guard count == word.utf8CodeUnitCount else { return false }
        for index in 0..<count {
            guard self[index].asciiLowercased == word.utf8Start[index] else { return false }
        }
        return true
    }
}
