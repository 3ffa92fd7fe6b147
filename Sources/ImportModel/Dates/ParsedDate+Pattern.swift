extension ParsedDate {
    /// Reads a date with a pattern; nil if the text is another, or names a day or time that there is not.
    init?(_ text: ByteView, pattern: DatePattern) {
        var cursor = DateCursor(text)
        var parts = ParsedDateFields()
        for field in pattern.fields {
            guard parts.take(field, from: &cursor) else { return nil }
        }
        guard cursor.isAtEnd else { return nil }
        self.init(parts)
    }

    private init?(_ parts: ParsedDateFields) {
        guard let days = CalendarDay.daysSinceYearOne(year: parts.year, month: parts.month, day: parts.day),
            parts.weekday == nil || parts.weekday == days % 7,
            parts.minute < 60, parts.second <= 60
        else { return nil }
        var hour = parts.hour
        if let isAfternoon = parts.isAfternoon {
            guard hour >= 1, hour <= 12 else { return nil }
            hour = hour % 12 + (isAfternoon ? 12 : 0)
        } else if hour >= 24 {
            let isMidnight = parts.minute == 0 && parts.second == 0 && parts.nanoseconds == 0 && !parts.hasMore
            guard hour == 24, isMidnight else { return nil }
        }
        clockSeconds = days * 86_400 + hour * 3_600 + parts.minute * 60 + parts.second
        nanoseconds = parts.nanoseconds
        hasMoreThanNanoseconds = parts.hasMore
        offset = parts.offset
        isLeapSecond = parts.second == 60
    }
}

/// The parts of a date as they are read, in any order.
private struct ParsedDateFields {
    var year = 1
    var month = 1
    var day = 1
    var weekday: Int?
    var hour = 0
    var isAfternoon: Bool?
    var minute = 0
    var second = 0
    var nanoseconds = 0
    var hasMore = false
    var offset: Int?

    /// Passes over one part; false if something else is there.
    mutating func take(_ field: DatePattern.Field, from cursor: inout DateCursor) -> Bool {
        switch field {
        case .literal(let byte):
            return byte == 0x20 ? cursor.takeSpace() : cursor.take(byte)
        case .number(let unit, let digits):
            let most = unit == .year ? 4 : 2
            guard let value = cursor.takeNumber(digits == 0 ? 1...most : Int(digits)...Int(digits)) else {
                return false
            }
            set(unit, to: value)
            return true
        case .fraction(let digits):
            let start = cursor.index
            guard let fraction = cursor.takeFraction(atMost: digits == 0 ? .max : Int(digits)),
                digits == 0 || cursor.index - start == Int(digits)
            else { return false }
            (nanoseconds, hasMore) = fraction
            return true
        case .monthName(let isFull):
            guard let value = cursor.takeMonth(isFull: isFull) else { return false }
            month = value
            return true
        case .weekday(let isFull):
            weekday = cursor.takeWeekday(isFull: isFull)
            return weekday != nil
        case .halfDay:
            if cursor.take("AM") {
                isAfternoon = false
            } else if cursor.take("PM") {
                isAfternoon = true
            } else {
                return false
            }
            return true
        case .zone(let zone):
            offset = Self.offset(zone, from: &cursor)
            return offset != nil
        }
    }

    private mutating func set(_ unit: DatePattern.Unit, to value: Int) {
        switch unit {
        case .year: year = value
        case .yearOfCentury: year = value < 69 ? 2_000 + value : 1_900 + value
        case .month: month = value
        case .day: day = value
        case .hour, .hourOfHalfDay: hour = value
        case .minute: minute = value
        case .second: second = value
        }
    }

    private static func offset(_ zone: DatePattern.Zone, from cursor: inout DateCursor) -> Int? {
        switch zone {
        case .any:
            if cursor.take("Z") { return 0 }
            return cursor.takeOffset(colon: .optional)
        case .basic(let allowsZ):
            if allowsZ, cursor.take(UInt8(ascii: "Z")) { return 0 }
            return cursor.takeOffset(colon: .none)
        case .extended(let allowsZ):
            if allowsZ, cursor.take(UInt8(ascii: "Z")) { return 0 }
            return cursor.takeOffset(colon: .always)
        case .short(let allowsZ):
            if allowsZ, cursor.take(UInt8(ascii: "Z")) { return 0 }
            let isNegative = cursor.next == UInt8(ascii: "-")
            guard isNegative || cursor.next == UInt8(ascii: "+") else { return nil }
            cursor.advance()
            guard let hours = cursor.takeNumber(2...2), hours < 24 else { return nil }
            let minutes = cursor.takeNumber(2...2) ?? 0
            guard minutes < 60 else { return nil }
            let offset = hours * 3_600 + minutes * 60
            return isNegative ? -offset : offset
        }
    }
}
