import ImportModel

/// The line of a keyed record, `{"key": value}`, in a chunk.
enum KeyedLine {
    /// The key and the place of the value in a keyed record's line, `{"key": value}`, which is not parsed.
    static func split(_ line: ByteView) -> (key: String, value: Range<Int>) {
        func skipSpace(_ index: inout Int) {
            while index < line.count, ByteScan.isSpace(line[index]) { index += 1 }
        }
        var end = max(0, line.count - 1)
        if end > 0, line[end - 1] == UInt8(ascii: "}") { end -= 1 }
        while end > 0, ByteScan.isSpace(line[end - 1]) { end -= 1 }
        var index = 1
        skipSpace(&index)
        let start = min(index + 1, end)
        index = start
        while index < end, line[index] != UInt8(ascii: "\"") { index += line[index] == UInt8(ascii: "\\") ? 2 : 1 }
        var key: [UInt8] = []
        _ = Unescaping.append(line[start..<min(index, end)], to: &key)
        index = min(index + 1, end)
        skipSpace(&index)
        if index < end, line[index] == UInt8(ascii: ":") { index += 1 }
        skipSpace(&index)
        return (String(decoding: key, as: UTF8.self), min(index, end)..<end)
    }
}
