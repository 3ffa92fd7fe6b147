import Foundation
import TestSupport
import Testing

/// A store is as large as what is in it asks for.
struct StoreSizeTests {
    private func imported(_ text: String) throws -> (pageSize: String, bytes: Int) {
        let directory = try TemporaryDirectory()
        let source = try directory.write(text, to: "t.ndjson")
        let store = directory.path("store.sqlite")
        let result = try runImporter(source, "--into", store)
        try #require(result.ending == .exit(0), "\(result.errorText)")
        let size = try FileManager.default.attributesOfItem(atPath: store)[.size] as? Int
        return (try StoreContent.query(store, "PRAGMA page_size"), try #require(size))
    }

    @Test func aSmallStoreHasSmallPages() throws {
        let (pageSize, bytes) = try imported("{\"a\":1,\"b\":\"x\",\"c\":1.5}\n{\"a\":2,\"b\":\"y\",\"c\":2.5}\n")
        #expect(pageSize == "4096")
        #expect(bytes <= 220_000)
    }

    @Test func aLargeStoreHasLargePages() throws {
        let text = String(repeating: "{\"a\":\"\(String(repeating: "x", count: 1_000))\"}\n", count: 4_200)
        #expect(try imported(text).pageSize == "16384")
    }
}
