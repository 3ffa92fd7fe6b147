import Foundation

/// All mistakes of a model file.
public struct ModelError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// A mistake.
    public struct Mistake: Sendable, Hashable, CustomStringConvertible {
        /// The path in the file: `$.entities.Person.attributes.age.type`; `$` for the file itself.
        public let path: String
        /// A description of the mistake.
        public let message: String

        /// The path and the message, for people, on one line with control characters escaped.
        public var description: String { "\(path): \(message)".printable }
    }

    /// The mistakes in the file's order; never empty.
    public let mistakes: [Mistake]

    /// The mistakes, each on a line of its own.
    public var description: String { mistakes.map(\.description).joined(separator: "\n") }

    /// The mistakes, for Foundation.
    public var errorDescription: String? { description }
}
