import ImportModel

/// What a number asks of the type that is to hold it.
enum NumberKind: Equatable {
    /// An integer of 64 bits. `-0` is the integer 0; `-0.0` is no integer.
    case integer(Int64)
    /// A larger integer.
    case bigInteger
    /// Written with a fraction or an exponent, and kept by a double.
    case fraction
    /// Written with a fraction or an exponent, and beyond the range or the digits of doubles.
    case exact
    /// An exponent that not even a decimal holds.
    case wild

    /// Tells the kind of a number as RFC 8259 has it.
    @inline(__always)
    init(_ bytes: ByteView) {
        guard bytes.count <= 18, let value = Self.shortInteger(bytes) else {
            self = Self.slow(bytes)
            return
        }
        self = .integer(value)
    }

    /// The value of at most 18 bytes, if they are an integer: then nothing overflows.
    @inline(__always)
    private static func shortInteger(_ bytes: ByteView) -> Int64? {
        let isNegative = bytes.count > 0 && bytes[0] == UInt8(ascii: "-")
        var index = isNegative ? 1 : 0
        guard index < bytes.count else { return nil }
        var value: Int64 = 0
        while index < bytes.count {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value &* 10 &+ Int64(digit)
            index &+= 1
        }
        return isNegative ? 0 &- value : value
    }

    private static func slow(_ bytes: ByteView) -> NumberKind {
        var hasPoint = false
        var hasExponent = false
        for byte in bytes.buffer {
            if byte == UInt8(ascii: ".") { hasPoint = true }
            if byte | 0x20 == UInt8(ascii: "e") { hasExponent = true }
        }
        // A double keeps 15 digits where there is no exponent.
        if hasPoint, !hasExponent, bytes.count <= 16 { return .fraction }
        // Only bytes that are no number have no form; they do not come here.
        guard let form = JSONNumber(bytes) else { return .bigInteger }
        if !hasPoint, !hasExponent {
            if let value = form.int64 { return .integer(value) }
            return .bigInteger
        }
        guard form.fitsDecimal else { return .wild }
        return form.survives(as: form.double) ? .fraction : .exact
    }
}
