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
        append(year / 100, UInt8(ascii: "0"), to: &output)
        output.removeLast()
        append(year % 100, UInt8(ascii: "-"), to: &output)
        append(month, UInt8(ascii: "-"), to: &output)
        append(day, UInt8(ascii: "T"), to: &output)
        append(second / 3_600, UInt8(ascii: ":"), to: &output)
        append(second / 60 % 60, UInt8(ascii: ":"), to: &output)
        append(second % 60, UInt8(ascii: "."), to: &output)
        append(milliseconds / 10, UInt8(ascii: "0") + UInt8(milliseconds % 10), to: &output)
        output.append(UInt8(ascii: "Z"))
    }

    /// Appends two digits and the byte after them.
    private func append(_ number: Int, _ next: UInt8, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / 10))
        output.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number % 10))
        output.append(next)
    }
}
