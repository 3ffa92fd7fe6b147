/// What a date's text says, before a zone is looked at.
struct ParsedDate {
    /// Seconds since 0001-01-01T00:00:00 on the clock of anyone who wrote it, in the Gregorian calendar.
    var clockSeconds: Int
    /// Thousandths of a second after that, from 0 to 999.
    var milliseconds = 0
    /// How many seconds that clock is ahead of UTC; nil where no zone is written.
    var offset: Int?
    /// True if a zone's name is written, which the offset does not tell.
    var hasZoneName = false
    /// True if something after the milliseconds was not zero.
    var hasMoreThanMilliseconds = false
    /// True if the second was written as 60, so that `clockSeconds` is that of the next one.
    var isLeapSecond = false
    /// True if the text is that which the store keeps.
    var isCanonical = false

    /// A time of a clock.
    init(clockSeconds: Int, milliseconds: Int = 0, offset: Int? = nil) {
        self.clockSeconds = clockSeconds
        self.milliseconds = milliseconds
        self.offset = offset
    }

    /// An instant in UTC.
    init(_ instant: Instant) {
        clockSeconds = instant.seconds
        milliseconds = instant.milliseconds
        offset = 0
    }
}
