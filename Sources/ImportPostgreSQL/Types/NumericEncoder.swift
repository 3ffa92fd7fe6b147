/// Decimals as the server's `numeric_recv` reads them: four numbers of 16 bits, then digits to the base 10,000, each 16
/// bits.
///
/// The first is how many digits follow; then the power of 10,000 of the first of them, the sign, and how many decimal
/// digits after the point are shown (`src/backend/utils/adt/numeric.c`).
enum NumericEncoder {
    /// The most decimal digits after the point (`NUMERIC_DSCALE_MAX`).
    static let mostFraction = 0x3FFF
    /// The largest power of 10,000 (`NUMERIC_WEIGHT_MAX`): 131,072 decimal digits before the point.
    static let largestWeight = 0x7FFF

    /// The most bytes that a decimal of this many bytes of text takes.
    @inline(__always)
    static func mostBytes(_ text: Int) -> Int { 12 &+ text }

    /// True if a server can hold a decimal, in its canonical form.
    static func holds(_ decimal: String) -> Bool {
        var decimal = decimal
        return decimal.withUTF8 { text in
            guard let start = text.baseAddress else { return false }
            return withUnsafeTemporaryAllocation(
                byteCount: mostBytes(text.count) + BinaryFieldEncoder.slack,
                alignment: 8
            ) {
                $0.baseAddress.map { put(start, text.count, at: $0) >= 0 } ?? false
            }
        }
    }

    /// Writes a decimal exactly.
    ///
    /// - Parameters:
    ///   - text: in its canonical form: `0`, `-12.5`, `1E+400`.
    ///   - place: has room for `mostBytes`.
    /// - Returns: how many bytes it takes; -1 where the server cannot hold it, or the text is none.
    @inline(__always)
    static func put(_ text: UnsafeRawPointer, _ count: Int, at place: UnsafeMutableRawPointer) -> Int {
        let bytes = text.assumingMemoryBound(to: UInt8.self)
        var start = 0
        var sign: UInt16 = 0
        if count > 0, bytes[0] == 0x2D {
            sign = 0x4000
            start = 1
        }
        // Where the digits before the point end, where all digits end, and where the exponent is.
        var point = start
        while point < count, bytes[point] &- 0x30 < 10 { point &+= 1 }
        var end = point
        if end < count, bytes[end] == 0x2E {
            end &+= 1
            while end < count, bytes[end] &- 0x30 < 10 { end &+= 1 }
        }
        var exponent = 0
        if end < count {
            guard let written = Self.exponent(bytes, end, count) else { return -1 }
            exponent = written
        }
        guard point > start else { return -1 }
        let fraction = max(0, (end > point ? end &- point &- 1 : 0) &- exponent)
        // Where the first digit is that is not zero.
        var first = start
        while first < end, bytes[first] == 0x30 || first == point { first &+= 1 }
        guard first < end else {
            put(0, 0, 0, 0, at: place)
            return 8
        }
        // How many digits the value has before the point, from that one on; below one there are zeros after the point.
        let whole = (first < point ? point &- first : point &- first &+ 1) &+ exponent
        // The weight is rounded down.
        let weight = (whole &- 1) >> 2
        guard weight <= largestWeight, fraction <= mostFraction else { return -1 }
        var out = place + 8
        var digit: UInt16 = 0
        var missing = whole &- weight &* 4
        var index = first
        while index < end {
            if index != point {
                digit = digit &* 10 &+ UInt16(bytes[index] &- 0x30)
                missing &-= 1
                if missing == 0 {
                    BinaryFieldEncoder.put(digit, at: out)
                    out += 2
                    digit = 0
                    missing = 4
                }
            }
            index &+= 1
        }
        if digit != 0 {
            while missing > 0 {
                digit = digit &* 10
                missing &-= 1
            }
            BinaryFieldEncoder.put(digit, at: out)
            out += 2
        }
        // Zeros at the end are not kept: `strip_var`.
        while out.loadUnaligned(fromByteOffset: -2, as: UInt16.self) == 0 { out -= 2 }
        let size = out - place
        put(UInt16(truncatingIfNeeded: (size &- 8) / 2), Int16(truncatingIfNeeded: weight), sign, fraction, at: place)
        return size
    }

    @inline(__always)
    private static func put(
        _ digits: UInt16,
        _ weight: Int16,
        _ sign: UInt16,
        _ fraction: Int,
        at place: UnsafeMutableRawPointer
    ) {
        BinaryFieldEncoder.put(digits, at: place)
        BinaryFieldEncoder.put(weight, at: place + 2)
        BinaryFieldEncoder.put(sign, at: place + 4)
        BinaryFieldEncoder.put(UInt16(truncatingIfNeeded: fraction), at: place + 6)
    }

    /// Reads `E+400` or `E-80`; nil where it is none, or far beyond what a decimal on a server may have.
    @inline(never)
    private static func exponent(_ bytes: UnsafePointer<UInt8>, _ start: Int, _ count: Int) -> Int? {
        guard bytes[start] == 0x45, start + 2 < count else { return nil }
        let isNegative = bytes[start + 1] == 0x2D
        guard isNegative || bytes[start + 1] == 0x2B else { return nil }
        var value = 0
        for index in start + 2..<count {
            let digit = bytes[index] &- 0x30
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
            // No text is longer than this, so no digits before it bring it back into range.
            guard value < 1 << 40 else { return nil }
        }
        return isNegative ? -value : value
    }
}
