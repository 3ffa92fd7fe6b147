/// A point in time of the years 0001 to 9999, to the millisecond.
struct Instant: Equatable {
    /// Seconds since 0001-01-01T00:00:00Z, in the Gregorian calendar.
    let seconds: Int
    /// Thousandths of a second after that, from 0 to 999.
    let milliseconds: Int

    /// From 0001-01-01 to 1970-01-01.
    static let secondsBeforeUnix = 719_162 * 86_400
    /// The first second of the year 10000.
    static let secondsPastYear9999 = 3_652_059 * 86_400

    /// An instant; nil outside of the years 0001 to 9999.
    init?(seconds: Int, milliseconds: Int) {
        guard seconds >= 0, seconds < Self.secondsPastYear9999 else { return nil }
        self.seconds = seconds
        self.milliseconds = milliseconds
    }

    /// An instant, given in milliseconds since 1970-01-01T00:00:00Z; nil outside of the years 0001 to 9999.
    init?(unixMilliseconds: Int64) {
        let (sum, overflow) = unixMilliseconds.addingReportingOverflow(Int64(Self.secondsBeforeUnix) * 1_000)
        guard !overflow, sum >= 0 else { return nil }
        self.init(seconds: Int(sum / 1_000), milliseconds: Int(sum % 1_000))
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, the last before or at the instant.
    var unixSeconds: Int64 { Int64(seconds - Self.secondsBeforeUnix) }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    var unixMilliseconds: Int64 { unixSeconds * 1_000 + Int64(milliseconds) }

    /// Appends the instant as `YYYY-MM-DDTHH:MM:SS.SSSZ`.
    func append(to output: inout [UInt8]) {
        let (year, month, day) = CalendarDay.date(daysSinceYearOne: seconds / 86_400)
        let second = seconds % 86_400
        // Eight bytes at a time, the first one lowest: `YYYY-MM-`, `DDTHH:MM`, `:SS.SSSZ`. An append for each byte takes
        // longer than all else.
        var words = (ISO8601Text.dashes, ISO8601Text.clock, ISO8601Text.fraction)
        words.0 |= Self.digits(year / 100, at: 0) | Self.digits(year % 100, at: 2) | Self.digits(month, at: 5)
        words.1 |= Self.digits(day, at: 0) | Self.digits(second / 3_600, at: 3) | Self.digits(second / 60 % 60, at: 6)
        words.2 |= Self.digits(second % 60, at: 1) | Self.digits(milliseconds / 10, at: 4)
        words.2 |= UInt64(truncatingIfNeeded: milliseconds % 10) << 48
        words = (words.0.littleEndian, words.1.littleEndian, words.2.littleEndian)
        withUnsafeBytes(of: words) { output.append(contentsOf: $0) }
    }

    /// The values of the two digits of a number below 100, for the bytes from `place` on.
    @inline(__always)
    private static func digits(_ number: Int, at place: UInt64) -> UInt64 {
        UInt64(truncatingIfNeeded: number / 10 | (number % 10) << 8) << (8 * place)
    }
}
