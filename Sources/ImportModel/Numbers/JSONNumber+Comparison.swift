extension JSONNumber {
    /// True if the value is smaller than another one, compared digit by digit.
    ///
    /// - Precondition: `fitsDecimal` of both.
    package func isLess(than other: JSONNumber) -> Bool {
        if isZero || other.isZero || isNegative != other.isNegative {
            let sign = isZero ? 0 : isNegative ? -1 : 1
            return sign < (other.isZero ? 0 : other.isNegative ? -1 : 1)
        }
        let order = magnitudeOrder(other)
        return isNegative ? order > 0 : order < 0
    }

    /// Where a value is among the integers of 64 bits.
    package enum Int64Position: Equatable {
        /// Less than all of them.
        case belowAll
        case at(Int64)
        /// More than this one, and less than the next, which is one of them too.
        case after(Int64)
        /// More than all of them.
        case aboveAll
    }

    /// Where the value is among the integers of 64 bits, however many digits it has.
    package var integerPlace: Int64Position {
        if isInteger || isZero {
            if let int64 { return .at(int64) }
            return isNegative ? .belowAll : .aboveAll
        }
        // How many digits there are before the point.
        let whole = significantDigits + exponent
        guard whole > 0 else { return .after(isNegative ? -1 : 0) }
        guard whole <= 19 else { return isNegative ? .belowAll : .aboveAll }
        var digits: [UInt8] = []
        appendDigits(0..<whole, to: &digits)
        let magnitude = digits.reduce(0 as UInt64) { $0 &* 10 &+ UInt64($1 &- UInt8(ascii: "0")) }
        if isNegative {
            // The integer below is one further from zero.
            return magnitude < Int64.min.magnitude ? .after(-1 - Int64(magnitude)) : .belowAll
        }
        return magnitude < UInt64(Int64.max) ? .after(Int64(magnitude)) : .aboveAll
    }

    /// Below, above or equal to zero as the value without its sign is smaller, larger or equal; neither may be zero.
    private func magnitudeOrder(_ other: JSONNumber) -> Int {
        // Where the decimal points are, counted from the first digits.
        let position = exponent + significantDigits
        let otherPosition = other.exponent + other.significantDigits
        if position != otherPosition { return position < otherPosition ? -1 : 1 }
        var (offset, otherOffset) = (firstDigit, other.firstDigit)
        for _ in 0..<min(significantDigits, other.significantDigits) {
            if offset == point { offset += 1 }
            if otherOffset == other.point { otherOffset += 1 }
            let (digit, otherDigit) = (bytes[offset], other.bytes[otherOffset])
            if digit != otherDigit { return digit < otherDigit ? -1 : 1 }
            offset += 1
            otherOffset += 1
        }
        return significantDigits - other.significantDigits
    }
}
