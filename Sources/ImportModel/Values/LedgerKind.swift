/// What coercion changed or lost on the way, counted in the ledger per attribute.
public enum LedgerKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The value's JSON kind was not the attribute's: `"12"` for an integer, `1` for a boolean.
    case kindChanged
    /// White space around a number, boolean or date in a string was taken off, or within base64.
    case trimmed
    /// The value is kept in another spelling than the source's: a UUID in upper case, in braces, or as a URN; a date or a
    /// decimal whose text is not the canonical one; a zero without its minus.
    case respelled
    /// A value transformer changed the text.
    case transformed
    /// A number has digits that its type does not hold.
    case digitsLost
    /// A date's offset from UTC was taken into the instant and is no longer known.
    case timeZoneLost
    /// A date had more than milliseconds.
    case subMillisecondLost
    /// A leap second became the first instant of the next day.
    case leapSecond
    /// A date of .NET that means no date became null.
    case minimumDate
    /// An object had a key more than once; the last value was used.
    case duplicateKey
    /// A lone surrogate escape became U+FFFD.
    case loneSurrogate
    /// A text with U+0000, each of which became U+FFFD in a server's column, as the import asks (`NULPolicy.replace`).
    case nulReplaced
    /// A value that does not fit became null, as the import asks (`ErrorPolicy.null`).
    case nulled
    /// Something that is neither an object nor null where attributes are read from an object; they are null.
    case notAnObject
    /// A key that no attribute reads.
    case unknownKey
    /// A value that is outside the record paths.
    case outside
    /// A source in which nothing is at a record path, not even an empty collection.
    case notFound

    /// A null in a list of a relationship.
    case nullElement
    /// The same object more than once in a list; it is linked once, at its first index.
    case duplicateLink
    /// A link that a list has removed.
    case unlinked
    /// A reference to an object that is not there when the job ends.
    case unresolved
    /// An object with nothing but its identifier, made for a reference to it.
    case stub
    /// A reference whose attributes fit several objects; the first of them is linked.
    case ambiguous
    /// A mandatory relationship that is still empty when the job ends.
    case missingReference
    /// An object that a list has unlinked, and that is deleted as its relationship says.
    case orphanDeleted
    /// One that is kept, as a delete rule denies it.
    case orphanDenied
    /// An object that the sources of a mirror no longer have, and that a delete rule keeps.
    case deletionDenied

    /// A change of an attribute that is the store's users' own, which a patch leaves as it is.
    case localKept
    /// A row that an undo has brought back under another row id, as its own is taken.
    case rowIDLost

    /// An index that a server's table was to have and has not, as some value is too long for an entry; once per list of attributes.
    case indexLeftOut

    /// Whether something of the source's value is gone, rather than spelled in another way.
    public var isLoss: Bool {
        switch self {
        case .kindChanged, .trimmed, .respelled, .transformed, .outside, .notFound, .unknownKey, .nullElement,
            .duplicateLink, .unlinked, .unresolved, .stub, .ambiguous, .missingReference, .orphanDeleted, .orphanDenied,
            .deletionDenied, .localKept, .rowIDLost,
            .indexLeftOut:
            false
        case .digitsLost, .timeZoneLost, .subMillisecondLost, .leapSecond, .minimumDate, .nulled, .duplicateKey,
            .loneSurrogate, .nulReplaced, .notAnObject:
            true
        }
    }
}
