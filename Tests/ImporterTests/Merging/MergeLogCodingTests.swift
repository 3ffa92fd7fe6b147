import Importer
import TestSupport
import Testing

/// What a commit changed survives being written to the store's log, and nothing that is there can do harm.
struct MergeLogCodingTests {
    private let entities = ["a", "b", "c"].map { EntityTotals(entity: $0, table: "t_\($0)") }

    /// Row ids anywhere, in any order.
    private func changes(_ generator: inout SeededGenerator, rows: Int) -> [EntityChanges] {
        entities.enumerated().compactMap { position, totals in
            var change = EntityChanges(entity: totals.entity, table: totals.table, position: position)
            for _ in 0..<rows {
                let rowID =
                    Bool.random(using: &generator)
                    ? Int64.random(in: Int64.min...Int64.max, using: &generator)
                    : [Int64.min, -1, 0, 1, 2, 3, Int64.max].randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: change.insert(rowID)
                case 1: change.update(rowID)
                default: change.delete(rowID)
                }
            }
            change.unchanged = Int64.random(in: -9...9, using: &generator)
            change.rejected = Int64.random(in: 0...Int64.max, using: &generator)
            return change.isEmpty ? nil : change
        }
    }

    @Test func keepsChangesAsTheyAre() {
        var generator = SeededGenerator(seed: 1)
        for rows in 0..<60 {
            let changes = changes(&generator, rows: rows)
            let bytes = MergeLogCoding.encode(changes, within: 1 << 20)
            #expect(MergeLogCoding.changes(bytes, of: entities) == changes)
        }
    }

    @Test func keepsTotalsAsTheyAre() {
        var generator = SeededGenerator(seed: 2)
        let totals = entities.map { entity in
            var entity = entity
            entity.recordsRead = Int64.random(in: 0...Int64.max, using: &generator)
            entity.inserted = Int64.random(in: Int64.min...Int64.max, using: &generator)
            entity.rejected = 5
            entity.rows = -1
            return entity
        }
        #expect(MergeLogCoding.totals(MergeLogCoding.encode(totals), of: entities) == totals)
    }

    /// Scattered rows take bounded space; then the ranges have more in them, and the counts are still exact.
    @Test func keepsScatteredRowsInBoundedSpace() throws {
        var generator = SeededGenerator(seed: 3)
        let changes = changes(&generator, rows: 5_000)
        let bytes = MergeLogCoding.encode(changes, within: 4_096)
        #expect(bytes.count <= 4_096)
        let read = try #require(MergeLogCoding.changes(bytes, of: entities))
        for (change, kept) in zip(changes, read) {
            #expect([kept.inserted, kept.updated, kept.deleted] == [change.inserted, change.updated, change.deleted])
            for range in change.insertedRanges {
                #expect(kept.insertedRanges.contains { $0.contains(range.lowerBound) && $0.contains(range.upperBound) })
            }
        }
    }

    /// Whatever bytes are in the store, reading them ends, and not in a trap.
    @Test func readsAnyBytes() {
        var generator = SeededGenerator(seed: 4)
        for length in 0..<2_000 {
            let bytes = (0..<length % 40).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = MergeLogCoding.changes(bytes, of: entities)
            _ = MergeLogCoding.totals(bytes, of: entities)
        }
        #expect(MergeLogCoding.changes([9], of: entities) == nil)
        #expect(MergeLogCoding.totals([], of: entities) == nil)
    }

    /// Counts that no import makes are not believed.
    @Test func refusesCountsThatCannotBe() {
        typealias Kind = (Int64, [ClosedRange<Int64>])
        func read(_ inserted: Kind, _ updated: Kind, _ deleted: Kind, rejected: Int64 = 1) -> [EntityChanges]? {
            var change = EntityChanges(
                of: entities[0],
                position: 0,
                inserted: inserted,
                updated: updated,
                deleted: deleted
            )
            change.rejected = rejected
            return MergeLogCoding.changes(MergeLogCoding.encode([change], within: 4_096), of: entities)
        }
        let none: Kind = (0, [])
        #expect(read((2, [1...1]), none, none) != nil)
        #expect(read((-1, [1...1]), none, none) == nil)
        #expect(read(none, (.min, [1...1]), none) == nil)
        #expect(read(none, none, (1, [])) == nil)
        #expect(read(none, none, (0, [1...1])) == nil)
        #expect(read(none, none, none, rejected: -1) == nil)
        var totals = entities
        totals[1].updated = -1
        #expect(MergeLogCoding.totals(MergeLogCoding.encode(totals), of: entities) == nil)
    }
}
