import Foundation

/// Everything that is wrong with a model file.
public struct ModelError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// One thing that is wrong.
    public struct Mistake: Sendable, Hashable, CustomStringConvertible {
        /// Where in the file: `$.entities.Person.attributes.age.type`; `$` for the file itself.
        public let path: String
        /// What is wrong there.
        public let message: String

        /// The path and what is wrong there, for people, on one line with control characters escaped.
        public var description: String { "\(path): \(message)".printable }
    }

    /// In the file's order; never empty.
    public let mistakes: [Mistake]

    /// The mistakes, each on a line of its own.
    public var description: String { mistakes.map(\.description).joined(separator: "\n") }

    /// The same, as Foundation asks for it.
    public var errorDescription: String? { description }
}
