/// A Unicode date pattern (UTS #35), taken apart once so that reading a date with it costs no allocation.
struct DatePattern: Sendable {
    /// A part of a date's text.
    enum Field {
        /// A byte that is there as it is; a space is any one of Unicode.
        case literal(UInt8)
        /// A number with just this many digits; 0 for as many as make sense.
        case number(Unit, digits: UInt8)
        /// Digits after the second's point: just this many, or 0 for any number.
        case fraction(digits: UInt8)
        case monthName(isFull: Bool)
        case weekday(isFull: Bool)
        /// AM or PM.
        case halfDay
        case zone(Zone)
    }

    /// What a number counts.
    enum Unit: Hashable {
        case year
        case yearOfCentury
        case month
        case day
        case hour
        case hourOfHalfDay
        case minute
        case second
    }

    /// How a zone is written.
    enum Zone {
        /// `+0130`, `+01:30` or `Z`.
        case any
        /// `+01` or `+0130`.
        case short(allowsZ: Bool)
        /// `+0130`.
        case basic(allowsZ: Bool)
        /// `+01:30`.
        case extended(allowsZ: Bool)
    }

    let fields: [Field]

    /// Takes a pattern apart.
    ///
    /// - Throws: `DateFormatError` for letters that are not read, parts that are repeated or do not suffice for a date, and
    ///   a quote that is not closed.
    init(_ pattern: String) throws(DateFormatError) {
        var compiler = DatePatternCompiler(pattern)
        fields = try compiler.compile()
    }
}
