/// Which identifiers the rows of a table have, as far as a few bits of each can tell: what it does not know is not there
/// (Bloom, Space/Time Trade-offs in Hash Coding with Allowable Errors, 1970).
///
/// It takes 16 MB at most. Up to three million identifiers it is wrong about hardly any of them.
package struct BloomFilter {
    /// The digest of an identifier.
    package typealias Digest = (high: UInt64, low: UInt64)

    private static let mostBits = 1 << 27
    private static let fewestBits = 1 << 20
    /// With fewer bits an identifier it is to be made anew.
    private static let leastBitsEach = 32
    private static let probes: UInt64 = 8

    private var words: [UInt64]
    private let mask: UInt64
    private var count = 0
    /// How often an identifier may still be looked for among all rows as it was known.
    var searchesLeft = 32

    /// - Parameter count: how many identifiers it is to have at least.
    package init(reserving count: Int) {
        var bits = Self.fewestBits
        while bits < Self.mostBits, bits / Self.leastBitsEach < 2 * count { bits *= 2 }
        words = Array(repeating: 0, count: bits / 64)
        mask = UInt64(bits - 1)
    }

    /// Whether it is to be made anew, with more room; nil if not.
    var neededCount: Int? {
        let bits = words.count * 64
        return bits < Self.mostBits && count > bits / Self.leastBitsEach ? 2 * count : nil
    }

    /// True if a row may have this identifier.
    func mayHave(_ digest: Digest) -> Bool {
        for probe in 0..<Self.probes {
            let bit = (digest.low &+ probe &* (digest.high | 1)) & mask
            if words[Int(bit >> 6)] & (1 << (bit & 63)) == 0 { return false }
        }
        return true
    }

    package mutating func insert(_ digest: Digest) {
        count += 1
        for probe in 0..<Self.probes {
            let bit = (digest.low &+ probe &* (digest.high | 1)) & mask
            words[Int(bit >> 6)] |= 1 << (bit & 63)
        }
    }
}
