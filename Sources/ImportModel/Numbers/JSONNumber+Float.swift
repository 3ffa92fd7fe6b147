extension JSONNumber {
    /// The float nearest to the value, ties to the even one; infinite if it is too large.
    package var float: Float {
        let double = double
        let float = Float(double)
        guard double.isFinite, Double(float) != double else { return float }
        // The double is a rounded value itself. Rounding it once more goes wrong only where it lies just halfway between
        // two floats and the value beside it does not.
        let other = Double(float) < double ? float.nextUp : float.nextDown
        if float.isFinite, other.isFinite, Double(float) + Double(other) != double * 2 { return float }
        return Float(String(decoding: bytes.buffer, as: UTF8.self)) ?? float
    }

    /// True if a float keeps the value: the shortest decimal that represents `float` is the value as written, or the value
    /// is what the store's REAL says of `float`, or what `float` is with as many digits as are written.
    package func survives(as float: Float) -> Bool {
        if significantDigits == 0 { return true }
        guard float.isFinite, float != 0 else { return false }
        // Up to 6 digits always come back, except close to the smallest floats, which have fewer.
        if significantDigits <= 6, exponent + significantDigits > -30 { return true }
        if significantDigits <= 9 {
            var comparison = ShortestDecimalComparison(form: self)
            float.write(to: &comparison)
            if comparison.isEqual { return true }
        }
        return double == Double(float) && survives(as: Double(float)) || isPrint(of: Double(float))
    }
}
