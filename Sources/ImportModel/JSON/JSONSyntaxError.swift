/// Why bytes are not JSON, and where.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The first byte that does not belong there, from 0; the number of bytes if the text breaks off.
    public let byteOffset: Int
    /// Its line, from 1; lines end with a line feed.
    public let line: Int
    /// Its position in the line, from 1, in bytes.
    public let column: Int
    /// What is wrong there.
    public let reason: String

    init(_ reason: String, at byteOffset: Int, in bytes: ByteView) {
        self.byteOffset = byteOffset
        self.reason = reason
        var line = 1
        var lineStart = 0
        for index in 0..<min(byteOffset, bytes.count) where bytes[index] == UInt8(ascii: "\n") {
            line += 1
            lineStart = index + 1
        }
        self.line = line
        column = byteOffset - lineStart + 1
    }

    /// The position and the reason, for people.
    public var description: String { "line \(line), column \(column): \(reason)" }
}
