import Foundation

extension JSONNumber {
    /// The double nearest to the value, ties to the even one; infinite if it is too large.
    ///
    /// It depends on no locale. Up to 19 digits with exponents from -27 to 27 are worked out here and allocate nothing;
    /// the rest is left to the standard library.
    package var double: Double {
        let magnitude = magnitudeAsDouble
        return isNegative ? -magnitude : magnitude
    }

    /// True if the value is within the range of doubles, however many of its digits they hold.
    package var isFiniteAsDouble: Bool { magnitudeAsDouble.isFinite }

    private var magnitudeAsDouble: Double {
        if significantDigits == 0 { return 0 }
        // Where the decimal point is, counted from the first digit.
        let position = exponent + significantDigits
        if position > 309 { return .infinity }
        if position < -325 { return 0 }
        guard significantDigits <= 19, exponent >= -27, exponent <= 27 else { return magnitudeByStandardLibrary }
        // Both are exact as doubles, so that the one operation rounds once (Clinger's fast path).
        if significand <= 1 << 53, exponent >= -22, exponent <= 22 {
            return exponent < 0
                ? Double(significand) / Self.exactPowersOfTen[-exponent]
                : Double(significand) * Self.exactPowersOfTen[exponent]
        }
        return exponent < 0 ? Self.quotient(significand, exponent) : Self.product(significand, exponent)
    }

    /// The double nearest to `significand × 10^exponent`, for exponents from 0 to 27.
    private static func product(_ significand: UInt64, _ exponent: Int) -> Double {
        let (high, low) = significand.multipliedFullWidth(by: powersOfFive[exponent])
        guard high != 0 else { return Double(low) * powerOfTwo(exponent) }
        let shift = high.leadingZeroBitCount
        // Smart shifts: by 64 for a shift of 0, which leaves nothing.
        let bits = high << shift | low >> (64 - shift)
        return rounded(bits, isExact: low << shift == 0, exponent: exponent + 64 - shift)
    }

    /// The double nearest to `significand × 10^exponent`, for exponents from -27 to -1 and a significand that is not 0.
    private static func quotient(_ significand: UInt64, _ exponent: Int) -> Double {
        let power = powersOfFive[-exponent]
        let (up, down) = (significand.leadingZeroBitCount, power.leadingZeroBitCount)
        let dividend = significand << up
        let divisor = power << down
        // Both have their highest bit, so the quotient has at least 63 bits and fits into 64.
        let (bits, remainder) = divisor.dividingFullWidth((dividend >> 1, dividend << 63))
        return rounded(bits, isExact: remainder == 0, exponent: exponent - 63 + down - up)
    }

    /// The double nearest to `bits × 2^exponent`, or to a little more if that is not exact.
    ///
    /// `bits` has one of its two highest bits.
    private static func rounded(_ bits: UInt64, isExact: Bool, exponent: Int) -> Double {
        let shift = 11 - bits.leadingZeroBitCount
        var kept = bits >> UInt64(shift)
        let rest = bits & (1 << UInt64(shift) - 1)
        let half: UInt64 = 1 << UInt64(shift - 1)
        if rest > half || rest == half && (!isExact || kept & 1 == 1) { kept += 1 }
        return Double(kept) * powerOfTwo(exponent + shift)
    }

    /// 2 to a power from -1022 to 1023.
    @inline(__always)
    private static func powerOfTwo(_ exponent: Int) -> Double {
        Double(bitPattern: UInt64(truncatingIfNeeded: 1023 + exponent) << 52)
    }

    /// The rare rest: very long, very large or very small numbers.
    private var magnitudeByStandardLibrary: Double {
        // No point halfway between two doubles has more than 767 digits: of the digits after that, only whether there
        // are any matters, and the last digit of all is not zero.
        let kept = min(significantDigits, 770)
        var text: [UInt8] = []
        text.reserveCapacity(kept + 24)
        appendDigits(0..<kept, to: &text)
        if kept < significantDigits { text.append(UInt8(ascii: "1")) }
        text.append(UInt8(ascii: "e"))
        text.append(contentsOf: String(exponent + significantDigits - text.count + 1).utf8)
        return Double(String(decoding: text, as: UTF8.self)) ?? .nan
    }

    /// True if the value, an integer, is a double: the nearest one is the value itself.
    ///
    /// False for fractions.
    package var isExactlyRepresentableAsDouble: Bool {
        guard exponent >= 0 else { return false }
        if significantDigits == 0 { return true }
        guard exponent + significantDigits <= 309 else { return false }
        guard significantDigits <= 19 else { return isLongIntegerRepresentableAsDouble }
        var odd = significand >> UInt64(significand.trailingZeroBitCount)
        guard odd <= 1 << 53 else { return false }
        for _ in 0..<exponent {
            odd *= 5
            guard odd <= 1 << 53 else { return false }
        }
        return isFiniteAsDouble
    }

    /// The same for more digits than 64 bits hold, at most 309 with the zeros after them.
    private var isLongIntegerRepresentableAsDouble: Bool {
        // 2^1024 has 309 digits: 17 words hold any number of this many.
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 17) { words in
            words.initialize(repeating: 0)
            var offset = firstDigit
            for place in 0..<(significantDigits + exponent) {
                if offset == point { offset += 1 }
                var carry = place < significantDigits ? UInt64(bytes[offset] &- UInt8(ascii: "0")) : 0
                offset += 1
                for index in words.indices {
                    let (high, low) = words[index].multipliedFullWidth(by: 10)
                    let (sum, overflow) = low.addingReportingOverflow(carry)
                    words[index] = sum
                    carry = high + (overflow ? 1 : 0)
                }
            }
            guard let lowest = words.firstIndex(where: { $0 != 0 }), let highest = words.lastIndex(where: { $0 != 0 })
            else { return true }
            let first = lowest * 64 + words[lowest].trailingZeroBitCount
            let last = highest * 64 + 63 - words[highest].leadingZeroBitCount
            return last - first < 53 && last < 1024
        }
    }

    /// True if a double keeps the value: the shortest decimal that represents `double` is the value as written, or the value
    /// is an integer that `double` equals, or what `double` is with as many digits as are written.
    ///
    /// So `0.1` survives, though no double equals it, and `0.30000000000000004441`; `0.12345678901234567891` and `1e-999` do not.
    package func survives(as double: Double) -> Bool {
        if significantDigits == 0 { return true }
        guard double.isFinite, double != 0 else { return false }
        let position = exponent + significantDigits
        // Up to 15 digits always come back, except close to the smallest doubles, which have fewer.
        if significantDigits <= 15, position > -300 { return true }
        if significantDigits <= 17 {
            var comparison = ShortestDecimalComparison(form: self)
            double.write(to: &comparison)
            if comparison.isEqual { return true }
        }
        return isExactlyRepresentableAsDouble || isPrint(of: double)
    }

    /// True if `double`, printed with as many digits as are written, is the value: `%.17g` of C, 20 digits of SQLite's shell.
    ///
    /// SQLite works with a little more than a double has, so that its 20 digits, or 19 and a zero, may be a few units off: one where
    /// it divides and multiplies by no more than 10,000, six where powers of ten are exact, 2^-60 of the value elsewhere, and
    /// 2^-54 from 1e100 on.
    func isPrint(of double: Double) -> Bool {
        guard significantDigits <= 800 else { return false }
        var digits: [UInt8] = []
        appendDigits(0..<significantDigits, to: &digits)
        if printed(double, digits: significantDigits) == digits { return true }
        guard 19...20 ~= significantDigits, point < mantissaEnd, let other = printed(double, digits: 20) else {
            return false
        }
        digits += [UInt8](repeating: UInt8(ascii: "0"), count: 20 - significantDigits)
        let (one, two) = (Self.integer(digits), Self.integer(other))
        let units: UInt128 =
            switch exponent + significantDigits - 1 {
            case -4...0: 1
            case -6...27: 6
            case 100...: one >> 54
            default: one >> 60
            }
        return max(one, two) - min(one, two) <= units
    }

    /// The digits of `double`, as C prints that many; nil where its first digit is at another place than that of the value.
    private func printed(_ double: Double, digits count: Int) -> [UInt8]? {
        var text = [CChar](repeating: 0, count: count + 16)
        _ = withVaList([Int32(count - 1), double.magnitude]) { vsnprintf(&text, text.count, "%.*e", $0) }
        let printed = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        // A digit, the point, the others, and an exponent of that digit.
        let start = count == 1 ? 2 : count + 2
        guard printed.count > start,
            Int(String(decoding: printed[start...], as: UTF8.self)) == exponent + significantDigits - 1
        else { return nil }
        return Array(printed[..<1] + printed[min(2, start - 1)..<start - 1])
    }

    private static func integer(_ digits: some Sequence<UInt8>) -> UInt128 {
        digits.reduce(0) { $0 * 10 + UInt128($1 - UInt8(ascii: "0")) }
    }

    /// 10^0 to 10^22, which doubles hold exactly.
    static let exactPowersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// 5^0 to 5^27, which 64 bits hold.
    private static let powersOfFive: [UInt64] = [
        1, 5, 25, 125, 625, 3_125, 15_625, 78_125, 390_625, 1_953_125, 9_765_625, 48_828_125, 244_140_625,
        1_220_703_125, 6_103_515_625, 30_517_578_125, 152_587_890_625, 762_939_453_125, 3_814_697_265_625,
        19_073_486_328_125, 95_367_431_640_625, 476_837_158_203_125, 2_384_185_791_015_625, 11_920_928_955_078_125,
        59_604_644_775_390_625, 298_023_223_876_953_125, 1_490_116_119_384_765_625, 7_450_580_596_923_828_125,
    ]
}

/// Takes the shortest decimal that represents a double, as the standard library writes it, and compares it with a number.
struct ShortestDecimalComparison: TextOutputStream {
    let form: JSONNumber
    var isEqual = false

    mutating func write(_ string: String) {
        var string = string
        isEqual = string.withUTF8 { isShortest($0) }
    }

    // The standard library calls this one for ASCII, and makes no String for it. `write` does the same should it not.
    mutating func _writeASCII(_ buffer: UnsafeBufferPointer<UInt8>) {
        isEqual = isShortest(buffer)
    }

    private func isShortest(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let shortest = JSONNumber(ByteView(text)) else { return false }
        return shortest.significand == form.significand && shortest.exponent == form.exponent
            && shortest.significantDigits == form.significantDigits
    }
}
