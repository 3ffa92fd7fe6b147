/// A date as ISO 8601 writes it, taken to an instant.
///
/// Taken is all of RFC 3339, and beside it what ISO 8601 allows for the same things: a date only (midnight), the basic
/// format without separators (`20141017T005411Z`), no seconds, a fraction of any length after `.` or `,`, offsets like
/// `+05`, `+0530` and `+05:30`, `24:00` for the end of a day, and no zone at all, which is read as UTC. A leap second
/// (`23:59:60` UTC) is the first instant of the next day.
struct DateText {
    /// Seconds since 0001-01-01T00:00:00Z, in the Gregorian calendar.
    private let seconds: Int
    private let milliseconds: Int
    /// What taking the text to an instant changed.
    let notes: CoercionNotes
    /// Whether the text is the canonical one of its instant already.
    let isCanonical: Bool

    /// Reads a date; nil if `text` is not one from the years 0001 to 9999, or names a day or time that there is not.
    init?(iso8601 text: ByteView) {
        guard let day = CalendarDay(text) else { return nil }
        var cursor = day.end
        var seconds = day.daysSinceYearOne * 86_400
        var notes: CoercionNotes = []
        var milliseconds = 0
        var isCanonical = false
        if cursor < text.count {
            guard text[cursor] | 0x20 == UInt8(ascii: "t") || text[cursor] == UInt8(ascii: " ") else { return nil }
            guard let time = ClockTime(text, from: cursor + 1) else { return nil }
            milliseconds = time.milliseconds
            cursor = time.end
            var offset = 0
            if cursor < text.count {
                guard let zone = Self.zoneOffset(text, from: cursor) else { return nil }
                offset = zone
            }
            seconds += time.seconds - offset
            if offset != 0 { notes.insert(.timeZoneLost) }
            if time.hasMoreThanMilliseconds { notes.insert(.subMillisecondLost) }
            if time.isLeapSecond {
                // Leap seconds stand at the end of a day in UTC and nowhere else.
                guard seconds % 86_400 == 0 else { return nil }
                notes.insert(.digitsLost)
            }
            isCanonical =
                text.count == 24 && day.isExtended && text[10] == UInt8(ascii: "T") && text[19] == UInt8(ascii: ".")
                && text[23] == UInt8(ascii: "Z") && time.isPlain
        }
        guard seconds >= 0, seconds < Self.secondsPastYear9999 else { return nil }
        self.seconds = seconds
        self.milliseconds = milliseconds
        self.notes = notes
        self.isCanonical = isCanonical
    }

    /// The first second of the year 10000.
    private static let secondsPastYear9999 = 3_652_059 * 86_400

    /// The offset from UTC in seconds: `Z`, `±hh`, `±hhmm` or `±hh:mm`, and nothing after it.
    private static func zoneOffset(_ text: ByteView, from start: Int) -> Int? {
        let sign = text[start]
        if sign | 0x20 == UInt8(ascii: "z") { return start + 1 == text.count ? 0 : nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return nil }
        guard let hours = text.number(at: start + 1, digits: 2), hours < 24 else { return nil }
        var minutes = 0
        var end = start + 3
        if end < text.count {
            if text[end] == UInt8(ascii: ":") { end += 1 }
            guard let value = text.number(at: end, digits: 2), value < 60 else { return nil }
            minutes = value
            end += 2
        }
        guard end == text.count else { return nil }
        let offset = hours * 3_600 + minutes * 60
        return sign == UInt8(ascii: "-") ? -offset : offset
    }

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

/// A day of the Gregorian calendar at the beginning of a text: `2014-10-17` or `20141017`.
struct CalendarDay {
    let daysSinceYearOne: Int
    /// The offset just past it.
    let end: Int
    /// Whether it is written with hyphens.
    let isExtended: Bool

    /// Reads a day; nil if there is none, or it is not in the calendar.
    init?(_ text: ByteView) {
        guard text.count >= 8, let year = text.number(at: 0, digits: 4), year >= 1 else { return nil }
        isExtended = text[4] == UInt8(ascii: "-")
        let month: Int
        let day: Int
        if isExtended {
            guard text.count >= 10, text[7] == UInt8(ascii: "-"), let first = text.number(at: 5, digits: 2),
                let second = text.number(at: 8, digits: 2)
            else { return nil }
            (month, day, end) = (first, second, 10)
        } else {
            guard let first = text.number(at: 4, digits: 2), let second = text.number(at: 6, digits: 2) else {
                return nil
            }
            (month, day, end) = (first, second, 8)
        }
        guard month >= 1, month <= 12, day >= 1, day <= Self.days(inMonth: month, year: year) else { return nil }
        daysSinceYearOne = Self.days(year: year, month: month, day: day)
    }

    private static func days(inMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days from 0001-01-01.
    ///
    /// Counts years from March, so that the leap day is a year's last and the months before it follow a rule: `(153 ×
    /// month + 2) / 5` days stand before the month, with March as 0.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let shifted = month > 2 ? month - 3 : month + 9
        let from = month > 2 ? year : year - 1
        return from * 365 + from / 4 - from / 100 + from / 400 + (153 * shifted + 2) / 5 + day - 307
    }

    /// The inverse of `days(year:month:day:)`.
    static func date(daysSinceYearOne days: Int) -> (year: Int, month: Int, day: Int) {
        // From 0000-03-01, in cycles of 400 years, which have 146,097 days.
        let shifted = days + 306
        let cycle = shifted / 146_097
        let inCycle = shifted % 146_097
        let yearInCycle = (inCycle - inCycle / 1_460 + inCycle / 36_524 - inCycle / 146_096) / 365
        let inYear = inCycle - (365 * yearInCycle + yearInCycle / 4 - yearInCycle / 100)
        let month = (5 * inYear + 2) / 153
        let day = inYear - (153 * month + 2) / 5 + 1
        let year = cycle * 400 + yearInCycle
        return month < 10 ? (year, month + 3, day) : (year + 1, month - 9, day)
    }
}

/// A time of day: `00:54`, `00:54:11.428`, `005411`.
private struct ClockTime {
    /// Seconds from midnight, at most 86,400.
    let seconds: Int
    /// The first three digits of the fraction.
    let milliseconds: Int
    /// The offset just past it.
    let end: Int
    /// Whether it is the second 60.
    let isLeapSecond: Bool
    /// Whether a digit after the third of the fraction is not zero.
    let hasMoreThanMilliseconds: Bool
    /// Whether it is written with colons, and neither 24:00 nor a leap second.
    let isPlain: Bool

    init?(_ text: ByteView, from start: Int) {
        guard let hour = text.number(at: start, digits: 2), hour <= 24 else { return nil }
        var cursor = start + 2
        let isExtended = cursor < text.count && text[cursor] == UInt8(ascii: ":")
        if isExtended { cursor += 1 }
        guard let minute = text.number(at: cursor, digits: 2), minute < 60 else { return nil }
        cursor += 2
        var second = 0
        var milliseconds = 0
        var hasMore = false
        let secondStart = isExtended ? cursor + 1 : cursor
        if isExtended ? text.has(UInt8(ascii: ":"), at: cursor) : text.number(at: cursor, digits: 2) != nil {
            guard let value = text.number(at: secondStart, digits: 2), value <= 60 else { return nil }
            second = value
            cursor = secondStart + 2
            if text.has(UInt8(ascii: "."), at: cursor) || text.has(UInt8(ascii: ","), at: cursor) {
                let first = cursor + 1
                cursor = first
                while let digit = text.number(at: cursor, digits: 1) {
                    switch cursor - first {
                    case 0: milliseconds += digit * 100
                    case 1: milliseconds += digit * 10
                    case 2: milliseconds += digit
                    default: hasMore = hasMore || digit != 0
                    }
                    cursor += 1
                }
                guard cursor > first else { return nil }
            }
        }
        if hour == 24 {
            guard minute == 0, second == 0, milliseconds == 0, !hasMore else { return nil }
        }
        seconds = hour * 3_600 + minute * 60 + second
        self.milliseconds = milliseconds
        end = cursor
        isLeapSecond = second == 60
        hasMoreThanMilliseconds = hasMore
        isPlain = isExtended && hour < 24 && second < 60
    }
}

extension ByteView {
    /// The number that exactly `digits` digits at `index` spell, or nil if other bytes stand there.
    @inline(__always)
    fileprivate func number(at index: Int, digits: Int) -> Int? {
        guard index + digits <= count else { return nil }
        var number = 0
        for offset in index..<index + digits {
            let digit = self[offset] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number &* 10 &+ Int(digit)
        }
        return number
    }

    @inline(__always)
    fileprivate func has(_ byte: UInt8, at index: Int) -> Bool { index < count && self[index] == byte }
}

/// Whether `text` is exactly `YYYY-MM-DDTHH:MM:SSZ`, with one to three digits of a fraction or none: an instant that
/// names a day in the calendar, and neither 24:00 nor a leap second.
package func isUTCInstant(_ text: ByteView) -> Bool {
    let count = text.count
    guard count == 20 || count >= 22 && count <= 24, text[count - 1] == UInt8(ascii: "Z"),
        text[10] == UInt8(ascii: "T"), count == 20 || text[19] == UInt8(ascii: "."),
        let day = CalendarDay(text), day.isExtended, let time = ClockTime(text, from: 11)
    else { return false }
    return time.isPlain && time.end == count - 1 && text[16] == UInt8(ascii: ":")
}
