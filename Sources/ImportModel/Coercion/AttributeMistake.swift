/// What is wrong with the description of an attribute, so that nothing can be coerced by it.
package struct AttributeMistake: Error, Sendable, Hashable {
    /// The key of the model file that it stands under.
    let key: AttributeKey
    /// Where it stands below that key; nil for the key's value itself.
    var inner: Inner?
    /// What is wrong there.
    let message: String

    /// A place below a key.
    enum Inner: Sendable, Hashable {
        case index(Int)
        case key(String)
    }
}

/// All that is wrong with the description of an attribute.
package struct AttributeMistakes: Error, Sendable, CustomStringConvertible {
    /// In the order of the model file's keys; never empty.
    let mistakes: [AttributeMistake]

    /// The mistakes on one line.
    package var description: String {
        mistakes.map { "\($0.key.rawValue): \($0.message)" }.joined(separator: "; ")
    }
}
