import Foundation
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportChanges
@testable import ImportEngine

/// Readers, views and followers of a store that is not there yet: empty first, then live.
struct AwaitedStoreTests {
    private struct Item: FetchableObject, Encodable, Hashable {
        static let entityName = "item"
        var id: Int
    }

    private static func items(_ range: Range<Int>) -> [Item] { range.map { Item(id: $0) } }

    @Test func aReaderIsEmptyUntilTheEntityIsThere() async throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let reader = try StoreReader(awaiting: store)
        func checkEmpty() throws {
            #expect(try reader.fetch(Item.self, where: RecordPredicate("id > \(3)")).isEmpty)
            #expect(try reader.fetch("item", sortedBy: [RecordSort("none")]).isEmpty)
            #expect(try reader.count("item") == 0)
            #expect(try reader.one(Item.self, identifier: [1]) == nil)
            #expect(try reader.records(FetchRequest(entity: "item"), attributes: ["id"]).isEmpty)
            var output: [UInt8] = []
            try reader.write(FetchRequest(entity: "item"), as: .ndjson) { output += $0 }
            #expect(output.isEmpty)
            #expect(throws: ImportError.self) { try reader.entity(named: "item") }
        }
        try checkEmpty()
        #expect(try reader.entities.isEmpty)
        #expect(reader.isInPlace)
        // Nothing is made by looking.
        #expect(!FileManager.default.fileExists(atPath: store))
        // A database that no import has written yet.
        try StoreContent.execute(store, "CREATE TABLE own (a)")
        try checkEmpty()
        _ = try await ImportPipeline(records: [["a": 1]], entity: "another", into: store).run()
        try checkEmpty()
        #expect(try reader.entities.map(\.name) == ["another"])
        _ = try await ImportPipeline(records: Self.items(0..<10), entity: "item", into: store).run()
        #expect(try await Item.fetchAll(in: reader, where: RecordPredicate("id > \(3)")) == Self.items(4..<10))
        #expect(try await Item.fetchCount(in: reader) == 10)
        // One that awaits nothing says what is wrong.
        #expect(throws: ImportError.self) { try StoreReader(store: directory.path("none.sqlite")) }
        #expect(throws: ImportError.self) { try StoreReader(store: store).count("none") }
    }

    /// What `onChange` is called in.
    @MainActor private final class Screen {
        var shown = RecordViewSnapshot()
        var calls = 0
    }

    /// A view that is opened before its store follows the import to its end, in the isolation of the caller.
    @MainActor @Test(arguments: [false, true]) func aViewGoesLive(isElsewhere: Bool) async throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let reader = try StoreReader(awaiting: store)
        let request = FetchRequest(entity: "item", sortedBy: [RecordSort("id", ascending: false)], limit: 5)
        let view = try RecordView(request, in: reader)
        #expect(view.snapshot.records.isEmpty)
        #expect(view.snapshot.total == 0)
        #expect(try view.refresh() == nil)
        let text = #"{"entities":{"item":{"attributes":{"id":{"type":"integer64"}}}}}"#
        let pipeline = ImportPipeline(
            records: Self.items(0..<100),
            entity: "item",
            into: store,
            job: JobOptions(model: try ModelDescription(parsing: Array(text.utf8))),
            run: RunOptions(commitEvery: 9)
        )
        let screen = Screen()
        let center = MergeCenter()
        let notifications = isElsewhere ? center.notifications() : pipeline.merges.notifications()
        let follower = try StoreFollower(awaiting: store)
        let elsewhere = isElsewhere ? Task { try await follower.follow(into: center) } : nil
        async let running = pipeline.run()
        try await view.follow(notifications) { update in
            screen.shown = screen.shown.applying(update.changes) ?? update.snapshot
            screen.calls += 1
            if update.snapshot.total == 100 { elsewhere?.cancel() }
        }
        #expect(try await running.report.inserted == 100)
        _ = await elsewhere?.result
        #expect(screen.calls > 0)
        #expect(view.snapshot.total == 100)
        #expect(screen.shown.records.map(\.values) == (95..<100).reversed().map { [.integer($0)] })
        #expect(view.entity.attributes.map(\.name) == ["id"])
    }

    /// A follower that waits for its store misses no commit.
    @Test func aFollowerBeginsWithTheFirstCommit() async throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let follower = try StoreFollower(awaiting: store)
        #expect(try follower.poll() == nil)
        // An import that fails before its first record leaves nothing, and what is made later is the store.
        let broken = try directory.write("nothing", to: "broken.json")
        await #expect(throws: ImportError.self) {
            try await ImportPipeline(sources: [broken], into: store, job: JobOptions(), run: RunOptions()).run()
        }
        #expect(try follower.poll() == nil)
        let run = RunOptions(commitEvery: 2)
        _ = try await ImportPipeline(records: Self.items(0..<10), entity: "item", into: store, run: run).run()
        let merges = try follower.pollAll()
        #expect(merges.rows(of: "item") == Array(1...10))
        #expect(merges.last?.isFinished == true)
        let late = try StoreFollower(awaiting: store)
        #expect(try late.poll() == nil)
        #expect(throws: ImportError.self) { try StoreFollower(store: directory.path("none.sqlite")) }
    }
}
