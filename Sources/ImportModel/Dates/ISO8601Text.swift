/// The one spelling of an instant that the store keeps, `YYYY-MM-DDTHH:MM:SS.SSSZ`, and the same without a fraction, which
/// is how most sources write their dates: both are read eight bytes at a time.
enum ISO8601Text {
    /// `0000-00-`, `00T00:00` and `:00.000Z` as words, the first byte lowest.
    static let dashes: UInt64 = 0x2D30_302D_3030_3030
    static let clock: UInt64 = 0x3030_3A30_3054_3030
    static let fraction: UInt64 = 0x5A30_3030_2E30_303A
    /// `:00Z` instead of the fraction.
    private static let second: UInt64 = 0x5A30_303A

    /// What is kept for a text of either spelling: the text itself, or the text with a fraction, which is appended to
    /// `scratch`.
    ///
    /// - Returns: nil for everything else, also where it is a date: one that is not in the calendar, in the hour 24 or the
    ///   second 60, or written in another way.
    @inline(__always)
    static func value(_ text: ByteView, scratch: inout [UInt8]) -> CoercedValue? {
        guard text.count == 20 || text.count == 24 else { return nil }
        let bytes = UnsafeRawPointer(text.base)
        let day = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        let time = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        guard let date = digits(day, of: dashes), let clock = digits(time, of: clock), isDay(date, clock) else {
            return nil
        }
        guard number(clock, at: 3) < 24, number(clock, at: 6) < 60 else { return nil }
        if text.count == 24 {
            let rest = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
            guard let digits = digits(rest, of: fraction), number(digits, at: 1) < 60 else { return nil }
            return .verbatim(text)
        }
        let rest = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 16, as: UInt32.self)))
        guard let digits = digits(rest, of: second), number(digits, at: 1) < 60 else { return nil }
        let start = scratch.count
        let words = (day.littleEndian, time.littleEndian, (fraction | digits).littleEndian)
        withUnsafeBytes(of: words) { scratch.append(contentsOf: $0) }
        return .scratch(start..<start + 24)
    }

    /// The values of the digits of `word`, if it has a digit where `form` has a zero, and else the same bytes.
    @inline(__always)
    private static func digits(_ word: UInt64, of form: UInt64) -> UInt64? {
        let difference = word ^ form
        let high: UInt64 = 0x8080_8080_8080_8080
        // Adding 0x76 for a digit lets 0 to 9 stay below 0x80, adding 0x7F for any other byte only 0. Zeros in `form`
        // are told from separators by having no other bits than 0x30; no sum reaches the next byte.
        let others = form ^ 0x3030_3030_3030_3030
        let isOther = ((others &+ ~high) & high) >> 7
        let limits = 0x7676_7676_7676_7676 &+ isOther &* 9
        let sums = (difference & ~high) &+ limits
        return (sums | difference) & high == 0 ? difference : nil
    }

    /// The number of two digits at `place`.
    @inline(__always)
    private static func number(_ digits: UInt64, at place: UInt64) -> Int {
        let pair = digits >> (8 &* place)
        return Int(truncatingIfNeeded: (pair & 0xFF) &* 10 &+ (pair >> 8) & 0xFF)
    }

    /// True if the digits name a day in the calendar, of the years 1 to 9999.
    @inline(__always)
    private static func isDay(_ date: UInt64, _ clock: UInt64) -> Bool {
        let day = number(clock, at: 0)
        let month = number(date, at: 5)
        let year = number(date, at: 0) &* 100 &+ number(date, at: 2)
        // Each month has 28 days.
        if day >= 1, day <= 28, month >= 1, month <= 12, year >= 1 { return true }
        return CalendarDay.daysSinceYearOne(year: year, month: month, day: day) != nil
    }
}
