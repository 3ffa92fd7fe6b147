/// The ledger kinds that one coercion touched.
@usableFromInline
package struct CoercionNotes: OptionSet, Sendable {
    @usableFromInline package let rawValue: UInt16

    // Inlinable, as sets are made for every value: without it another module makes each through a generic function of
    // the standard library, which takes longer than most coercions.
    @inlinable
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// How many notes there are: their bits are 0 up to this.
    @inlinable package static var count: Int { 14 }

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
    @inlinable package static var unwrapped: CoercionNotes { CoercionNotes(rawValue: 1 << 11) }
    @inlinable package static var notFinite: CoercionNotes { CoercionNotes(rawValue: 1 << 12) }

    @inlinable package static var nullText: CoercionNotes { CoercionNotes(rawValue: 1 << 13) }

    /// The same notes as ledger kinds, in the order of their bits.
    package var ledgerKinds: [LedgerKind] {
        if isEmpty { return [] }
        let kinds: [(CoercionNotes, LedgerKind)] = [
            (.kindChanged, .kindChanged), (.trimmed, .trimmed), (.digitsLost, .digitsLost),
            (.timeZoneLost, .timeZoneLost), (.subMillisecondLost, .subMillisecondLost),
            (.loneSurrogate, .loneSurrogate), (.respelled, .respelled), (.transformed, .transformed),
            (.leapSecond, .leapSecond), (.minimumDate, .minimumDate), (.duplicateKey, .duplicateKey),
            (.unwrapped, .unwrapped), (.notFinite, .notFinite), (.nullText, .nullText),
        ]
        return kinds.filter { contains($0.0) }.map(\.1)
    }
}
