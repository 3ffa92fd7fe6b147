import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine

/// Whether values repeat, and what is known of it.
struct InferringSampleTests {
    private func sample(_ values: some Sequence<Int>, capacity: Int = 64) -> ValueSample {
        var sample = ValueSample(capacity: capacity)
        for value in values { sample.insert(ByteHash.hash(Int64(value), seed: 1)) }
        return sample
    }

    @Test func fewValuesAreKnownForCertain() {
        #expect(sample(0..<64).summary() == .init(isUnique: true, isComplete: true))
        #expect(sample([1, 2, 3, 1]).summary() == .init(isUnique: false, isComplete: true))
    }

    @Test func manyValuesAreSampled() {
        #expect(sample(0..<10_000).summary() == .init(isUnique: true, isComplete: false))
        #expect(sample((0..<10_000).map { $0 / 2 }).summary() == .init(isUnique: false, isComplete: false))
    }

    @Test func partsMergeIntoTheSampleOfTheWhole() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<200 {
            let count = Int.random(in: 1...400, using: &random)
            let values = (0..<count).map { _ in Int.random(in: 0..<5_000, using: &random) }
            let whole = sample(values, capacity: 16).summary()
            var parts = (0..<4).map { _ in ValueSample(capacity: 16) }
            for value in values.shuffled(using: &random) {
                parts[Int.random(in: 0..<4, using: &random)].insert(ByteHash.hash(Int64(value), seed: 1))
            }
            var merged = ValueSample(capacity: 16)
            for part in parts { merged.merge(part) }
            #expect(merged.summary() == whole)
        }
    }
}
