import Foundation
import TestSupport
import Testing

/// Tables with as many columns as SQLite allows are compared, patched, undone, merged and fetched as others.
struct WideTableTests {
    /// A table of 2,000 columns with rows of these, and another value here and there.
    private static func table(_ key: String, _ rows: [String: [Int: String]], _ end: String = "") -> String {
        let columns = (0..<1_999).map { "c\($0) TEXT" }.joined(separator: ", ")
        let insertions = rows.sorted { $0.key < $1.key }.map { id, cells in
            let values = (0..<1_999).map { "'\(cells[$0] ?? "v\($0)")'" }.joined(separator: ",")
            return "INSERT INTO wide VALUES ('\(id)', \(values));"
        }
        return "CREATE TABLE wide (\(key), \(columns))\(end);" + insertions.joined()
    }

    @Test(arguments: [
        ["id INTEGER PRIMARY KEY", ""], ["id TEXT PRIMARY KEY NOT NULL", ""],
        ["id TEXT PRIMARY KEY NOT NULL", "WITHOUT ROWID"],
    ])
    func areComparedPatchedUndoneAndMerged(_ shape: [String]) throws {
        let stores = try PatchedStore()
        func make(_ name: String, _ rows: [String: [Int: String]]) throws {
            try stores.make(name, Self.table(shape[0], rows, shape[1]))
        }
        try make("a.db", ["1": [:], "2": [:], "3": [:]])
        try make("b.db", ["1": [:], "2": [0: "other", 1_998: "last"], "4": [7: "new"]])
        try make("ours.db", ["1": [:], "2": [500: "ours"], "3": [:]])
        try make("merged.db", ["1": [:], "2": [0: "other", 500: "ours", 1_998: "last"], "4": [7: "new"]])
        func content(_ name: String) throws -> String {
            let columns = (0..<1_999).map { "quote(c\($0))" }
            let groups = stride(from: 0, to: 1_999, by: 50).map {
                columns[$0..<min($0 + 50, 1_999)].joined(separator: " || ")
            }
            return try StoreContent.query(
                stores.directory.path(name),
                "SELECT id, \(groups.joined(separator: ", ")) FROM wide ORDER BY id"
            )
        }
        try stores.diff()
        #expect(try stores.patch().ending == .exit(0))
        #expect(try content("s.db") == content("b.db"))
        let undone = try stores.undo()
        #expect(undone.ending == .exit(0), "\(undone.errorText)")
        #expect(try content("s.db") == content("a.db"))
        let ours = stores.directory.path("ours.db")
        let merge = try run([
            Project.importer, "merge", stores.directory.path("a.db"), ours, stores.directory.path("b.db"), "--into",
            ours,
            "--quiet",
        ])
        #expect(merge.ending == .exit(0), "\(merge.errorText)")
        #expect(try content("ours.db") == content("merged.db"))
    }

    /// Objects of 2,000 columns are nested in others, and others in them.
    @Test func areFetchedWithWhatTheyAreRelatedTo() throws {
        let attributes = (0..<1_999).map { "\"c\($0)\": {\"type\": \"string\"}" }.joined(separator: ", ")
        let back = #""toMany": true, "from": []"#
        let model = """
            {"entities": {
                "wide": {"records": "$", "identifier": ["c0"], "attributes": {\(attributes)}, "relationships": {
                    "owner": {"entity": "owner", "inverse": "wides"},
                    "tags": {"entity": "tag", "toMany": true, "inverse": "wides"}}},
                "owner": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                    "relationships": {"wides": {"entity": "wide", "inverse": "owner", \(back)}}},
                "tag": {"identifier": ["word"], "attributes": {"word": {"type": "string"}},
                    "relationships": {"wides": {"entity": "wide", "inverse": "tags", \(back)}}}}}
            """
        func object(_ row: Int) -> [String: Any] {
            Dictionary(uniqueKeysWithValues: (0..<1_999).map { ("c\($0)", "\(row) \($0)") })
        }
        let records = try (0..<3).map { row in
            let links: [String: Any] = ["owner": ["id": row % 2], "tags": [["word": "a"], ["word": "t\(row)"]]]
            let record = object(row).merging(links) { $1 }
            return String(decoding: try JSONSerialization.data(withJSONObject: record), as: UTF8.self)
        }
        let files = try ImportFiles(records: [records], model: model)
        let result = try run(files.command(into: "wide.sqlite", ["--quiet"]))
        try #require(result.ending == .exit(0), "\(result.errorText)")
        func fetch(_ entity: String, _ path: String) throws -> [NSDictionary] {
            let store = files.directory.path("wide.sqlite")
            let result = try runImporter("fetch", store, entity, "--include", path, "--json")
            #expect(result.ending == .exit(0), "\(path): \(result.errorText)")
            return try #require(try JSONSerialization.jsonObject(with: result.output) as? [NSDictionary])
        }
        func wides(_ rows: [Int], with more: (Int) -> [String: Any] = { _ in [:] }) -> [[String: Any]] {
            rows.map { object($0).merging(more($0)) { $1 } }
        }
        let tags: (Int) -> [String: Any] = { ["tags": [["word": "a"], ["word": "t\($0)"]]] }
        let owner: (Int) -> [String: Any] = { ["owner": ["id": $0 % 2]] }
        #expect(
            try fetch("owner", "wides.tags") == [
                ["id": 0, "wides": wides([0, 2], with: tags)], ["id": 1, "wides": wides([1], with: tags)],
            ]
        )
        let tagged = try fetch("tag", "wides.owner").first { $0["word"] as? String == "a" }
        #expect(tagged == ["word": "a", "wides": wides([0, 1, 2], with: owner)])
        // The same entity twice, one within the other.
        let nested = try fetch("tag", "wides.owner.wides").first { $0["word"] as? String == "t1" }
        #expect(nested == ["word": "t1", "wides": wides([1]) { _ in ["owner": ["id": 1, "wides": wides([1])]] }])
    }

    @Test func rowsWithoutAnythingUniqueAreFoundByAllOfTheirColumns() throws {
        let stores = try PatchedStore()
        let columns = (0..<400).map { "c\($0)" }.joined(separator: ", ")
        let values = (0..<400).map(String.init).joined(separator: ",")
        try stores.make(
            "a.db",
            "CREATE TABLE wide (id, \(columns)); INSERT INTO wide VALUES (1, \(values)), (2, \(values))"
        )
        try stores.make(
            "b.db",
            "CREATE TABLE wide (id, \(columns)); INSERT INTO wide VALUES (1, \(values)), (3, \(values))"
        )
        try stores.diff("--identifier", "wide:id")
        let before = try stores.digest
        let patched = try stores.patch("--identifier", "wide:id")
        #expect(patched.ending == .exit(0), "\(patched.errorText)")
        // As after VACUUM, rows have other row ids.
        try stores.make("s.db", "UPDATE wide SET rowid = rowid + 10")
        let undone = try stores.undo()
        #expect(undone.ending == .exit(0), "\(undone.errorText)")
        #expect(try stores.rows("SELECT group_concat(id) FROM (SELECT id FROM wide ORDER BY id)") == "1,2")
        #expect(try before != stores.digest)
    }
}
