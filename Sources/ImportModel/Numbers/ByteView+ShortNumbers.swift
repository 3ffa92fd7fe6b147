/// The short way to the numbers that most are; what they leave out is for `JSONNumber`.
extension ByteView {
    /// The value of a text that is an integer of at most 18 bytes, which 64 bits hold; nil for all others.
    ///
    /// Nil for a zero with a minus as well, which the value does not have.
    package var shortInteger: Int64? {
        guard count > 0, count <= 18 else { return nil }
        let isNegative = self[0] == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        guard start < count else { return nil }
        var value: Int64 = 0
        for index in start..<count {
            let digit = self[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int64(digit)
        }
        guard isNegative else { return value }
        return value == 0 ? nil : -value
    }

    /// The value of a number (RFC 8259 §6) without an exponent and with at most 15 digits; nil for all others.
    ///
    /// A double loses nothing of it. As `JSONNumber.double` does, it divides two numbers that are exact. Nil for a zero with
    /// a minus as well, which a store does not keep.
    package var shortDecimal: Double? {
        // A sign, 15 digits and a point.
        guard count > 0, count <= 17 else { return nil }
        let start = self[0] == UInt8(ascii: "-") ? 1 : 0
        var index = start
        var digits: UInt64 = 0
        while index < count, self[index] &- UInt8(ascii: "0") < 10 {
            digits = digits &* 10 &+ UInt64(self[index] &- UInt8(ascii: "0"))
            index &+= 1
        }
        guard index > start, index == start &+ 1 || self[start] != UInt8(ascii: "0") else { return nil }
        var fraction = 0
        if index < count {
            guard self[index] == UInt8(ascii: ".") else { return nil }
            let point = index
            index &+= 1
            while index < count, self[index] &- UInt8(ascii: "0") < 10 {
                digits = digits &* 10 &+ UInt64(self[index] &- UInt8(ascii: "0"))
                index &+= 1
            }
            fraction = index &- point &- 1
            guard index == count, fraction > 0 else { return nil }
        }
        guard count &- start &- (fraction > 0 ? 1 : 0) <= 15 else { return nil }
        let magnitude = Double(digits) / JSONNumber.exactPowersOfTen[fraction]
        guard start == 1 else { return magnitude }
        return digits == 0 ? nil : -magnitude
    }
}
