import ImportModel

/// What a chunk's line has around the bytes of a record: the keys that lead to it and that its record path does not name,
/// each in an object of its own.
///
/// A record at `$.files.*.functions.*` has the line `{"m.py":{"f": record}}`, of which `"f": record` is the source's.
package struct RecordLine {
    /// What precedes the record's bytes.
    package var head: [UInt8] = []
    /// How many keys there are, and braces at the end.
    package var keys = 0

    /// The line within an object whose key is the path of the source, as JSON.
    package func within(_ file: [UInt8]) -> RecordLine {
        file.isEmpty ? self : RecordLine(head: [UInt8(ascii: "{")] + file + [UInt8(ascii: ":")] + head, keys: keys + 1)
    }
}

/// How many keys the lines of a record path have.
package struct LineKeys: Sendable, Hashable {
    /// All of them.
    package let count: Int
    /// Those that are not beside their record in the source: the line begins with them.
    package let detached: Int

    /// - Parameter hasFile: whether the path of the source is the first of them.
    package init(_ path: String, hasFile: Bool = false) {
        let path = try? RecordPath(path)
        count = (path?.keyCount ?? 0) + (hasFile ? 1 : 0)
        detached = path?.isKeyed == true ? count - 1 : count
    }

    /// How many bytes of a line precede those that the source has in one piece.
    package func prefix(of line: ByteView) -> Int {
        var index = 0
        for _ in 0..<detached {
            // {"key":
            index += 2
            while index < line.count, line[index] != UInt8(ascii: "\"") {
                index += line[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            index += 2
        }
        return min(index + count - detached, line.count)
    }
}
