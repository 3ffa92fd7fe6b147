import Foundation
import ImportModel
import TestSupport
import Testing

@testable import Importer

/// The pipeline asks a store for nothing but what the boundary says: it imports into one that is no database.
struct DestinationTests {
    private static let records = 900
    private static let model = """
        {"entities": {
          "item": {"records": "$.items[*]", "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "optional": true}}},
          "note": {"records": "$.notes[*]", "attributes": {"text": {"type": "string"}, "at": {"type": "double"}}}}}
        """

    /// Two entities; every tenth item has no sound id.
    private static var text: String {
        let items = (0..<records).map { number in
            let name = number % 3 == 0 ? "" : ",\"name\":\"n\(number)\\u00e9\""
            return "{\"id\":\(number % 10 == 7 ? "\"x\"" : "\(number)")\(name)}"
        }
        let notes = (0..<50).map { "{\"text\":\"t\($0)\",\"at\":\($0).5}" }
        return "{\"items\":[\(items.joined(separator: ","))],\"notes\":[\(notes.joined(separator: ","))]}"
    }

    private static let run = RunOptions(workers: 3, chunkSize: 700, commitEvery: 4)

    private static func job() throws -> JobOptions {
        JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
    }

    /// What SQLite's own shell says that the same import gives.
    private static func expected() throws -> [[String]] {
        let job = try LibraryImport(text)
        _ = try job.pipeline(Self.job(), run).run()
        return try ["item", "note"].map { table in
            try StoreContent.query(job.store, "SELECT * FROM \(table) ORDER BY rowid").split(separator: "\n").map {
                $0.isEmpty ? "NULL" : String($0)
            }
        }
    }

    private static func rows(_ store: MemoryStore) -> [[String]] {
        // `query` prints nothing for a null.
        store.state.withLock { $0.rows.map { $0.map { $0.replacing("|NULL", with: "|") } } }
    }

    @Test func anImportNeedsNoDatabase() throws {
        let files = try LibraryImport(Self.text)
        let store = MemoryStore()
        let outcome = try files.pipeline(Self.job(), Self.run).importAll(into: store)
        #expect(outcome.report.state == .finished)
        #expect(try Self.rows(store) == Self.expected())
        let rejects: [Int64] = store.state.withLock { $0.rejects }
        let expected = stride(from: Int64(8), through: Int64(Self.records), by: 10)
        #expect(rejects == Array(expected))
        #expect(outcome.report.rejected == Int64(Self.records / 10))
        // Nor is anything left of it.
        #expect(try FileManager.default.contentsOfDirectory(atPath: files.directory.path).sorted() == ["item.json"])
    }

    /// A commit that fails leaves a job that continues behind the last one that did not, wherever that was.
    @Test func anImportContinuesWhereItsStoreRefusedACommit() throws {
        let files = try LibraryImport(Self.text)
        let store = MemoryStore()
        var runs = 0
        while store.state.withLock({ $0.job?.state }) != .finished {
            runs += 1
            store.state.withLock { $0.commitsLeft = 17 }
            do {
                _ = try files.pipeline(Self.job(), Self.run).importAll(into: store)
            } catch let error as ImportError {
                #expect(error.code == .io)
                let state = store.state.withLock { $0.job?.state }
                #expect(state == .failed)
            }
            try #require(runs < 100)
        }
        #expect(runs > 5)
        #expect(try Self.rows(store) == Self.expected())
    }
}
