import ImportEngine

/// The order in which differences have their objects: by identifier; null, numbers, texts, blobs, each by value or bytes.
enum IdentifierOrder {
    /// - Returns: below 0, 0 or above 0.
    static func compare(_ one: ObjectReference, _ other: ObjectReference) -> Int {
        for (first, second) in zip(one.values, other.values) {
            let order = compare(first.value, second.value)
            if order != 0 { return order }
        }
        return one.values.count - other.values.count
    }

    static func compare(_ one: StoredValue, _ other: StoredValue) -> Int {
        switch (one, other) {
        case (.integer(let one), .integer(let other)): return one < other ? -1 : one > other ? 1 : 0
        case (.real(let one), .real(let other)):
            if one != other { return one < other ? -1 : 1 }
            return one.sign == other.sign ? 0 : one.sign == .minus ? -1 : 1
        case (.integer(let integer), .real(let real)): return compare(integer, real)
        case (.real(let real), .integer(let integer)): return -compare(integer, real)
        case (.blob(let one), .blob(let other)): return compare(one, other)
        default:
            if let one = one.bytesOfText, let other = other.bytesOfText { return compare(one, other) }
            return rank(one) - rank(other)
        }
    }

    /// An integer comes before the same number as a REAL.
    private static func compare(_ integer: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        return integer > Int64(real.rounded(.down)) ? 1 : -1
    }

    private static func compare(_ one: [UInt8], _ other: [UInt8]) -> Int {
        if one == other { return 0 }
        return one.lexicographicallyPrecedes(other) ? -1 : 1
    }

    private static func rank(_ value: StoredValue) -> Int {
        switch value {
        case .null: 0
        case .integer, .real: 1
        case .text, .textBytes: 2
        case .blob: 3
        }
    }
}
