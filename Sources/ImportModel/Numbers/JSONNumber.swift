/// What a JSON number says, worked out from its text without rounding anything.
///
/// Its value is `± digits × 10^exponent`, where the digits are those written from the first to the last that is not
/// zero. So two texts of the same value have the same digits and the same exponent. It borrows the text: it is valid for
/// as long as the bytes are.
package struct JSONNumber {
    package let bytes: ByteView
    package let isNegative: Bool
    /// How many digits there are from the first to the last that is not zero; 0 for zero.
    package let significantDigits: Int
    /// The first 19 of these digits as an integer: all of them unless there are more.
    package let significand: UInt64
    /// The power of ten that the last of these digits counts; 0 for zero.
    ///
    /// It saturates where `fitsDecimal` is false.
    package let exponent: Int
    /// True if the exponent is one that the canonical form of a decimal can hold: below 10^18 as written.
    package let fitsDecimal: Bool

    /// The offset of the first digit that is not zero.
    let firstDigit: Int
    /// The offset of the decimal point, or the end of the digits if there is none.
    let point: Int
    /// The offset just past the digits, where the exponent begins, if there is one.
    let mantissaEnd: Int

    /// Reads a number as RFC 8259 §6 has it; nil if `bytes` are anything else.
    package init?(_ bytes: ByteView) {
        let count = bytes.count
        let isNegative = count > 0 && bytes[0] == UInt8(ascii: "-")
        let start = isNegative ? 1 : 0
        var index = Self.endOfDigits(in: bytes, from: start)
        guard index > start, index == start &+ 1 || bytes[start] != UInt8(ascii: "0") else { return nil }
        let point = index
        if index < count, bytes[index] == UInt8(ascii: ".") {
            index = Self.endOfDigits(in: bytes, from: point &+ 1)
            guard index > point &+ 1 else { return nil }
        }
        let mantissaEnd = index
        guard let (written, isHuge) = Self.exponent(in: bytes, from: mantissaEnd) else { return nil }
        var first = start
        while first < mantissaEnd, bytes[first] == UInt8(ascii: "0") || first == point { first &+= 1 }
        self.bytes = bytes
        self.isNegative = isNegative
        self.point = point
        self.mantissaEnd = mantissaEnd
        firstDigit = first
        guard first < mantissaEnd else {
            significantDigits = 0
            significand = 0
            exponent = 0
            fitsDecimal = true
            return
        }
        var last = mantissaEnd &- 1
        while bytes[last] == UInt8(ascii: "0") || last == point { last &-= 1 }
        let spansPoint = first < point && point < last
        significantDigits = last &- first &+ (spansPoint ? 0 : 1)
        exponent = written + (last < point ? point &- 1 &- last : point &- last)
        fitsDecimal = !isHuge

        var significand: UInt64 = 0
        var left = min(significantDigits, 19)
        var digit = first
        while left > 0 {
            if digit == point { digit &+= 1 }
            significand = significand &* 10 &+ UInt64(bytes[digit] &- UInt8(ascii: "0"))
            digit &+= 1
            left &-= 1
        }
        self.significand = significand
    }

    /// Reads the exponent, which is all that follows the digits; nil if it is not one.
    ///
    /// - Returns: 0 where there is none; and whether it is too large for a decimal.
    @inline(__always)
    private static func exponent(in bytes: ByteView, from start: Int) -> (written: Int, isHuge: Bool)? {
        let count = bytes.count
        guard start < count else { return (0, false) }
        guard bytes[start] | 0x20 == UInt8(ascii: "e") else { return nil }
        var index = start &+ 1
        let isDivisor = index < count && bytes[index] == UInt8(ascii: "-")
        if isDivisor || index < count && bytes[index] == UInt8(ascii: "+") { index &+= 1 }
        guard index < count, endOfDigits(in: bytes, from: index) == count else { return nil }
        var written = 0
        while index < count {
            written = written &* 10 &+ Int(bytes[index] &- UInt8(ascii: "0"))
            if written >= exponentLimit { return (isDivisor ? -exponentLimit : exponentLimit, true) }
            index &+= 1
        }
        return (isDivisor ? -written : written, false)
    }

    /// Written exponents from here on are held as this: no sum with a number of digits overflows.
    static let exponentLimit = 1_000_000_000_000_000_000

    @inline(__always)
    private static func endOfDigits(in bytes: ByteView, from start: Int) -> Int {
        var index = start
        while index < bytes.count, bytes[index] &- UInt8(ascii: "0") < 10 { index &+= 1 }
        return index
    }

    package var isZero: Bool { significantDigits == 0 }

    /// True if it is a zero that is written with a minus.
    var isNegativeZero: Bool { isNegative && isZero }

    /// True if the value has no fraction, however it is written: `3`, `3.0` and `3e2` have none.
    package var isInteger: Bool { exponent >= 0 }

    /// The value, if it is an integer that fits into 64 bits with a sign.
    package var int64: Int64? {
        guard significantDigits <= 19, exponent >= 0, exponent < 19 else { return nil }
        let (magnitude, overflow) = significand.multipliedReportingOverflow(by: Self.powersOfTen[exponent])
        guard !overflow else { return nil }
        if magnitude <= UInt64(Int64.max) { return isNegative ? -Int64(magnitude) : Int64(magnitude) }
        return isNegative && magnitude == Int64.min.magnitude ? Int64.min : nil
    }

    /// The value, if it is an integer that fits into 64 bits without a sign.
    package var uint64: UInt64? {
        guard !isNegative || isZero, exponent >= 0, exponent + significantDigits <= 20 else { return nil }
        var value: UInt64 = 0
        var offset = firstDigit
        for place in 0..<significantDigits + exponent {
            if offset == point { offset += 1 }
            let digit = place < significantDigits ? UInt64(bytes[offset] &- UInt8(ascii: "0")) : 0
            offset += 1
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(digit)
            guard !overflow, !carry else { return nil }
            value = sum
        }
        return value
    }

    /// 10^0 to 10^18.
    static let powersOfTen: [UInt64] = [
        1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000,
        100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000, 1_000_000_000_000_000,
        10_000_000_000_000_000, 100_000_000_000_000_000, 1_000_000_000_000_000_000,
    ]
}
