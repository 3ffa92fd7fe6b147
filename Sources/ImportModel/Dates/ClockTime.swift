/// A time of day: `00:54`, `00:54:11.428`, `005411`.
struct ClockTime {
    /// Seconds from midnight, at most 86,400.
    let seconds: Int
    /// Nanoseconds: the first nine digits of the fraction.
    let nanoseconds: Int
    /// The offset just past it.
    let end: Int
    /// True if it is the second 60.
    let isLeapSecond: Bool
    /// True if a digit after the ninth of the fraction is not zero.
    let hasMoreThanNanoseconds: Bool
    /// How many digits the fraction is written with.
    let digits: Int
    /// True if it is written with colons, and neither 24:00 nor a leap second.
    let isPlain: Bool

    init?(_ text: ByteView, from start: Int) {
        guard let hour = text.number(at: start, digits: 2), hour <= 24 else { return nil }
        var cursor = start + 2
        let isExtended = cursor < text.count && text[cursor] == UInt8(ascii: ":")
        if isExtended { cursor += 1 }
        guard let minute = text.number(at: cursor, digits: 2), minute < 60 else { return nil }
        cursor += 2
        var second = 0
        var nanoseconds = 0
        var digits = 0
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
                    if cursor - first < 9 {
                        nanoseconds = nanoseconds &* 10 &+ digit
                    } else {
                        hasMore = hasMore || digit != 0
                    }
                    cursor += 1
                }
                digits = cursor - first
                guard digits > 0 else { return nil }
                nanoseconds *= ParsedDate.unit(ofDigits: digits)
            }
        }
        if hour == 24 {
            guard minute == 0, second == 0, nanoseconds == 0, !hasMore else { return nil }
        }
        seconds = hour * 3_600 + minute * 60 + second
        self.nanoseconds = nanoseconds
        self.digits = digits
        end = cursor
        isLeapSecond = second == 60
        hasMoreThanNanoseconds = hasMore
        isPlain = isExtended && hour < 24 && second < 60
    }
}
