import TestSupport
import Testing

@testable import ImportModel

struct JSONNumberTests {
    private func form<Result>(_ text: String, _ body: (JSONNumber) -> Result) -> Result? {
        withView(text) { JSONNumber($0).map(body) }
    }

    private func canonical(_ text: String) -> String? {
        guard case .text(let text) = coerce(text, to: .decimal).outcome else { return nil }
        return text
    }

    @Test func takesJSONNumbersAndNothingElse() {
        for text in ["0", "-0", "10", "0.0", "1.50", "1e5", "1E+05", "1e-0", "-12.340e-10"] {
            #expect(form(text) { _ in true } == true, "\(text)")
        }
        for text in [
            "", "-", "00", "01", "-01", ".5", "5.", "5.e1", "1e", "1e+", "1e1.5", "1 ", " 1", "+1", "1a", "1e5x", "0x1",
        ] {
            #expect(form(text) { _ in true } == nil, "\(text)")
        }
    }

    @Test func tellsIntegersApart() {
        let rows: [(String, isInteger: Bool, fits: Bool, exact: Bool)] = [
            ("0", true, true, true), ("-0.0", true, true, true), ("12", true, true, true), ("1.5", false, false, false),
            ("1.50e1", true, true, true), ("9007199254740992", true, true, true),
            ("9007199254740993", true, true, false),
            ("9007199254740994", true, true, true), ("9223372036854775807", true, true, false),
            ("-9223372036854775808", true, true, true), ("9223372036854775808", true, false, true),
            ("-9223372036854775809", true, false, false), ("1e22", true, false, true), ("1e23", true, false, false),
            ("1e308", true, false, false), ("1e309", true, false, false),
            ("1e99999999999999999999", true, false, false),
            ("36893488147419103232", true, false, true), ("36893488147419103233", true, false, false),
            ("9" + String(repeating: "0", count: 400), true, false, false),
        ]
        for row in rows {
            #expect(form(row.0) { $0.isInteger } == row.isInteger, "\(row.0)")
            #expect(form(row.0) { $0.int64 != nil } == row.fits, "\(row.0)")
            #expect(form(row.0) { $0.isExactlyRepresentableAsDouble } == row.exact, "\(row.0)")
        }
    }

    @Test func knowsEveryPowerOfTwoUpToTheLargestDouble() {
        // 2^n by doubling its digits.
        var digits: [UInt8] = [1]
        for power in 0...1026 {
            let text = String(digits.reversed().map { Character(String($0)) })
            #expect(form(text) { $0.isExactlyRepresentableAsDouble } == (power < 1024), "2^\(power)")
            // One more has too many bits, unless it is small.
            if let last = text.last?.wholeNumberValue {
                let next = String(text.dropLast()) + String(last + 1)
                #expect(form(next) { $0.isExactlyRepresentableAsDouble } == (power < 53), "2^\(power) + 1")
            }
            if power < 1024 { #expect(form(text) { $0.survives(as: $0.double) } == true) }
            var carry: UInt8 = 0
            for index in digits.indices {
                let doubled = digits[index] * 2 + carry
                digits[index] = doubled % 10
                carry = doubled / 10
            }
            if carry > 0 { digits.append(carry) }
        }
    }

    @Test func roundsDoublesAsTheStandardLibraryDoes() {
        var generator = SeededGenerator(seed: 1)
        for (digits, exponent) in [(5, 10), (19, 0), (19, 30), (17, 20), (25, 40), (17, 330), (40, 400), (900, 330)] {
            for _ in 0..<(digits > 100 ? 200 : 4_000) {
                let text = generator.numberText(digits: digits, exponent: exponent)
                #expect(form(text) { $0.double.bitPattern } == Double(text)?.bitPattern, "\(text)")
            }
        }
    }

    @Test func roundsTiesToEven() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<4_000 {
            // An odd integer just halfway between two doubles, and its neighbours.
            let bits = Int.random(in: 1...10, using: &generator)
            let half = UInt64.random(in: 1 << 52..<1 << 53, using: &generator) << UInt64(bits) | 1 << UInt64(bits - 1)
            for value in [half - 1, half, half + 1] {
                #expect(form("\(value)") { $0.double } == Double(value), "\(value)")
                #expect(form("\(value)00e-2") { $0.double } == Double(value), "\(value)")
                #expect(form("\(value)e27") { $0.double } == Double("\(value)e27"), "\(value)")
            }
        }
    }

    @Test func dependsOnDigitsBeyondAnyBuffer() {
        // 2^53 + 1 is a tie; a digit after a thousand zeros decides it.
        let tie = "9007199254740993." + String(repeating: "0", count: 1_000)
        #expect(form(tie) { $0.double } == 9_007_199_254_740_992)
        #expect(form(tie + "1") { $0.double } == 9_007_199_254_740_994)
    }

    @Test func decidesTheLongestTieByItsLastDigit() {
        // Half of the smallest double, 2^-1075, is 5^1075 × 10^-1075: a tie between it and zero, with 752 digits.
        var digits: [UInt8] = [1]
        for _ in 0..<1_075 {
            var carry: UInt8 = 0
            for index in digits.indices {
                let product = digits[index] * 5 + carry
                digits[index] = product % 10
                carry = product / 10
            }
            if carry > 0 { digits.append(carry) }
        }
        let text = String(digits.reversed().map { Character(String($0)) })
        #expect(text.count == 752)
        #expect(form(text + "e-1075") { $0.double } == 0)
        #expect(form(text + "1e-1076") { $0.double } == .leastNonzeroMagnitude)
        #expect(form(text + String(repeating: "0", count: 5_000) + "1e-6076") { $0.double } == .leastNonzeroMagnitude)
    }

    /// What SQLite's shell, C's `%.17g` and `%.25e` write of doubles comes back, and no decimal that lies beside them.
    @Test func takesWhatADoubleIsWithAsManyDigitsAsAreWritten() {
        for text in [
            "0.3000000000000000444", "1.0e+20", "123456789.12345679103", "0.33333333333333331482",
            "9.9999999999999995472e-08", "-6.2553168204702232308e-06", "-2.5000000000000000119e+300",
            "0.10000000000000001", "0.1000000000000000055511151",
            "0.1000000000000000055511151231257827021181583404541015625",
            "1234567890123456.8", "-9007199254740993.0e3",
        ] {
            #expect(form(text) { $0.survives(as: $0.double) } == true, "\(text)")
        }
        for text in [
            "1234567890123456.7800", "12345678901234567.891", "123456789012345680.10", "1e-999",
            "0.100000000000000007", "0.30000000000000004555", "18446744073709551617", "9223372036854775807",
        ] {
            #expect(form(text) { $0.survives(as: $0.double) } == false, "\(text)")
        }
        #expect(form("0.100000001") { $0.survives(as: $0.float) } == true)
        #expect(form("0.100000003") { $0.survives(as: $0.float) } == false)
    }

    @Test func countsDigitsAsLostWhenTheShortestTextOfTheDoubleDiffers() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<20_000 {
            let text = generator.numberText(digits: 20, exponent: 12)
            let double = Double(text) ?? 0
            let isShortest = canonical(double == 0 ? "0" : "\(double)") == canonical(text)
            let isExact = form(text) { $0.isExactlyRepresentableAsDouble } == true
            let digits = form(text) { $0.significantDigits } ?? 0
            let isPrint = digits > 15 && canonical(String(format: "%.\(digits - 1)e", double)) == canonical(text)
            // SQLite's digits are not quite those of the double.
            if 19...20 ~= digits, text.contains("."), !isPrint { continue }
            #expect(form(text) { $0.survives(as: double) } == (isShortest || isExact || isPrint), "\(text)")
        }
    }

    @Test func everyDoubleSurvivesItsOwnText() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<20_000 {
            let double = Double(bitPattern: generator.next())
            guard double.isFinite else { continue }
            let text = "\(double)"
            #expect(form(text) { $0.double.bitPattern } == double.bitPattern, "\(text)")
            #expect(form(text) { $0.survives(as: $0.double) } == true, "\(text)")
            for digits in [17, 18, 19, 20, 21, 25] {
                let text = String(format: "%.\(digits)g", double)
                #expect(form(text) { $0.survives(as: $0.double) } == true, "\(text)")
            }
        }
    }

    /// The digits of `text` written out, without zeros around them.
    private func plain(_ text: String) -> String {
        var mantissa = text.split(whereSeparator: { "eE".contains($0) })
        let exponent = mantissa.count > 1 ? Int(mantissa.removeLast()) ?? 0 : 0
        let isNegative = mantissa[0].hasPrefix("-")
        let parts = mantissa[0].drop { $0 == "-" }.split(separator: ".", omittingEmptySubsequences: false)
        var whole = String(parts[0])
        var fraction = parts.count > 1 ? String(parts[1]) : ""
        for _ in 0..<max(exponent, 0) { whole.append(fraction.isEmpty ? "0" : fraction.removeFirst()) }
        for _ in 0..<max(-exponent, 0) {
            fraction.insert(whole.isEmpty ? "0" : whole.removeLast(), at: fraction.startIndex)
        }
        while whole.hasPrefix("0") { whole.removeFirst() }
        while fraction.hasSuffix("0") { fraction.removeLast() }
        return whole.isEmpty && fraction.isEmpty ? "0" : (isNegative ? "-" : "") + whole + "." + fraction
    }

    @Test func keepsTheValueOfEveryDecimalInItsOneCanonicalForm() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<10_000 {
            let text = generator.numberText(digits: 30, exponent: 80)
            guard let canonical = canonical(text) else {
                Issue.record("\(text) was refused")
                continue
            }
            #expect(plain(canonical) == plain(text), "\(text)")
            #expect(self.canonical(canonical) == canonical, "\(text)")
            // The same value spelled in another way.
            let respelled =
                plain(text) == "0" ? "0.00e5" : spell(text, shift: Int.random(in: -90...90, using: &generator))
            #expect(self.canonical(respelled) == canonical, "\(text) as \(respelled)")
        }
    }

    /// The same value with zeros after its digits and another exponent.
    private func spell(_ text: String, shift: Int) -> String {
        let parts = text.split(whereSeparator: { "eE".contains($0) })
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let mantissa = String(parts[0])
        if let point = mantissa.firstIndex(of: ".") {
            // Take the point out and count it in the exponent.
            let fraction = mantissa.distance(from: point, to: mantissa.endIndex) - 1
            let sign = mantissa.hasPrefix("-") ? "-" : ""
            let digits = mantissa.filter { $0 != "." && $0 != "-" }.drop { $0 == "0" }
            return "\(sign)\(digits).000e\(exponent - fraction)"
        }
        return shift > 0
            ? mantissa + String(repeating: "0", count: shift) + "e\(exponent - shift)" : mantissa + ".0E\(exponent)"
    }

    @Test func writesNoMoreThanAFewBytesForAHugeExponent() {
        #expect(canonical("1e999999999") == "1E+999999999")
        #expect(canonical("-120e-999999999") == "-1.2E-999999997")
    }
}
