extension NumberForm {
    /// Whether the value is smaller than another one, compared digit by digit.
    ///
    /// - Precondition: `fitsDecimal` of both.
    package func isLess(than other: NumberForm) -> Bool {
        if isZero || other.isZero || isNegative != other.isNegative {
            let sign = isZero ? 0 : isNegative ? -1 : 1
            return sign < (other.isZero ? 0 : other.isNegative ? -1 : 1)
        }
        let order = magnitudeOrder(other)
        return isNegative ? order > 0 : order < 0
    }

    /// Below, above or equal to zero as the value without its sign is smaller, larger or equal; neither may be zero.
    private func magnitudeOrder(_ other: NumberForm) -> Int {
        // Where the decimal points stand, counted from the first digits.
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
