import Foundation
import ImportModel
import Importer
import Testing

@testable import ImportCommand

/// A store that goes while it is watched is waited for, in whatever moment it goes.
struct ReplacedStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    private var store: String { folder.appending(path: "store.sqlite").path }

    private func importItems(_ range: ClosedRange<Int>) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let source = folder.appending(path: "items.ndjson")
        try range.map { "{\"id\": \($0)}\n" }.joined().write(to: source, atomically: true, encoding: .utf8)
        let model =
            "{\"entities\": {\"item\": {\"identifier\": [\"id\"], \"attributes\": {\"id\": {\"type\": \"integer64\"}}}}}"
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        _ = try ImportPipeline(sources: [source.path], into: store, job: options, run: RunOptions()).run()
    }

    private func readsNothing(_ watch: inout RecordWatch) throws {
        for (limit, sort) in [(5, []), (7, []), (5, [RecordSort("id")])] {
            #expect(try watch.read(WatchedRecords.Request(entity: "item", sort: sort, limit: limit)) == nil)
        }
    }

    @Test func readsNothingOfAStoreThatIsGoneOrAnother() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try importItems(1...10)
        let reader = try StoreReader(store: store)
        var watches = [RecordWatch(reader), RecordWatch(reader), RecordWatch(reader)]
        // The first has been reading, the others have not begun.
        let request = WatchedRecords.Request(entity: "item", limit: 5)
        #expect(try watches[0].read(request)?.records.map(\.rowID) == [10, 9, 8, 7, 6])
        try FileManager.default.removeItem(at: folder)
        try readsNothing(&watches[0])
        try readsNothing(&watches[1])
        try importItems(11...12)
        try readsNothing(&watches[0])
        try readsNothing(&watches[2])
        var anew = RecordWatch(try StoreReader(store: store))
        #expect(try anew.read(request)?.records.map(\.rowID) == [12, 11])
    }
}
