import Foundation
import TestSupport
import Testing

/// `"generated": true` gives an inserted object that has no value a UUID which says where its record came from, and
/// nothing else does; constant defaults are for inserted objects, too.
struct GeneratedTests {
    private static let model = """
        {"entities": {"Größe": {"records": "RECORDS", "table": "t", "attributes": {
          "key": {"type": "uuid", "generated": true},
          "n": {"type": "integer64"},
          "text": {"type": "json", "optional": true}
        }}}}
        """

    @Test(arguments: [
        ("$[*]", "[ {\"n\":1},\n\t{\"n\":2,\"text\":\"é😀\"}, {\r\n \"n\":3, \"key\": null } ]", "p.json"),
        ("$.*", "{\"ä\": {\"n\":1,\n\"text\":[{},\n{}]}, \"b\" :\n {\"n\":2}, \"c\": {\"n\":3}}", "p.json"),
        ("$", "{\"n\":1}\n{\"n\":2,\"text\":\"ü\"}\r\n\n {\"n\":3, \"text\":{ }}\n", "p.ndjson"),
    ])
    func isWhatTheDocumentedLayoutSays(_ records: String, _ text: String, _ name: String) throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(
            Self.model.replacingOccurrences(of: "RECORDS", with: records),
            to: "model.json"
        )
        // The same source is the job's first and third one, so its place is part of the value.
        let source = try directory.write(text, to: name)
        let other = try directory.write(text.replacingOccurrences(of: "1", with: "7"), to: "other-" + name)
        let store = directory.path("store.sqlite")
        let result = try runImporter(source, other, source, "--into", store, "--model", model, "--again")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        var expected: [String] = []
        for (number, path) in [source, other, source].enumerated() {
            let made = try Python.run("generated.py", [path, "\(number)", "Größe", "key"])
            #expect(made.ending == .exit(0), "\(made.errorText)")
            expected += made.outputText.split(separator: "\n").map(String.init)
        }
        let found = try StoreContent.query(store, "SELECT \"key\" FROM t ORDER BY rowid").split(separator: "\n")
        #expect(found.map(String.init) == expected)
        #expect(expected.count == 9)
        #expect(Set(expected).count == 9)
    }

    private static let merging = """
        {"entities": {"T": {"records": "$[*]", "identifier": ["id"], "attributes": {
          "id": {"type": "integer64"},
          "key": {"type": "uuid", "generated": true},
          "amount": {"type": "decimal", "default": "1.50"},
          "name": {"type": "string", "optional": true}
        }}}}
        """

    @Test func mergesNeverSetGeneratedOrDefaultValues() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(Self.merging, to: "model.json")
        let own = "00000000-0000-4000-8000-000000000001"
        let source = try directory.write(
            """
            [{"id":1}, {"id":2,"key":"\(own)","amount":"7"}, {"id":1,"name":"a"}, {"id":2,"key":null,"name":"b"},
             {"id":3}, {"id":3,"key":"\(own)","amount":2}, {"id":3}]
            """,
            to: "p.json"
        )
        let store = directory.path("store.sqlite")
        let result = try runImporter(source, "--into", store, "--model", model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let rows =
            "SELECT id, CASE \"key\" WHEN '\(own)' THEN 'own' ELSE substr(\"key\", 15, 1) END, amount, name FROM T"
        #expect(try StoreContent.query(store, rows) == "1|8|1.5|a\n2|own|7|b\n3|own|2|")
        let before = try StoreContent.digest(store)
        let again = try runImporter(source, "--into", store, "--model", model, "--again", "--json")
        let report = try Report(again.output)
        #expect(report.inserted == 0)
        #expect(report.rejected == 0)
        #expect(try StoreContent.digest(store) == before)
    }

    /// A generated identifier is what an object is found by when the same source is imported again.
    @Test func findsAnObjectByItsGeneratedIdentifier() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(
            "{\"entities\":{\"T\":{\"records\":\"$[*]\",\"identifier\":[\"key\"],\"attributes\":{"
                + "\"key\":{\"type\":\"uuid\",\"generated\":true},\"n\":{\"type\":\"integer64\"}}}}}",
            to: "model.json"
        )
        let source = try directory.write("[{\"n\":1},{\"n\":1},{\"n\":2,\"key\":null},7,{\"n\":\"x\"}]", to: "p.json")
        let store = directory.path("store.sqlite")
        let first = try Report(runImporter(source, "--into", store, "--model", model, "--json").output)
        #expect(first.inserted == 3)
        // What is no object, or does not fit, is a reject all the same.
        #expect(first.rejected == 2)
        let before = try StoreContent.digest(store)
        let again = try Report(runImporter(source, "--into", store, "--model", model, "--json", "--again").output)
        #expect(again.unchanged == 3)
        #expect(try StoreContent.digest(store) == before)
    }

    /// A text that a transformer makes null is no value, just like null itself.
    @Test(arguments: ["", ", \"optional\": true"])
    func makesOneForATextThatBecomesNull(_ option: String) throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(
            "{\"entities\":{\"T\":{\"records\":\"$[*]\",\"attributes\":{\"key\":{\"type\":\"uuid\",\"generated\":true,"
                + "\"transform\":[\"trim\",\"emptyToNull\"]\(option)}}}}}",
            to: "model.json"
        )
        let source = try directory.write("[{\"key\":\" \"},{\"key\":\"\"},{\"key\":null},{}]", to: "p.json")
        let store = directory.path("store.sqlite")
        let report = try Report(runImporter(source, "--into", store, "--model", model, "--json").output)
        #expect(report.inserted == 4)
        #expect(try StoreContent.query(store, "SELECT count(DISTINCT \"key\"), min(length(\"key\")) FROM T") == "4|36")
    }

    /// A value that became null is none, so one is made.
    @Test func makesAnIdentifierWhereAMisfitBecameNull() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n": 1, "u": "bad"}, {"n": 2}]"#, to: "g.json")
        let model = try directory.write(
            """
            {"entities": {"g": {"attributes": {
              "n": {"type": "integer64"}, "u": {"type": "uuid", "generated": true, "optional": true}}}}}
            """,
            to: "model.json"
        )
        let store = directory.path("g.sqlite")
        let command = [Project.importer, "import", source, "--into", store, "--model", model, "--on-error", "null"]
        #expect(try run(command).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(DISTINCT u) FROM g WHERE substr(u, 15, 1) = '8'") == "2")
    }
}
