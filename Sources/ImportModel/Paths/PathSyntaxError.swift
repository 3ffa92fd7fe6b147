/// A syntax error in a record path or attribute path, and its position.
public struct PathSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The position of the unexpected character (Unicode scalar), from 1; one past the last if the path is incomplete.
    public let position: Int
    /// A description of the error.
    public let reason: String

    /// The position and the reason, for people.
    public var description: String { "at character \(position): \(reason)" }
}

extension Decoder {
    /// A path that is coded as its text.
    ///
    /// - Parameter kind: what it is, for errors.
    func path<Path>(_ kind: String, _ read: (String) throws(PathSyntaxError) -> Path) throws -> Path {
        let container = try singleValueContainer()
        let text = try container.decode(String.self)
        do throws(PathSyntaxError) {
            return try read(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "\(kind): \(error)")
        }
    }
}
