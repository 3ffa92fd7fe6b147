extension ParsedDate {
    /// Reads a date as ISO 8601 writes it; nil if `text` is none, or names a day or time that there is not.
    ///
    /// Taken is all of RFC 3339, and beside it what ISO 8601 allows for the same things: a date only (midnight), the
    /// basic format without separators (`20141017T005411Z`), no seconds, a fraction of any length after `.` or `,`,
    /// offsets like `+05`, `+0530` and `+05:30`, `24:00` for the end of a day, and no zone at all. So are the spellings of
    /// programs that nearly write it: a blank for the `T` or before the zone, `UTC`, an offset with seconds, `20141017005411`,
    /// and the zone's name in brackets after an offset (RFC 9557).
    init?(iso8601 text: ByteView) {
        guard let day = CalendarDay(text) else { return nil }
        clockSeconds = day.daysSinceYearOne * 86_400
        guard day.end < text.count else { return }
        let hasSeparator = text[day.end] | 0x20 == UInt8(ascii: "t") || text[day.end] == UInt8(ascii: " ")
        guard hasSeparator || !day.isExtended && text.number(at: day.end, digits: 6) != nil else { return nil }
        guard let time = ClockTime(text, from: day.end + (hasSeparator ? 1 : 0)) else { return nil }
        clockSeconds += time.seconds
        nanoseconds = time.nanoseconds
        hasMoreThanNanoseconds = time.hasMoreThanNanoseconds
        isLeapSecond = time.isLeapSecond
        guard time.end < text.count else { return }
        guard let zone = Self.zone(text, from: time.end) else { return nil }
        offset = zone
        hasZoneName = text[text.count - 1] == UInt8(ascii: "]") && !text.buffer.suffix(5).elementsEqual("[UTC]".utf8)
        if text.count == 21 + time.digits, day.isExtended, text[10] == UInt8(ascii: "T"),
            text[19] == UInt8(ascii: "."), text[text.count - 1] == UInt8(ascii: "Z"), time.isPlain
        {
            canonicalDigits = time.digits
        }
    }

    /// The offset of the zone that ends a date, in seconds.
    static func zone(_ text: ByteView, from start: Int) -> Int? {
        let start = text[start] == UInt8(ascii: " ") ? start + 1 : start
        var end = text.count
        if text[end - 1] == UInt8(ascii: "]"), let name = text.buffer.lastIndex(of: UInt8(ascii: "[")), name + 2 < end {
            end = name
        }
        guard start < end else { return nil }
        let zone = text[start..<end]
        if zone.buffer.elementsEqual("UTC".utf8) { return 0 }
        guard zone.count == 9, zone.has(UInt8(ascii: ":"), at: 6) else { return zoneOffset(zone, from: 0) }
        guard let offset = zoneOffset(zone[0..<6], from: 0), let seconds = zone.number(at: 7, digits: 2), seconds < 60
        else { return nil }
        return zone[0] == UInt8(ascii: "-") ? offset - seconds : offset + seconds
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

/// The digits of a second that a `date` needs for `text`, 3, 6 or 9, if it is an instant in UTC, however ISO 8601 or programs write
/// it, with at most nanoseconds, which is not a leap second; nil for other texts.
func fraction(ofUTCInstant text: ByteView) -> Int? {
    guard text.count > 10, let date = ParsedDate(iso8601: text) else { return nil }
    // The name of another zone would be lost.
    let isKept = date.offset == 0 && !date.hasMoreThanNanoseconds && !date.isLeapSecond && !date.hasZoneName
    return isKept ? date.fraction : nil
}

extension DateFormat {
    /// True if a `date` with this format reads a text.
    package func reads(_ text: ByteView, hasEscapes: Bool = false) -> Bool {
        let coercion =
            self == .iso8601
            ? DateCoercion.iso8601
            : try? DateCoercion(formats: [self], timeZone: nil, isWallClock: false, storage: .iso8601)
        var (scratch, notes): ([UInt8], CoercionNotes) = ([], [])
        let token = JSONToken(kind: .string, bytes: text, hasEscapes: hasEscapes)
        return (try? coercion?.coerce(token, scratch: &scratch, notes: &notes)) != nil
    }

    /// The formats that an attribute reads which is made a `date` by its type alone.
    package static let written: [DateFormat] = [.iso8601, .dotnet, .rfc2822, .array]
}
