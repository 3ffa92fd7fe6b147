/// What a date's text says, before a zone is looked at.
struct ParsedDate {
    /// Seconds since 0001-01-01T00:00:00 on the clock of anyone who wrote it, in the Gregorian calendar.
    var clockSeconds: Int
    /// Nanoseconds after that, less than a second.
    var nanoseconds = 0
    /// How many seconds that clock is ahead of UTC; nil where no zone is written.
    var offset: Int?
    /// True if a zone's name is written, which the offset does not tell.
    var hasZoneName = false
    /// True if something after the nanoseconds was not zero.
    var hasMoreThanNanoseconds = false
    /// True if the second was written as 60, so that `clockSeconds` is that of the next one.
    var isLeapSecond = false
    /// The digits of the second, if the text is one that a store keeps for an attribute with as many; 0 for other texts.
    var canonicalDigits = 0

    /// A time of a clock.
    init(clockSeconds: Int, nanoseconds: Int = 0, offset: Int? = nil) {
        self.clockSeconds = clockSeconds
        self.nanoseconds = nanoseconds
        self.offset = offset
    }

    /// An instant in UTC.
    init(_ instant: Instant) {
        clockSeconds = instant.seconds
        nanoseconds = instant.nanoseconds
        offset = 0
    }

    /// The nanoseconds that the last of this many digits of a second counts; 1 for more than nine.
    @inline(__always)
    static func unit(ofDigits digits: Int) -> Int {
        switch digits {
        case 3: 1_000_000
        case 6: 1_000
        case 9...: 1
        default: Int(truncatingIfNeeded: JSONNumber.powersOfTen[9 &- digits])
        }
    }

    /// The digits that a `date` needs for it: 3, 6 or 9.
    var fraction: Int { nanoseconds % 1_000_000 == 0 ? 3 : nanoseconds % 1_000 == 0 ? 6 : 9 }
}
