import Foundation
import TestSupport
import Testing

/// `model print` gives back the model that a store holds.
struct ModelPrintTests {
    private static let nights = [
        "{\"id\":1,\"Name\":\"a\",\"at\":{\"city\":\"x\"},\"tags\":[1]}\n{\"id\":2,\"Name\":\"b\",\"at\":{\"city\":\"y\"}}\n",
        "{\"id\":2,\"nick\":\"n\",\"at\":{\"zip\":3}}\n",
        "{\"id\":3.5}\n{\"id\":4,\"Name\":null,\"at\":{\"city\":7}}\n{\"id\":1,\"nick\":5}\n",
    ]

    @Test func isSoundAndImportsOnTheSameWay() throws {
        let directory = try TemporaryDirectory()
        let (store, other) = (directory.path("p.sqlite"), directory.path("other.sqlite"))
        for (index, night) in Self.nights.enumerated() {
            let source = try directory.write(night, to: "\(index).ndjson")
            let options = index == 0 ? ["--identifier", "id"] : []
            for path in [store, other] where path == store || index < 2 {
                let command = [Project.importer, source, "--into", path, "--entity", "p"] + options
                #expect(try run(command).ending == .exit(0))
            }
        }
        let printed = try runImporter("model", "print", other)
        #expect(printed.ending == .exit(0), "\(printed.errorText)")
        #expect(printed.outputText.contains("\"from\": \"at.zip\""), "\(printed.outputText)")
        let model = try directory.write(printed.output, to: "model.json")
        #expect(try runImporter("model", "check", model).outputText == "no mistakes\n")
        let result = try run([
            Project.importer, directory.path("2.ndjson"), "--into", other, "--entity", "p", "--model", model,
        ])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.result(other) == StoreContent.result(store))
    }

    /// What a store holds is no other model, however it came by it.
    @Test(arguments: [[], ["--nested", "tables"], ["--identifier", "id"]])
    func asksForNoMigration(_ options: [String]) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("p.sqlite")
        for (index, night) in Self.nights.prefix(2).enumerated() {
            let lines = night.replacing("\"tags\":[1]", with: "\"tags\":[{\"name\":\"n\"}]")
            let source = try directory.write(lines, to: "\(index).ndjson")
            let result = try run([Project.importer, source, "--into", store, "--entity", "p"] + options)
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
        let printed = try directory.write(try runImporter("model", "print", store).output, to: "model.json")
        let result = try runImporter("migrate", store, "--model", printed, "--dry-run")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.outputText.contains("has this model already"), "\(result.outputText)")
    }

    /// The printed model of entities that relate to and inherit from one another imports on the same way.
    @Test func printsRelationshipsAsTheyWereGiven() throws {
        let directory = try TemporaryDirectory()
        let model = """
            {"entities": {
              "shop": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"things": {"entity": "thing", "toMany": true, "inverse": "shop"},
                  "tags": {"entity": "tag", "toMany": true}}},
              "thing": {"identifier": ["code"], "subentity": {"from": "kind", "values": {"b": "book"}},
                "attributes": {"code": {"type": "string"}},
                "relationships": {"shop": {"entity": "shop", "inverse": "things", "from": []}}},
              "book": {"parent": "thing", "attributes": {"pages": {"type": "integer32", "optional": true}}},
              "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}}}}
            """
        let records = [
            #"{"id": 1, "things": [{"kind": "b", "code": "x", "pages": 3}, {"code": "y"}], "tags": ["a"]}"#,
            #"{"id": 2, "things": [{"kind": "b", "code": "x", "pages": 4}, {"code": "z"}], "tags": ["b", "a"]}"#,
        ]
        let given = try directory.write(model, to: "given.json")
        let sources = try records.enumerated().map { try directory.write($1 + "\n", to: "\($0).ndjson") }
        func importing(_ source: String, into store: String, _ model: String) throws {
            let options = ["--model", model, "--entity", "shop", "--progress", "none"]
            let result = try run([Project.importer, source, "--into", store] + options)
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
        let (store, other) = (directory.path("one.sqlite"), directory.path("other.sqlite"))
        for path in [store, other] { try importing(sources[0], into: path, given) }
        for names in [[], ["shop"], ["TAG", "book"]] {
            let printed = try run([Project.importer, "model", "print", other] + names)
            #expect(printed.ending == .exit(0), "\(printed.errorText)")
            #expect(!printed.outputText.contains("shop_id") && !printed.outputText.contains("position"))
            #expect(!printed.errorText.contains("left out"), "\(printed.errorText)")
            let again = try directory.write(printed.output, to: "printed.json")
            #expect(try runImporter("model", "check", again).ending == .exit(0), "\(printed.outputText)")
        }
        let printed = try directory.write(try runImporter("model", "print", other).output, to: "printed.json")
        try importing(sources[1], into: store, given)
        try importing(sources[1], into: other, printed)
        #expect(try StoreContent.result(other) == StoreContent.result(store))
    }

    @Test func saysWhatItCanOfTablesOfAPersonsOwn() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("p.sqlite")
        _ = try Python.run(
            text: """
                import sqlite3, sys
                sqlite3.connect(sys.argv[1]).executescript('''CREATE TABLE "my notes" (id BIGINT, body VARCHAR(9), at DATE,
                made TEXT DEFAULT CURRENT_TIMESTAMP, n INTEGER DEFAULT 4, twice AS (id * 2))''')
                """,
            [store]
        )
        let printed = try runImporter("model", "print", store)
        #expect(printed.ending == .exit(0), "\(printed.errorText)")
        #expect(printed.errorText.contains("my notes.made: left out"))
        #expect(printed.errorText.contains("my notes.twice: left out"))
        let model = try directory.write(printed.output, to: "model.json")
        #expect(try runImporter("model", "check", model).ending == .exit(0))
        let source = try directory.write("{\"id\":1,\"body\":\"b\",\"at\":\"2024-01-01\"}\n", to: "n.ndjson")
        let result = try runImporter(source, "--into", store, "--model", model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let rows = try StoreContent.query(store, "SELECT id, body, at, n, twice FROM \"my notes\"")
        #expect(rows == "1|b|2024-01-01|4|2")
        // Beside entities that were imported they are left out unless they are named.
        let other = try directory.write("{\"a\":1}\n", to: "p.ndjson")
        let second = directory.path("second.sqlite")
        #expect(try runImporter(other, "--into", second).ending == .exit(0))
        try StoreContent.execute(second, "CREATE TABLE own (x TEXT)")
        let both = try runImporter("model", "print", second)
        #expect(!both.outputText.contains("own") && both.errorText.contains("own"), "\(both.errorText)")
        #expect(try runImporter("model", "print", second, "own").outputText.contains("\"x\""))
        #expect(try runImporter("model", "print", second, "owm").ending == .exit(66))
    }
}
