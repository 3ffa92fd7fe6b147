extension JSONNumber {
    /// How many zeros the plain notation of a decimal may add to its digits.
    ///
    /// More are written as an exponent, so that `1e999999999` takes eleven bytes and not a gigabyte.
    package static let mostPlainZeros = 40

    /// The canonical text of the exact value: equal values have equal texts.
    ///
    /// Plain notation without leading or trailing zeros and without a sign on zero: `0`, `-12.5`, `0.001`. Where that
    /// needs more than 40 zeros before the first or after the last digit, one digit before the point and an exponent:
    /// `1E+400`, `-1.25E-80`.
    ///
    /// - Parameter scratch: gets the text if it is not the text as written.
    /// - Returns: where the text is.
    /// - Precondition: `fitsDecimal`; otherwise the exponent is not the value's.
    package func canonicalDecimal(scratch: inout [UInt8]) -> CoercedValue {
        if isCanonicalDecimal { return .verbatim(bytes) }
        let start = scratch.count
        guard significantDigits > 0 else {
            scratch.append(UInt8(ascii: "0"))
            return .scratch(start..<scratch.count)
        }
        if isNegative { scratch.append(UInt8(ascii: "-")) }
        // How many digits precede the point.
        let whole = significantDigits + exponent
        if exponent >= 0, exponent <= Self.mostPlainZeros {
            appendDigits(0..<significantDigits, to: &scratch)
            appendZeros(exponent, to: &scratch)
        } else if exponent < 0, whole > 0 {
            appendDigits(0..<whole, to: &scratch)
            scratch.append(UInt8(ascii: "."))
            appendDigits(whole..<significantDigits, to: &scratch)
        } else if exponent < 0, -whole <= Self.mostPlainZeros {
            scratch.append(UInt8(ascii: "0"))
            scratch.append(UInt8(ascii: "."))
            appendZeros(-whole, to: &scratch)
            appendDigits(0..<significantDigits, to: &scratch)
        } else {
            appendDigits(0..<1, to: &scratch)
            if significantDigits > 1 {
                scratch.append(UInt8(ascii: "."))
                appendDigits(1..<significantDigits, to: &scratch)
            }
            scratch.append(UInt8(ascii: "E"))
            if whole > 0 { scratch.append(UInt8(ascii: "+")) }
            scratch.append(contentsOf: String(whole - 1).utf8)
        }
        return .scratch(start..<scratch.count)
    }

    /// True if the text as written is the canonical one.
    ///
    /// Canonical texts with an exponent are rewritten.
    private var isCanonicalDecimal: Bool {
        guard mantissaEnd == bytes.count else { return false }
        if significantDigits == 0 { return bytes.count == 1 }
        if point == mantissaEnd { return exponent <= Self.mostPlainZeros }
        return bytes[mantissaEnd &- 1] != UInt8(ascii: "0") && -(significantDigits + exponent) <= Self.mostPlainZeros
    }

    private func appendZeros(_ count: Int, to output: inout [UInt8]) {
        output.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: count))
    }
}
