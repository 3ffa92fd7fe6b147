/// Why a text is no record path or attribute path, and where.
public struct PathSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The character (Unicode scalar) at which the path goes wrong, from 1; one past the last if it breaks off.
    public let position: Int
    /// What is wrong there.
    public let reason: String

    init(position: Int, reason: String) {
        self.position = position
        self.reason = reason
    }

    /// The place and the reason, for a person.
    public var description: String { "at character \(position): \(reason)" }
}
