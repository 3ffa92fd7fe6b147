/// A point in time of the years 0001 to 9999, to the nanosecond.
struct Instant: Equatable {
    /// Seconds since 0001-01-01T00:00:00Z, in the Gregorian calendar.
    let seconds: Int
    /// Nanoseconds after that, less than a second.
    let nanoseconds: Int

    /// From 0001-01-01 to 1970-01-01.
    static let secondsBeforeUnix = 719_162 * 86_400
    /// The first second of the year 10000.
    static let secondsPastYear9999 = 3_652_059 * 86_400

    /// An instant; nil outside of the years 0001 to 9999.
    init?(seconds: Int, nanoseconds: Int) {
        guard seconds >= 0, seconds < Self.secondsPastYear9999 else { return nil }
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// An instant, given in milliseconds since 1970-01-01T00:00:00Z; nil outside of the years 0001 to 9999.
    init?(unixMilliseconds: Int64) {
        let (sum, overflow) = unixMilliseconds.addingReportingOverflow(Int64(Self.secondsBeforeUnix) * 1_000)
        guard !overflow, sum >= 0 else { return nil }
        self.init(seconds: Int(sum / 1_000), nanoseconds: Int(sum % 1_000) * 1_000_000)
    }

    /// Whole seconds since 1970-01-01T00:00:00Z, the last before or at the instant.
    var unixSeconds: Int64 { Int64(seconds - Self.secondsBeforeUnix) }

    /// Thousandths of a second after `seconds`, from 0 to 999; what is less is cut off.
    var milliseconds: Int { nanoseconds / 1_000_000 }

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
        let milliseconds = milliseconds
        words.2 |= Self.digits(second % 60, at: 1) | Self.digits(milliseconds / 10, at: 4)
        words.2 |= UInt64(truncatingIfNeeded: milliseconds % 10) << 48
        words = (words.0.littleEndian, words.1.littleEndian, words.2.littleEndian)
        withUnsafeBytes(of: words) { output.append(contentsOf: $0) }
    }

    /// Appends the instant with this many digits of a second: 3, 6 or 9.
    func append(to output: inout [UInt8], digits: Int) {
        append(to: &output)
        guard digits > 3 else { return }
        output.removeLast()
        var unit = 100_000
        for _ in 3..<digits {
            output.append(UInt8(ascii: "0") + UInt8(nanoseconds / unit % 10))
            unit /= 10
        }
        output.append(UInt8(ascii: "Z"))
    }

    /// The values of the two digits of a number below 100, for the bytes from `place` on.
    @inline(__always)
    private static func digits(_ number: Int, at place: UInt64) -> UInt64 {
        UInt64(truncatingIfNeeded: number / 10 | (number % 10) << 8) << (8 * place)
    }
}
