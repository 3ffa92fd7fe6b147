/// Why a text is no record path or attribute path, and where.
public struct PathSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The character (Unicode scalar) at which the path goes wrong, from 1; one past the last if it breaks off.
    public let position: Int
    /// What is wrong there.
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
