import ImportModel

/// Why a row cannot be one of a server's table.
struct RowError: Error, Sendable, Hashable {
    enum Reason: Sendable, Hashable {
        /// Text with U+0000, which `text` cannot have.
        case nulCharacter
        /// A decimal with more digits than `numeric` has.
        case outOfRange
        /// A value in another form than decoding gives it.
        case wrongForm
        /// A row of more bytes than the server takes at once.
        case rowTooLarge
        /// An identifier that is too long for the index that it will have.
        case identifierTooLong
        /// A value of its identifier is missing.
        case incomplete
    }

    let reason: Reason
    /// The attribute's index in its entity; -1 for the row itself.
    let attribute: Int
}
