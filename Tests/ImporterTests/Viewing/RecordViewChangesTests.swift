import TestSupport
import Testing

@testable import Importer

struct RecordViewChangesTests {
    /// Sections with some of the names, and some of the records, in any order.
    private func snapshot(_ random: inout SeededGenerator, names: [Record.Value?]) -> RecordViewSnapshot {
        var records = (1...Int64.random(in: 1...12, using: &random)).shuffled(using: &random).filter { _ in
            Int.random(in: 0..<3, using: &random) > 0
        }
        var sections: [RecordViewSnapshot.Section] = []
        for name in names.shuffled(using: &random).prefix(Int.random(in: 0...names.count, using: &random)) {
            let count = Int.random(in: 1...4, using: &random)
            guard !records.isEmpty else { break }
            let content = records.prefix(count).map {
                Record(rowID: $0, values: [.integer(Int64.random(in: 0...2, using: &random))])
            }
            records.removeFirst(content.count)
            sections.append(RecordViewSnapshot.Section(name: name, records: content))
        }
        return RecordViewSnapshot(
            sections: sections,
            offset: Int.random(in: 0...5, using: &random),
            total: Int.random(in: 0...50, using: &random)
        )
    }

    /// Names that are the same for `String`, and some that are twice the same.
    private static let names: [Record.Value?] = [
        .text("a"), .text("b"), .text("\u{e9}"), .text("e\u{301}"), .integer(1), .real(1), .null, nil, .text("a"),
    ]

    @Test func makesTheOldSnapshotTheNewOne() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<5_000 {
            let old = snapshot(&random, names: Self.names)
            let new = snapshot(&random, names: Self.names)
            let changes = RecordViewChanges(from: old, to: new)
            try #require(old.applying(changes) == new, "\(old) \(new) \(changes)")
        }
    }

    /// Every record of either snapshot is named once, or is the same and in the same order as all others that are.
    @Test func namesEachRecordOnceAndByItsPlace() throws {
        var random = SeededGenerator(seed: 6)
        for _ in 0..<5_000 {
            let old = snapshot(&random, names: Array(Self.names.prefix(3)))
            let new = snapshot(&random, names: Array(Self.names.prefix(3)))
            let changes = RecordViewChanges(from: old, to: new)
            let (before, after) = (Set(old.records.map(\.rowID)), Set(new.records.map(\.rowID)))
            let (deleted, inserted) = (
                Set(changes.deletions.compactMap { old[$0]?.rowID }), Set(changes.insertions.map(\.record.rowID))
            )
            #expect(deleted.subtracting(inserted) == before.subtracting(after))
            #expect(inserted.subtracting(deleted) == after.subtracting(before))
            // Only what a table on a screen cannot move goes and comes.
            let come = Set(changes.insertedSections.map(\.index))
            let gone = Set(changes.deletedSections)
            for insertion in changes.insertions where deleted.contains(insertion.record.rowID) {
                let source = changes.deletions.first { old[$0]?.rowID == insertion.record.rowID }
                #expect(come.contains(insertion.path.section) || source.map { gone.contains($0.section) } == true)
            }
            #expect(!changes.moves.contains { gone.contains($0.source.section) || come.contains($0.target.section) })
            #expect(changes.insertions.allSatisfy { new[$0.path] == $0.record })
            for move in changes.moves {
                #expect(old[move.source]?.rowID == move.record.rowID && new[move.target] == move.record)
                #expect(move.isUpdated == (old[move.source] != move.record))
            }
            for update in changes.updates {
                #expect(old[update.path]?.rowID == update.record.rowID && old[update.path] != update.record)
            }
            #expect(changes.deletions == changes.deletions.sorted())
            #expect(changes.insertions.map(\.path) == changes.insertions.map(\.path).sorted())
            #expect(changes.moves.map(\.target) == changes.moves.map(\.target).sorted())
            // Nobody who stays passes another one who stays.
            let moved = Set(changes.moves.map(\.record.rowID))
            let staying = before.intersection(after).subtracting(moved).subtracting(deleted)
            #expect(
                old.records.map(\.rowID).filter(staying.contains) == new.records.map(\.rowID).filter(staying.contains)
            )
        }
    }

    /// One record that goes to the other end is one move, not as many as there are others.
    @Test func movesAsFewRecordsAsPossible() {
        func snapshot(_ ids: [Int64]) -> RecordViewSnapshot {
            let records = ids.map { Record(rowID: $0, values: []) }
            return RecordViewSnapshot(sections: [RecordViewSnapshot.Section(name: nil, records: records)])
        }
        let changes = RecordViewChanges(from: snapshot([1, 2, 3, 4, 5]), to: snapshot([2, 3, 4, 5, 1]))
        #expect(changes.moves.map(\.source) == [RecordIndexPath(section: 0, row: 0)])
        #expect(changes.moves.map(\.target) == [RecordIndexPath(section: 0, row: 4)])
        #expect(changes.deletions.isEmpty && changes.insertions.isEmpty && changes.updates.isEmpty)
        #expect(RecordViewChanges(from: snapshot([1, 2]), to: snapshot([1, 2])).isEmpty)
    }

    @Test func findsTheLongestIncrease() {
        var random = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let values = (0..<Int.random(in: 0...9, using: &random)).map { _ in Int.random(in: 0...9, using: &random) }
            let found = RecordViewChanges.longestIncrease(values).map { values[$0] }
            #expect(zip(found, found.dropFirst()).allSatisfy { $0 < $1 })
            // Each part of the list that there is.
            let longest = (0..<1 << values.count).map { mask -> Int in
                let part = values.indices.filter { mask & 1 << $0 != 0 }.map { values[$0] }
                return zip(part, part.dropFirst()).allSatisfy { $0 < $1 } ? part.count : 0
            }
            #expect(found.count == longest.max())
        }
    }

    @Test func refusesChangesOfAnotherSnapshot() {
        var random = SeededGenerator(seed: 8)
        for _ in 0..<2_000 {
            let snapshots = (0..<3).map { _ in snapshot(&random, names: Self.names) }
            let changes = RecordViewChanges(from: snapshots[0], to: snapshots[1])
            // Nothing is asked of what comes out, but that something does.
            _ = snapshots[2].applying(changes)
        }
    }
}
