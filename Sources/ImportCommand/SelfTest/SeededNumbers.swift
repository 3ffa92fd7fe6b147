/// Random numbers, the same for the same seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    /// True in `percent` of a hundred cases.
    mutating func chance(_ percent: Int) -> Bool { number(0...99) < percent }

    /// One of `values`, of which there is at least one.
    mutating func one<Value>(of values: [Value]) -> Value { values[number(0...values.count - 1)] }
}
