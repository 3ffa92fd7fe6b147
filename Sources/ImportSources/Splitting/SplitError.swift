/// How the split of a source ended.
package enum SplitOutcome: Sendable, Hashable {
    /// The source ended, whole.
    case finished
    /// Something is wrong with the source; all sound records before it are in chunks.
    case fault(SplitError)
}

/// What is wrong with a source, and where.
package struct SplitError: Sendable, Hashable {
    /// What went wrong, in one word.
    package enum Kind: String, Sendable, Hashable {
        /// Nothing but white space.
        case empty
        /// The source breaks off inside of a value.
        case truncated
        /// Not JSON.
        case syntax
        /// More open containers than any source needs.
        case nesting
    }

    package let kind: Kind
    /// Offset in the source, from 0, in decompressed bytes.
    package let byteOffset: Int64
    /// From 1.
    package let line: Int64
    /// From 1, in bytes.
    package let column: Int64
    /// The text around it, control characters escaped.
    package let excerpt: String
    /// What is wrong, in words, without the position.
    package let message: String
}

/// A fault as the scanner finds it, before anybody has counted lines.
struct ScanError: Error {
    let kind: SplitError.Kind
    let byteOffset: Int64
    let message: String
}
