/// The kinds of changes and losses that the ledger counts per attribute.
public enum LedgerKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// The value's JSON kind was not the attribute's: `"12"` for an integer, `1` for a boolean.
    case kindChanged
    /// White space around a number, boolean or date in a string, or within base64, was removed.
    case trimmed
    /// The value is stored in another spelling than the source's: a UUID in upper case, in braces, or as a URN; a date or a decimal whose
    /// text is not the canonical one; a zero without its minus.
    case respelled
    /// The value was in an object of MongoDB's Extended JSON (`{"$oid": …}`), which is not stored.
    case unwrapped
    /// `[]` where attributes are read from an object, or `{}` where there is a list: nothing, as PHP and Lua write it.
    case emptyContainer
    /// A list that was written as its only object, or as an object with the keys 0, 1, 2 ….
    case wrapped
    /// A value transformer changed the text.
    case transformed
    /// A number has more digits than its type can store.
    case digitsLost
    /// A date's offset from UTC was applied to the instant and is not stored.
    case timeZoneLost
    /// A date had more digits of a second than its attribute (`AttributeDescription.fraction`).
    case subMillisecondLost
    /// A leap second became the first instant of the next day.
    case leapSecond
    /// The .NET date that means no date became null.
    case minimumDate
    /// An object had a key more than once; the last value was used.
    case duplicateKey
    /// A lone surrogate escape became U+FFFD.
    case loneSurrogate
    /// A text with U+0000, which became U+FFFD in a server's column (`NULPolicy.replace`).
    case nulReplaced
    /// A value that does not fit became null (`ErrorPolicy.null`).
    case nulled
    /// A value that is neither an object nor null, though attributes are read from an object; the attributes are null.
    case notAnObject
    /// `NaN`, `Infinity` or `-Infinity`, also as a text where numbers are, or a bare `-`, which became null.
    case notFinite
    /// A text that means null (`JobOptions.nullTexts`).
    case nullText
    /// A comma before `]` or `}`, or after a value that no brackets are around.
    case trailingComma
    /// A comment.
    case comment
    /// An escape that JSON lacks, `\xHH` or `\'`, which is a byte or an apostrophe.
    case oddEscape
    /// A source that was decoded to UTF-8 from another encoding.
    case decoded
    /// A source whose text was rewritten: rows, columns, text around JSON.
    case reshaped
    /// A source whose values were in arrays of one value each.
    case unboxed
    /// A key that no attribute reads.
    case unknownKey
    /// A record that a model leaves out: by a null in the `values` of its `subentity`.
    case leftOut
    /// A value outside the record paths.
    case outside
    /// One of them that is kept with its source.
    case kept
    /// A source in which nothing is at a record path, not even an empty collection.
    case notFound
    /// A source that is not JSON from some byte on, or damaged, and of which nothing after that is imported (`BadSourcePolicy.skip`).
    case badSource

    /// A null in a list of a relationship.
    case nullElement
    /// An object that is more than once in a list; it is linked once, at its first index.
    case duplicateLink
    /// A link that a list has removed.
    case unlinked
    /// A dangling reference when the job ends.
    case unresolved
    /// An object with just its identifier, inserted for a reference to it.
    case stub
    /// A reference whose attributes match several objects; the first of them is linked.
    case ambiguous
    /// A mandatory relationship that is still empty when the job ends.
    case missingReference
    /// An object that a list has unlinked and that was deleted, by the `orphans` of its relationship.
    case orphanDeleted
    /// An unlinked object that is kept, as a delete rule denies its deletion.
    case orphanDenied
    /// An object that the sources of a mirror no longer have, but that is kept, as a delete rule denies its deletion.
    case deletionDenied

    /// A change of an attribute that belongs to the store's users (`AttributeDescription.Owner.local`), which a patch does not apply.
    case localKept
    /// A row that an undo has restored under another row id, as its own is in use.
    case rowIDLost

    /// An index that a server's table does not have, as some value is too long for an entry; once per list of attributes.
    case indexLeftOut

    /// True if a part of the source's value is lost, and not only spelled in another way.
    public var isLoss: Bool {
        switch self {
        case .kindChanged, .trimmed, .respelled, .unwrapped, .emptyContainer, .wrapped, .transformed, .trailingComma,
            .comment, .oddEscape, .nullText,
            .decoded, .reshaped, .unboxed, .outside,
            .kept,
            .notFound, .badSource, .unknownKey, .leftOut,
            .nullElement,
            .duplicateLink, .unlinked, .unresolved, .stub, .ambiguous, .missingReference, .orphanDeleted, .orphanDenied,
            .deletionDenied, .localKept, .rowIDLost,
            .indexLeftOut:
            false
        case .digitsLost, .timeZoneLost, .subMillisecondLost, .leapSecond, .minimumDate, .notFinite, .nulled,
            .duplicateKey,
            .loneSurrogate, .nulReplaced, .notAnObject:
            true
        }
    }
}

extension LenientCounts {
    /// The counts with their kinds in the ledger.
    package var ledger: [(kind: LedgerKind, count: Int64)] {
        [(.notFinite, notFinite), (.trailingComma, trailingComma), (.comment, comment), (.oddEscape, oddEscape)].filter
        { $0.1 > 0 }
    }
}
