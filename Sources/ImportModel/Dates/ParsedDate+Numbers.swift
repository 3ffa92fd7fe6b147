extension ParsedDate {
    /// What a number says that counts units since 1970, or 2001; nil if it is outside of the years 0001 to 9999.
    ///
    /// Exact whatever the number of digits. What is less than a millisecond is cut off towards the past, as it is from a
    /// text.
    init?(_ number: JSONNumber, unit: UnixUnit) {
        // The value is ± significand × 10^exponent milliseconds.
        let exponent = number.exponent &+ unit.power
        // How many of its digits precede the point: more than this are past the year 9999.
        let whole = number.significantDigits &+ exponent
        guard number.isZero || whole <= 16 else { return nil }
        var milliseconds: Int64 = 0
        if !number.isZero, whole > 0 {
            let known = min(number.significantDigits, 19)
            // At most 16 digits, as is what is left of the 19.
            let value = Int64(clamping: Self.scaled(number.significand, by: whole - known))
            milliseconds = number.isNegative ? -value : value
        }
        let hasMore = !number.isZero && exponent < 0
        if hasMore, number.isNegative { milliseconds -= 1 }
        guard let instant = Instant(unixMilliseconds: milliseconds) else { return nil }
        self.init(instant)
        if unit == .referenceSeconds { clockSeconds += 978_307_200 }
        hasMoreThanMilliseconds = hasMore
    }

    /// What a number counts.
    enum UnixUnit {
        case seconds
        case milliseconds
        case microseconds
        case nanoseconds
        /// Seconds since 2001.
        case referenceSeconds

        /// How many milliseconds it is, as a power of ten.
        fileprivate var power: Int {
            switch self {
            case .seconds, .referenceSeconds: 3
            case .milliseconds: 0
            case .microseconds: -3
            case .nanoseconds: -6
            }
        }
    }

    /// `number × 10^power`, without what then is after the point.
    private static func scaled(_ number: UInt64, by power: Int) -> UInt64 {
        var number = number
        for _ in 0..<abs(power) { number = power < 0 ? number / 10 : number &* 10 }
        return number
    }
}
