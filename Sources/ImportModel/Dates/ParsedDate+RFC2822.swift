extension ParsedDate {
    /// Reads a date as RFC 2822 §3.3 and §4.3 have it; nil if it is none, or names a day that there is not.
    ///
    /// Comments may be wherever white space may. A weekday must be the date's.
    init?(rfc2822 text: ByteView) {
        var cursor = DateCursor(text)
        guard cursor.skipComments() != nil else { return nil }
        var weekday: Int?
        if let value = cursor.takeWeekday(isFull: false) {
            guard cursor.skipComments() != nil, cursor.take(UInt8(ascii: ",")), cursor.skipComments() != nil else {
                return nil
            }
            weekday = value
        }
        guard let day = cursor.takeNumber(1...2), cursor.skipComments() == true,
            let month = cursor.takeMonth(isFull: false), cursor.skipComments() == true
        else { return nil }
        let yearStart = cursor.index
        guard var year = cursor.takeNumber(2...4) else { return nil }
        switch cursor.index - yearStart {
        case 2: year += year < 50 ? 2_000 : 1_900
        case 3: year += 1_900
        default: break
        }
        guard let days = CalendarDay.daysSinceYearOne(year: year, month: month, day: day),
            weekday == nil || weekday == days % 7,
            cursor.skipComments() == true, let hour = cursor.takeNumber(2...2), hour < 24,
            cursor.skipComments() != nil, cursor.take(UInt8(ascii: ":")), cursor.skipComments() != nil,
            let minute = cursor.takeNumber(2...2), minute < 60, let hasSpace = cursor.skipComments()
        else { return nil }
        var second = 0
        if cursor.take(UInt8(ascii: ":")) {
            guard cursor.skipComments() != nil, let value = cursor.takeNumber(2...2), value <= 60,
                cursor.skipComments() == true
            else { return nil }
            second = value
        } else if !hasSpace {
            return nil
        }
        guard let offset = cursor.takeMailZone(), cursor.skipComments() != nil, cursor.isAtEnd else { return nil }
        self.init(clockSeconds: days * 86_400 + hour * 3_600 + minute * 60 + second, offset: offset)
        isLeapSecond = second == 60
    }
}

extension DateCursor {
    /// Passes over white space and comments in parentheses, which nest.
    ///
    /// - Returns: whether there were any; nil if a comment does not end.
    fileprivate mutating func skipComments() -> Bool? {
        let start = index
        var depth = 0
        while let byte = next {
            switch byte {
            case UInt8(ascii: "("): depth += 1
            case UInt8(ascii: ")") where depth > 0: depth -= 1
            case UInt8(ascii: "\\") where depth > 0: advance()
            case 0x20, 0x09, 0x0A, 0x0D: break
            default:
                if depth == 0 { return index > start }
            }
            advance()
        }
        return depth == 0 ? index > start : nil
    }

    /// Passes over `±hhmm` or the name of an obsolete zone that has one meaning; gives seconds.
    ///
    /// The military letters are not accepted: RFC 822 had their signs wrong, so nobody knows what a writer meant.
    fileprivate mutating func takeMailZone() -> Int? {
        if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { return takeOffset(colon: .none) }
        if take("UTC") || take("GMT") || take("UT") || take("Z") { return 0 }
        let hours: Int
        if take("E") {
            hours = -5
        } else if take("C") {
            hours = -6
        } else if take("M") {
            hours = -7
        } else if take("P") {
            hours = -8
        } else {
            return nil
        }
        if take("ST") { return hours * 3_600 }
        return take("DT") ? (hours + 1) * 3_600 : nil
    }
}
