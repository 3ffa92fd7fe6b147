import Foundation
import TestSupport
import Testing

/// `importer merge` of stores that imports with a model have made: groups, lists and objects without identifier.
struct MergeModelTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let model = """
        {"entities": {
          "order": {"identifier": ["id"], "together": [["value", "unit"]],
            "attributes": {"id": {"type": "integer64"}, "value": {"type": "integer32", "optional": true},
              "unit": {"type": "string", "optional": true}, "note": {"type": "json", "optional": true}},
            "relationships": {
              "lines": {"entity": "line", "toMany": true, "ordered": true, "deleteRule": "cascade"},
              "marks": {"entity": "mark", "toMany": true, "deleteRule": "cascade"}}},
          "line": {"identifier": ["sku"], "attributes": {"sku": {"type": "string"}, "count": {"type": "integer32", "optional": true}}},
          "mark": {"attributes": {"word": {"type": "string"}}}}}
        """

    private func importing(_ records: String, into name: String) throws {
        let source = try directory.write(records, to: "\(name).ndjson")
        let model = try directory.write(Self.model, to: "model.json")
        let result = try runImporter(
            "import",
            source,
            "--into",
            directory.path(name),
            "--model",
            model,
            "--entity",
            "order",
            "--progress",
            "none"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
    }

    /// The lines of the merge, and the rows of a query in ours after the merge with conflicts marked.
    private func merged(_ base: String, _ ours: String, _ theirs: String, _ query: String) throws -> ([String], String)
    {
        for (name, records) in [("base", base), ("ours", ours), ("theirs", theirs)] {
            try importing(records, into: name)
        }
        let sides = ["base", "ours", "theirs"].map(directory.path)
        let result = try run([Project.importer, "merge"] + sides)
        #expect([.exit(0), .exit(65)].contains(result.ending), "\(result.errorText)")
        let into = try run([Project.importer, "merge"] + sides + ["--into", sides[1], "--conflicts", "mark"])
        #expect(into.ending == .exit(0), "\(into.errorText)")
        let lines = result.outputText.split(separator: "\n").dropFirst().dropLast().map(String.init)
        return (lines, try StoreContent.query(sides[1], query))
    }

    @Test func acceptsAGroupFromOneSide() throws {
        let (lines, rows) = try merged(
            #"{"id": 1, "value": 1, "unit": "m"} {"id": 2, "value": 1, "unit": "m"}"#,
            #"{"id": 1, "value": 2, "unit": "m"} {"id": 2, "value": 1, "unit": "m", "note": {"a": 1}}"#,
            #"{"id": 1, "value": 1, "unit": "km"} {"id": 2, "value": 5, "unit": "m"}"#,
            "SELECT id, value, unit, note FROM \"order\" ORDER BY id"
        )
        try #require(lines.count == 2)
        #expect(lines[0].contains(#""kind":"bothChanged""#))
        #expect(
            lines[0].contains(
                #""base":{"value":1,"unit":"m"},"ours":{"value":2,"unit":"m"},"theirs":{"value":1,"unit":"km"}"#
            )
        )
        // The group is written whole.
        #expect(lines[1].contains(#""attributes":{"old":{"value":1,"unit":"m"},"new":{"value":5,"unit":"m"}}"#))
        #expect(
            rows
                == (try StoreContent.query(
                    directory.path("ours"),
                    "SELECT 1, 2, 'm', NULL UNION ALL SELECT 2, 5, 'm', '{\"a\":1}'"
                ))
        )
    }

    @Test func mergesListsByMember() throws {
        let (lines, rows) = try merged(
            #"{"id": 1, "lines": [{"sku": "a"}, {"sku": "b"}, {"sku": "c"}]}"#,
            #"{"id": 1, "lines": [{"sku": "a"}, {"sku": "o"}, {"sku": "b"}, {"sku": "c"}]}"#,
            #"{"id": 1, "lines": [{"sku": "c"}, {"sku": "a"}, {"sku": "t"}]}"#,
            "SELECT lines_sku FROM order_lines ORDER BY position"
        )
        #expect(!lines.contains { $0.contains("\"conflict\"") }, "\(lines)")
        #expect(
            lines.contains {
                $0.contains(
                    #""order":{"lines":{"old":[{"sku":"a"},{"sku":"o"},{"sku":"b"},{"sku":"c"}],"new":[{"sku":"c"},{"sku":"a"},{"sku":"o"},{"sku":"t"}]}}"#
                )
            },
            "\(lines)"
        )
        let wanted = "SELECT 'c' UNION ALL SELECT 'a' UNION ALL SELECT 'o' UNION ALL SELECT 't'"
        #expect(rows == (try StoreContent.query(directory.path("ours"), wanted)))
    }

    @Test func findsListsThatBothHaveReordered() throws {
        let (lines, rows) = try merged(
            #"{"id": 1, "lines": [{"sku": "a"}, {"sku": "b"}, {"sku": "c"}]}"#,
            #"{"id": 1, "lines": [{"sku": "b"}, {"sku": "a"}, {"sku": "c"}]}"#,
            #"{"id": 1, "lines": [{"sku": "c"}, {"sku": "b"}, {"sku": "a"}, {"sku": "d"}]}"#,
            "SELECT lines_sku FROM order_lines ORDER BY position"
        )
        try #require(lines.count == 3)
        #expect(lines[0].contains(#""new":[{"sku":"b"},{"sku":"a"},{"sku":"d"},{"sku":"c"}]"#), "\(lines[0])")
        #expect(lines[1].contains(#""kind":"order""#))
        #expect(
            lines[1].contains(#""theirs":{"lines":[{"sku":"c"},{"sku":"b"},{"sku":"a"},{"sku":"d"}]}"#),
            "\(lines[1])"
        )
        let list = { (names: [String]) in
            try StoreContent.query(
                directory.path("ours"),
                names.map { "SELECT '\($0)'" }.joined(separator: " UNION ALL ")
            )
        }
        #expect(rows == (try list(["b", "a", "d", "c"])))
        #expect(try runImporter("resolve", directory.path("ours"), "--theirs", "--progress", "none").ending == .exit(0))
        let query = "SELECT lines_sku FROM order_lines ORDER BY position"
        #expect(try StoreContent.query(directory.path("ours"), query) == list(["c", "b", "a", "d"]))
    }

    @Test func partsWithoutIdentifierAreOneValue() throws {
        let (lines, rows) = try merged(
            #"{"id": 1, "marks": [{"word": "x"}]} {"id": 2, "marks": [{"word": "x"}]}"#,
            #"{"id": 1, "marks": [{"word": "x"}, {"word": "o"}]} {"id": 2, "marks": [{"word": "x"}]}"#,
            #"{"id": 1, "marks": []} {"id": 2, "marks": [{"word": "t"}]}"#,
            "SELECT word FROM mark ORDER BY word"
        )
        try #require(lines.count == 2)
        #expect(
            lines[0].contains(
                #""base":{"marks":[{"word":"x"}]},"ours":{"marks":[{"word":"x"},{"word":"o"}]},"theirs":{"marks":[]}"#
            ),
            "\(lines[0])"
        )
        #expect(
            rows
                == (try StoreContent.query(
                    directory.path("ours"),
                    "SELECT 'o' UNION ALL SELECT 't' UNION ALL SELECT 'x'"
                ))
        )
        #expect(try runImporter("resolve", directory.path("ours"), "--theirs", "--progress", "none").ending == .exit(0))
        #expect(
            try StoreContent.query(directory.path("ours"), "SELECT word FROM mark")
                == StoreContent.query(directory.path("ours"), "SELECT 't'")
        )
    }

    @Test func aModelSaysWhatIsWrongWithItsGroups() throws {
        let path = try directory.write(
            """
            {"entities": {"E": {"identifier": ["id"], "together": [["id", "a"], ["a"], ["a", "none"], "b"],
              "attributes": {"id": {"type": "string"}, "a": {"type": "string"}, "b": {"type": "string"}}}}}
            """,
            to: "wrong.json"
        )
        let result = try runImporter("model", "check", path)
        #expect(result.ending == .exit(65))
        let text = result.outputText + result.errorText
        #expect(text.contains("together[1]") && text.contains("must name at least 2"), "\(text)")
        #expect(text.contains("together[3]") && text.contains("must be a list"), "\(text)")
        let other = try directory.write(
            """
            {"entities": {"E": {"identifier": ["id"], "together": [["id", "a"], ["a", "b"], ["b", "none"]],
              "attributes": {"id": {"type": "string"}, "a": {"type": "string"}, "b": {"type": "string"}}}}}
            """,
            to: "other.json"
        )
        let again = try runImporter("model", "check", other)
        let said = again.outputText + again.errorText
        #expect(again.ending == .exit(65))
        #expect(said.contains("id is part of the identifier"), "\(said)")
        #expect(said.contains("a is in another group") && said.contains("there is no attribute none"), "\(said)")
    }

    @Test func aMigrationIsRefusedWhileConflictsAreOpen() throws {
        _ = try merged(
            #"{"id": 1, "note": 1} {"id": 2, "note": 1}"#,
            #"{"id": 1, "note": 2} {"id": 2, "note": 2}"#,
            #"{"id": 1, "note": 3} {"id": 2, "note": 3}"#,
            "SELECT 1"
        )
        let store = directory.path("ours")
        // The same model changes nothing, and needs none of them to go.
        let same = try run([Project.importer, "migrate", store, "--model", directory.path("model.json")])
        #expect(same.ending == .exit(0), "\(same.outputText)\(same.errorText)")
        let model = try directory.write(
            Self.model.replacing(
                #""unit": {"type": "string""#,
                with: #""per": {"renamingIdentifier": "unit", "type": "string""#
            )
            .replacing(#"["value", "unit"]"#, with: #"["value", "per"]"#),
            to: "new.json"
        )
        let before = try StoreContent.digest(store)
        let refused = try run([Project.importer, "migrate", store, "--model", model])
        #expect(refused.ending == .exit(65))
        let said = refused.outputText + refused.errorText
        #expect(said.contains("refused: conflicts of merges are dropped"), "\(said)")
        #expect(said.contains("  2: these are open"), "\(said)")
        #expect(said.contains("importer resolve \(store)") && said.contains("--allow-loss"), "\(said)")
        #expect(try StoreContent.digest(store) == before)
        #expect(try run([Project.importer, "conflicts", store, "--count"]).outputText == "2\n")
        let allowed = try run([Project.importer, "migrate", store, "--model", model, "--allow-loss"])
        #expect(allowed.ending == .exit(0), "\(allowed.outputText)\(allowed.errorText)")
        #expect(try run([Project.importer, "conflicts", store, "--count"]).outputText == "0\n")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_conflict") == "0")
    }
}
