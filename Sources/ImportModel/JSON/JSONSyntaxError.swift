/// A syntax error in JSON, and its position.
public struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The offset of the first unexpected byte, from 0; the number of bytes if the text is incomplete.
    public let byteOffset: Int
    /// The line, from 1; lines end with a line feed.
    public let line: Int
    /// The column, in bytes from 1.
    public let column: Int
    /// A description of the error.
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
