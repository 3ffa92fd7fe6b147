extension WrittenDate {
    /// Reads a date as ISO 8601 writes it; nil if `text` is none, or names a day or time that there is not.
    ///
    /// Taken is all of RFC 3339, and beside it what ISO 8601 allows for the same things: a date only (midnight), the
    /// basic format without separators (`20141017T005411Z`), no seconds, a fraction of any length after `.` or `,`,
    /// offsets like `+05`, `+0530` and `+05:30`, `24:00` for the end of a day, and no zone at all.
    init?(iso8601 text: ByteView) {
        guard let day = CalendarDay(text) else { return nil }
        clockSeconds = day.daysSinceYearOne * 86_400
        guard day.end < text.count else { return }
        guard text[day.end] | 0x20 == UInt8(ascii: "t") || text[day.end] == UInt8(ascii: " ") else { return nil }
        guard let time = ClockTime(text, from: day.end + 1) else { return nil }
        clockSeconds += time.seconds
        milliseconds = time.milliseconds
        hasMoreThanMilliseconds = time.hasMoreThanMilliseconds
        isLeapSecond = time.isLeapSecond
        guard time.end < text.count else { return }
        guard let zone = Self.zoneOffset(text, from: time.end) else { return nil }
        offset = zone
        isCanonical =
            text.count == 24 && day.isExtended && text[10] == UInt8(ascii: "T") && text[19] == UInt8(ascii: ".")
            && text[23] == UInt8(ascii: "Z") && time.isPlain
    }

    /// The offset from UTC in seconds: `Z`, `±hh`, `±hhmm` or `±hh:mm`, and nothing after it.
    static func zoneOffset(_ text: ByteView, from start: Int) -> Int? {
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
