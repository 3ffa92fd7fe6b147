/// What coercion makes of a JSON value: a number, or where its text stands.
@usableFromInline
package enum CoercedValue {
    case null
    case integer(Int64)
    case real(Double)
    /// Text that is a part of the token's own bytes, unchanged.
    case verbatim(ByteView)
    /// Text that had to be written anew, at this range of the scratch bytes handed in.
    case scratch(Range<Int>)
    /// Bytes that are no text, at this range of the scratch bytes handed in.
    case blob(Range<Int>)
}

/// What coercion changed or lost on the way, counted in the ledger per attribute (DESIGN §7).
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
    /// A date of .NET that stands for no date became null.
    case minimumDate
    /// A key stood more than once in an object; the last value was taken.
    case duplicateKey
    /// A lone surrogate escape became U+FFFD.
    case loneSurrogate
    /// A value that does not fit became null, as `--on-error null` asks.
    case nulled
    /// Something that is neither an object nor null where attributes are read from an object; they are null.
    case notAnObject
    /// A key that no attribute reads.
    case unknownKey
    /// A value that stands outside the record paths.
    case outside
    /// A source in which nothing is at a record path, not even an empty collection.
    case notFound

    /// Whether something of the source's value is gone, rather than spelled in another way.
    public var isLoss: Bool {
        switch self {
        case .kindChanged, .trimmed, .respelled, .transformed, .outside, .notFound, .unknownKey: false
        case .digitsLost, .timeZoneLost, .subMillisecondLost, .leapSecond, .minimumDate, .nulled, .duplicateKey,
            .loneSurrogate, .notAnObject:
            true
        }
    }
}

/// The ledger kinds that one coercion touched.
@usableFromInline
package struct CoercionNotes: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt16

    // Inlinable, as sets are made for every value: without it another module makes each through a generic function of
    // the standard library, which takes longer than most coercions.
    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// How many notes there are: their bits are 0 up to this.
    @inlinable package static var count: Int { 11 }

    @inlinable package static var kindChanged: CoercionNotes { CoercionNotes(rawValue: 1 << 0) }
    @inlinable package static var trimmed: CoercionNotes { CoercionNotes(rawValue: 1 << 1) }
    @inlinable package static var digitsLost: CoercionNotes { CoercionNotes(rawValue: 1 << 2) }
    @inlinable package static var timeZoneLost: CoercionNotes { CoercionNotes(rawValue: 1 << 3) }
    @inlinable package static var subMillisecondLost: CoercionNotes { CoercionNotes(rawValue: 1 << 4) }
    @inlinable package static var loneSurrogate: CoercionNotes { CoercionNotes(rawValue: 1 << 5) }
    @inlinable package static var respelled: CoercionNotes { CoercionNotes(rawValue: 1 << 6) }
    @inlinable package static var transformed: CoercionNotes { CoercionNotes(rawValue: 1 << 7) }
    @inlinable package static var leapSecond: CoercionNotes { CoercionNotes(rawValue: 1 << 8) }
    @inlinable package static var minimumDate: CoercionNotes { CoercionNotes(rawValue: 1 << 9) }
    @inlinable package static var duplicateKey: CoercionNotes { CoercionNotes(rawValue: 1 << 10) }

    /// The same notes as ledger kinds, in the order of their bits.
    package var ledgerKinds: [LedgerKind] {
        if isEmpty { return [] }
        let kinds: [(CoercionNotes, LedgerKind)] = [
            (.kindChanged, .kindChanged), (.trimmed, .trimmed), (.digitsLost, .digitsLost),
            (.timeZoneLost, .timeZoneLost), (.subMillisecondLost, .subMillisecondLost),
            (.loneSurrogate, .loneSurrogate), (.respelled, .respelled), (.transformed, .transformed),
            (.leapSecond, .leapSecond), (.minimumDate, .minimumDate), (.duplicateKey, .duplicateKey),
        ]
        return kinds.filter { contains($0.0) }.map(\.1)
    }
}
