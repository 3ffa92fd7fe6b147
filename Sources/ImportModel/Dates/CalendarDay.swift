/// A day of the Gregorian calendar at the beginning of a text: `2014-10-17` or `20141017`.
package struct CalendarDay {
    let daysSinceYearOne: Int
    /// The offset just past it.
    let end: Int
    /// True if it is written with hyphens.
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
        guard let days = Self.daysSinceYearOne(year: year, month: month, day: day) else { return nil }
        daysSinceYearOne = days
    }

    /// The day after the one that a text is, `2024-05-05` after `2024-05-04`; nil where the text is anything else.
    package static func day(after text: String) -> String? {
        var text = text
        let day = text.withUTF8 { bytes in CalendarDay(ByteView(bytes)).flatMap { $0.end == bytes.count ? $0 : nil } }
        guard let day, day.isExtended else { return nil }
        let (year, month, next) = date(daysSinceYearOne: day.daysSinceYearOne + 1)
        func padded(_ number: Int, _ digits: Int) -> String { String(String(number + 10_000).suffix(digits)) }
        return year > 9_999 ? nil : "\(padded(year, 4))-\(padded(month, 2))-\(padded(next, 2))"
    }

    /// Days from 0001-01-01, in the Gregorian calendar; nil if there is no such day in the years 1 to 9999.
    static func daysSinceYearOne(year: Int, month: Int, day: Int) -> Int? {
        guard year >= 1, year <= 9_999, month >= 1, month <= 12, day >= 1, day <= days(inMonth: month, year: year)
        else { return nil }
        return days(year: year, month: month, day: day)
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
    /// month + 2) / 5` days precede the month, with March as 0.
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
