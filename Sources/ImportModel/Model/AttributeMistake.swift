/// What is wrong with the description of an attribute, so that nothing can be coerced by it.
package struct AttributeMistake: Error, Sendable, Hashable {
    /// The key of the model file that it is under.
    let key: AttributeKey
    /// Where it is below that key; nil for the key's value itself.
    var inner: Inner?
    /// What is wrong there.
    let message: String
    /// Another key that it does not go with: either may be the one that is wrong.
    var other: AttributeKey?

    /// A place below a key.
    enum Inner: Sendable, Hashable {
        /// The element of a list with this number, from 0.
        case index(Int)
        /// The member of an object with this number, from 0.
        case member(Int)
        /// What is at this path within a value.
        case path(String)
    }

    static let noBit = "must be an integer from 0 to 63"
    static let flagAndGroup = "is a flag, and the beginning of other flags' names"
    static let repetition = "is repeated"

    /// True if it is in a list for the second time, which is all that is wrong with it.
    var isRepetition: Bool { message == Self.repetition }
}

/// All that is wrong with the description of an attribute.
package struct AttributeMistakes: Error, Sendable, CustomStringConvertible {
    /// In the order in which they were found; never empty.
    let mistakes: [AttributeMistake]

    /// The mistakes on one line.
    package var description: String {
        mistakes.map { "\($0.key.rawValue): \($0.message)" }.joined(separator: "; ")
    }
}
