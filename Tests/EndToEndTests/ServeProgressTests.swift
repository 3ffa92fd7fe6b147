import Foundation
import TestSupport
import Testing

/// How far each source of an import is, and how many links there are.
struct ServeProgressTests {
    /// The import stops in the second of three sources, and resumes once that is mended.
    @Test func eachSourceHasItsProgress() throws {
        let directory = try TemporaryDirectory()
        let whole = (1...30).map { "{\"n\": \($0)}\n" }.joined()
        let broken = #"[{"n": 31}, {"n": 32}, {"n": x"#
        let files = try ImportFiles(
            [("a.ndjson", Data(whole.utf8)), ("b.json", Data(broken.utf8)), ("c.ndjson", Data(whole.utf8))],
            model: #"{"entities": {"people": {"attributes": {"n": {"type": "integer64"}}}}}"#
        )
        let store = directory.path("people.sqlite")
        let command = files.command(into: store, ["--entity", "people", "--quiet"])
        #expect(try run(command).ending == .exit(65))
        let served = try ServedStore(store)
        let sizes = [whole, broken, whole].map(\.utf8.count)
        func expect(_ states: [String], _ bytes: [Int], _ records: [Int]) throws {
            let list = try #require(try served.json("/api/status")["source_progress"] as? [[String: Any]])
            #expect(list.map { $0["source"] as? String } == files.sources)
            #expect(list.map { $0["state"] as? String } == states)
            #expect(list.map { $0["bytes"] as? Int } == bytes)
            #expect(list.map { $0["records"] as? Int } == records)
        }
        let sound = try #require(broken.range(of: ", {\"n\": x")).lowerBound.utf16Offset(in: broken)
        try expect(["finished", "failed", "waiting"], [sizes[0], sound, 0], [30, 2, 0])
        let event = try EventReader(served.client).next("progress")
        let source = try #require(event.data["source"] as? [String: Int])
        #expect(source == ["index": 1, "bytes": sound, "records": 2])
        let mended = broken.replacing("x", with: "33}]")
        try Data(mended.utf8).write(to: URL(fileURLWithPath: files.sources[1]))
        #expect(try runImporter("resume", store, "--quiet").ending == .exit(0))
        try expect(["finished", "finished", "finished"], [sizes[0], mended.utf8.count, sizes[0]], [30, 3, 30])
        // What a page adds to a count is what the job has inserted since.
        let entities = try #require(try served.json("/api/entities")["entities"] as? [[String: Any]])
        #expect(entities.map { $0["count"] as? Int } == [63])
        #expect(entities.map { $0["imported"] as? [String: Int] } == [["job": 1, "count": 63]])
    }

    @Test func relationshipsHaveTheirCounts() throws {
        let directory = try TemporaryDirectory()
        let model = """
            {"entities": {
                "orders": {"records": "$", "identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                    "relationships": {"customer": {"entity": "customers", "inverse": "orders"},
                        "tags": {"entity": "tags", "toMany": true},
                        "lines": {"entity": "lines", "toMany": true, "deleteRule": "cascade"}}},
                "customers": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"},
                    "name": {"type": "string", "optional": true}},
                    "relationships": {"orders": {"entity": "orders", "toMany": true, "inverse": "customer", "from": []}}},
                "tags": {"identifier": ["word"], "attributes": {"word": {"type": "string"}}},
                "lines": {"attributes": {"sku": {"type": "string"}}}}}
            """
        let records = [
            #"{"id": 1, "customer": {"id": 7, "name": "Ada"}, "tags": [{"word": "a"}, {"word": "b"}], "lines": [{"sku": "s"}]}"#,
            #"{"id": 2, "customer": 7, "tags": [{"word": "a"}], "lines": [{"sku": "t"}, {"sku": "u"}]}"#,
            #"{"id": 3, "customer": 9, "tags": [], "lines": []}"#, #"{"id": 4, "tags": [], "lines": []}"#,
        ]
        let files = try ImportFiles(records: [records], model: model)
        let store = directory.path("orders.sqlite")
        let result = try run(files.command(into: store, ["--quiet"]))
        try #require(result.ending == .exit(0), "\(result.errorText)")
        let entities = try #require(try ServedStore(store).json("/api/entities")["entities"] as? [[String: Any]])
        var counts: [String: [Int?]] = [:]
        for entity in entities {
            for link in try #require(entity["relationships"] as? [[String: Any]]) {
                let name = "\(entity["name"] ?? "").\(link["name"] ?? "")"
                counts[name] = [link["links"] as? Int, link["unresolved"] as? Int]
            }
        }
        let expected = [
            "orders.customer": [3, 1], "orders.tags": [3, 0], "orders.lines": [3, 0], "customers.orders": [3, 0],
        ]
        #expect(counts == expected)
    }
}
