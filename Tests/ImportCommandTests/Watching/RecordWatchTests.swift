import Foundation
import ImportModel
import Importer
import Testing

@testable import ImportCommand

struct RecordWatchTests {
    /// A store that grows by imports, in a folder that goes with it.
    private final class GrowingStore {
        let path: String
        private let folder: URL

        init() throws {
            folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            path = folder.appending(path: "store.sqlite").path
        }

        deinit {
            try? FileManager.default.removeItem(at: folder)
        }

        func take(_ records: [(id: Int, name: String)]) throws {
            let source = folder.appending(path: "\(UUID().uuidString).ndjson")
            let text = records.map { "{\"id\": \($0.id), \"name\": \"\($0.name)\"}\n" }.joined()
            try text.write(to: source, atomically: true, encoding: .utf8)
            let model = """
                {"entities": {"item": {"identifier": ["id"], "attributes": {
                    "id": {"type": "integer64"}, "name": {"type": "string"}}}}}
                """
            let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
            _ = try ImportPipeline(sources: [source.path], into: path, job: options, run: RunOptions()).run()
        }
    }

    private func ids(_ records: WatchedRecords?) -> [Int64] { records?.records.map(\.rowID) ?? [] }

    @Test func readsTheNewestFirstAndMarksWhatCommitsHaveDone() throws {
        let store = try GrowingStore()
        try store.take((1...20).map { ($0, "a") })
        var watch = RecordWatch(try StoreReader(store: store.path))
        var request = WatchedRecords.Request(entity: "item", limit: 5)
        let first = try watch.read(request)
        #expect(ids(first) == [20, 19, 18, 17, 16])
        #expect(first?.total == 20 && first?.new == [] && first?.changed == [])
        #expect(first?.attributes.map(\.name) == ["id", "name"])
        #expect(try watch.read(request) == nil)

        // Two come, of the window one is changed; another one is changed where nobody looks.
        try store.take([(21, "b"), (19, "b"), (3, "b"), (22, "b")])
        let second = try watch.read(request)
        #expect(ids(second) == [22, 21, 20, 19, 18])
        #expect(second?.total == 22 && second?.new == [21, 22] && second?.changed == [19])

        // What comes into sight by paging is neither.
        request.offset = 3
        let third = try watch.read(request)
        #expect(ids(third) == [19, 18, 17, 16, 15])
        #expect(third?.new == [] && third?.changed == [])
        request.limit = 2
        #expect(ids(try watch.read(request)) == [19, 18])
        #expect(try watch.read(request) == nil)
    }

    /// Each look takes in the commits of one job, but reads what the store has: those of the next one too.
    @Test func marksWhatCameAheadOfItsNotification() throws {
        let store = try GrowingStore()
        try store.take((1...9).map { ($0, "a") })
        var watch = RecordWatch(try StoreReader(store: store.path))
        let request = WatchedRecords.Request(entity: "item", limit: 4)
        _ = try watch.read(request)
        try store.take([(10, "b")])
        try store.take([(11, "b")])
        let first = try watch.read(request)
        #expect(ids(first) == [11, 10, 9, 8])
        #expect(first?.new == [10] && first?.changed == [])
        let second = try watch.read(request)
        #expect(ids(second) == [11, 10, 9, 8])
        #expect(second?.new == [11] && second?.changed == [])
        #expect(try watch.read(request) == nil)
    }

    @Test func readsAnewInAnotherOrder() throws {
        let store = try GrowingStore()
        try store.take((1...9).map { ($0, $0 % 2 == 0 ? "A" : "a") })
        var watch = RecordWatch(try StoreReader(store: store.path))
        var request = WatchedRecords.Request(entity: "item", limit: 4)
        _ = try watch.read(request)
        request.sort = [RecordSort("name"), RecordSort("id", ascending: false)]
        #expect(ids(try watch.read(request)) == [8, 6, 4, 2])
        request.sort[0].collation = .nocase
        #expect(ids(try watch.read(request)) == [9, 8, 7, 6])
        // A change of what is sorted by brings a record to the window.
        try store.take([(1, "0")])
        let moved = try watch.read(request)
        #expect(ids(moved) == [1, 9, 8, 7])
        #expect(moved?.new == [] && moved?.changed == [1])
        request.sort = [RecordSort("age")]
        #expect { try watch.read(request) } throws: { ($0 as? ImportError)?.code == .usage }
        // While an entity has no table there is nothing to read.
        request = WatchedRecords.Request(entity: "other", limit: 4)
        #expect(try watch.read(request) == nil)
    }
}
