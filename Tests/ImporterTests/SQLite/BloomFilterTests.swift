import Importer
import TestSupport
import Testing

@testable import ImportSQLite

struct BloomFilterTests {
    private static func digests(_ count: Int, seed: UInt64) -> [BloomFilter.Digest] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in (random.next(), random.next()) }
    }

    /// What it says is not there is not: else an object would be there twice.
    @Test func knowsAllThatItWasGiven() {
        var filter = BloomFilter(reserving: 0)
        let digests = Self.digests(60_000, seed: 3)
        for digest in digests { filter.insert(digest) }
        #expect(digests.allSatisfy(filter.mayHave))
    }

    @Test func asksForRoomInTime() throws {
        var filter = BloomFilter(reserving: 0)
        var count = 0
        for digest in Self.digests(40_000, seed: 4) where filter.neededCount == nil {
            filter.insert(digest)
            count += 1
        }
        let needed = try #require(filter.neededCount)
        #expect(needed > count && count < 40_000)
        // As it was full, it knows hardly any others.
        #expect(Self.digests(100_000, seed: 5).count(where: filter.mayHave) < 20)
        #expect(BloomFilter(reserving: needed).neededCount == nil)
    }
}
