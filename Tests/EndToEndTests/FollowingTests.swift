import Foundation
import Importer
import TestSupport
import Testing

/// A process that follows the import of another one sees each row that comes once, whatever happens to either.
struct FollowingTests {
    private static let options = ["--commit-every", "20", "--chunk-size", "40K"]
    private static let count = 8_000

    /// Follows a store as a process does that may be killed at any time: it keeps its position, and nothing else.
    private final class Follower {
        private(set) var merges: [MergeNotification] = []
        private var kept: Data
        private let store: String

        init(_ store: String, from position: StorePosition = .start) throws {
            self.store = store
            kept = try JSONEncoder().encode(position)
        }

        /// All that there is now.
        func catchUp() throws {
            let position = try JSONDecoder().decode(StorePosition.self, from: kept)
            let follower = try StoreFollower(store: store, from: position)
            while let merge = try follower.poll() { merges.append(merge) }
            kept = try JSONEncoder().encode(follower.position)
        }

        var rows: [Int64] {
            let changes = merges.flatMap(\.changes)
            let deleted = Set(changes.flatMap(\.deletedRanges).joined())
            return changes.flatMap(\.insertedRanges).flatMap { Array($0) }.filter { !deleted.contains($0) }
        }
    }

    private func rowIDs(_ store: String, _ table: String = "person") throws -> [Int64] {
        try StoreContent.query(store, "SELECT rowid FROM \(table) ORDER BY rowid").split(separator: "\n").compactMap {
            Int64($0)
        }
    }

    /// Killed at any moment and resumed, an import tells every row once.
    @Test(arguments: [1, 2]) func missesNothingOverCrashes(seed: Int) throws {
        let files = try ImportJob.withModel(count: Self.count)[0].files()
        let store = files.directory.path("store.sqlite")
        let command = files.command(into: "store.sqlite", Self.options)
        var generator = SeededGenerator(seed: UInt64(seed))
        var follower: Follower?
        for _ in 0..<4 {
            let child = try InterruptionTests.progressed(command, in: store, &generator)
            if follower == nil { follower = try Follower(store) }
            // Before the kill on some rounds only: on the others several runs are caught up with at once.
            if generator.next(2) == 0 { try follower?.catchUp() }
            child.signal(SIGKILL)
            #expect(child.wait().ending == .signal(SIGKILL), "the import was too short to be killed")
        }
        #expect(try TestSupport.run(command).ending == .exit(0))
        let all = try #require(follower)
        try all.catchUp()
        #expect(all.merges.allSatisfy { !$0.needsRefresh })
        #expect(all.merges.last?.isFinished == true)
        #expect(try all.rows == rowIDs(store))
        #expect(try all.merges.last?.totals.map(\.rows) == [Int64(StoreContent.rowCount(store))])
        #expect(all.merges.last?.totals.map(\.recordsRead) == [Int64(Self.count)])
    }

    /// What is told is in the store by then, and what is not told is not: an import that is stopped shows it.
    @Test func tellsWhatIsInTheStore() throws {
        let files = try ImportJob.withModel(count: Self.count)[0].files()
        let store = files.directory.path("store.sqlite")
        let command = files.command(into: "store.sqlite", Self.options)
        let program = try SteppedProgram(command, every: 97, below: files.directory.path)
        #expect(try program.step(untilRows: 20, in: store))
        let follower = try Follower(store)
        for _ in 0..<5 {
            try follower.catchUp()
            #expect(try follower.rows == rowIDs(store))
            #expect(follower.merges.last?.totals.map(\.rows) == [Int64(follower.rows.count)])
            try #require(program.step(), "the import was too short to be stopped")
        }
        let child = program.released()
        child.resume()
        #expect(child.wait().ending == .exit(0))
        try follower.catchUp()
        #expect(try follower.rows == rowIDs(store))
    }

    /// One that opened a store before the import, one in the middle and one afterwards come to the same.
    @Test func isTheSameWheneverOneBegins() throws {
        let files = try ImportJob.withModel(count: Self.count)[2].files()
        let store = files.directory.path("store.sqlite")
        let first = try files.directory.write("[{\"a\":1}]", to: "first.json")
        #expect(try runImporter("import", first, "--into", store).ending == .exit(0))
        let before = try StoreFollower(store: store)
        let start = before.position
        let command = files.command(into: "store.sqlite", Self.options)
        let program = try SteppedProgram(command, every: 97, below: files.directory.path)
        #expect(try program.step(untilRows: 20, in: store))
        let during = try Follower(store, from: start)
        // Not in the store's last moments, in which nobody else may read it.
        for _ in 0..<8 {
            try during.catchUp()
            try #require(program.step(), "the import was too short to be stopped")
        }
        let child = program.released()
        child.resume()
        while child.isRunning { try during.catchUp() }
        #expect(child.wait().ending == .exit(0))
        try during.catchUp()
        let after = try Follower(store, from: start)
        try after.catchUp()
        let late = try #require(try before.poll())
        #expect(late.isFinished && !late.needsRefresh)
        for seen in [during, after] {
            #expect(seen.merges.last?.totals == late.totals)
            #expect(seen.merges.last?.marker == late.marker)
            // A row id that became free may be given again, so what was deleted may be there.
            let stored = try Set(rowIDs(store))
            #expect(stored.isSuperset(of: seen.rows))
            #expect(Set(seen.merges.flatMap(\.changes).flatMap(\.insertedRanges).joined()).isSuperset(of: stored))
            #expect(seen.merges.last?.totals.map(\.rows) == [Int64(stored.count)])
        }
        // What is merged at the end is told too.
        #expect(late.changes.contains { $0.deleted > 0 })
        #expect(after.merges.last?.changes == late.changes)
    }

    /// A restart takes back what was told.
    @Test func isToldOfARestart() throws {
        let files = try ImportJob.withModel(count: Self.count)[0].files()
        let store = files.directory.path("store.sqlite")
        try InterruptionTests.killed(files)
        let follower = try Follower(store)
        try follower.catchUp()
        let anew = try run(files.command(into: "store.sqlite", ["--restart"]))
        #expect(anew.ending == .exit(0), "\(anew.errorText)")
        let before = follower.merges.count
        try follower.catchUp()
        let told = follower.merges.dropFirst(before)
        #expect(told.contains { $0.needsRefresh })
        #expect(try told.last?.totals.map(\.rows) == [Int64(StoreContent.rowCount(store))])
    }

    /// A follower that is open, and one that is in the middle of a look, hold the import up by nothing.
    @Test func holdsNothingUp() async throws {
        let files = try ImportJob.withModel(count: 3_000)[0].files()
        let store = files.directory.path("store.sqlite")
        let first = try files.directory.write("[{\"a\":1}]", to: "first.json")
        #expect(try runImporter("import", first, "--into", store).ending == .exit(0))
        let tasks = try (0..<5).map { _ in
            let follower = try StoreFollower(store: store)
            return Task { () throws -> Int64? in
                for try await merge in follower.notifications where merge.isFinished { return merge.totals.first?.rows }
                return nil
            }
        }
        let result = try run(files.command(into: "store.sqlite", Self.options))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let rows = try Int64(rowIDs(store).count)
        for task in tasks { #expect(try await task.value == rows) }
    }
}
