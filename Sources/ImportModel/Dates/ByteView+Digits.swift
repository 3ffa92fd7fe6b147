extension ByteView {
    /// The number that exactly `digits` digits at `index` spell, or nil if other bytes are there.
    @inline(__always)
    func number(at index: Int, digits: Int) -> Int? {
        guard index + digits <= count else { return nil }
        var number = 0
        for offset in index..<index + digits {
            let digit = self[offset] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number &* 10 &+ Int(digit)
        }
        return number
    }

    @inline(__always)
    func has(_ byte: UInt8, at index: Int) -> Bool { index < count && self[index] == byte }
}
