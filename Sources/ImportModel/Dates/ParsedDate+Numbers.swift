extension ParsedDate {
    /// What a number says that counts units since 1970, or 2001; nil if it is outside of the years 0001 to 9999.
    ///
    /// Exact whatever the number of digits. What is less than a nanosecond is cut off towards the past, as it is from a
    /// text.
    init?(_ number: JSONNumber, unit: UnixUnit) {
        // The value is ± significand × 10^exponent seconds.
        let exponent = number.exponent &+ unit.power
        // How many of its digits precede the point: more than this are past the year 9999.
        let whole = number.significantDigits &+ exponent
        guard number.isZero || whole <= 13 else { return nil }
        var (seconds, nanoseconds) = Self.parts(number, exponent: exponent, whole: whole)
        let hasMore = !number.isZero && exponent < -9
        if number.isNegative {
            // Towards the past.
            (seconds, nanoseconds) = (-seconds, -nanoseconds - (hasMore ? 1 : 0))
            if nanoseconds < 0 { (seconds, nanoseconds) = (seconds - 1, nanoseconds + 1_000_000_000) }
        }
        guard let instant = Instant(seconds: seconds + Instant.secondsBeforeUnix, nanoseconds: nanoseconds) else {
            return nil
        }
        self.init(instant)
        if unit == .referenceSeconds { clockSeconds += 978_307_200 }
        hasMoreThanNanoseconds = hasMore
    }

    /// The whole seconds of a number without its sign, and the nanoseconds after them.
    private static func parts(_ number: JSONNumber, exponent: Int, whole: Int) -> (seconds: Int, nanoseconds: Int) {
        let tens = JSONNumber.powersOfTen
        if number.significantDigits <= 19, exponent >= -9 {
            guard exponent < 0 else { return (Int(number.significand) &* Int(tens[exponent]), 0) }
            let (seconds, rest) = number.significand.quotientAndRemainder(dividingBy: tens[-exponent])
            return (Int(seconds), Int(rest &* tens[9 &+ exponent]))
        }
        func value(_ places: Range<Int>) -> Int {
            places.reduce(0) { value, place in
                guard place >= 0, place < number.significantDigits else { return value * 10 }
                let offset = number.firstDigit + place
                let hasPoint = number.firstDigit < number.point && offset >= number.point
                return value * 10 + Int(number.bytes[offset + (hasPoint ? 1 : 0)] - UInt8(ascii: "0"))
            }
        }
        return (value(0..<max(whole, 0)), value(whole..<whole + 9))
    }

    /// What a number counts.
    enum UnixUnit {
        case seconds
        case milliseconds
        case microseconds
        case nanoseconds
        /// Seconds since 2001.
        case referenceSeconds

        /// How many seconds it is, as a power of ten.
        fileprivate var power: Int {
            switch self {
            case .seconds, .referenceSeconds: 0
            case .milliseconds: -3
            case .microseconds: -6
            case .nanoseconds: -9
            }
        }
    }
}
