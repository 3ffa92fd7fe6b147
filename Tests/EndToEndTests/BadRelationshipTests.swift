import Foundation
import TestSupport
import Testing

/// Input that relationships cannot be made of, or hardly: each has an answer, with its path and what to do.
struct BadRelationshipTests {
    private let files: RelatedImport

    init() throws {
        files = try RelatedImport()
    }

    /// A record that is bad, after one that is not: what `rejects` says of it.
    private func error(_ record: String) throws -> String {
        let result = try files.importing("{\"id\": 0}\n\(record)\n", "order", RelationshipTests.model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let rejects = try runImporter("rejects", files.store)
        #expect(try runImporter("verify", files.store).ending == .exit(0))
        // What it belongs to is left out with it.
        #expect(try files.query("SELECT group_concat(id) FROM \"order\"") == "0")
        #expect(try files.query("SELECT (SELECT count(*) FROM person) + (SELECT count(*) FROM line)") == "0")
        return rejects.outputText.split(separator: "\n").dropFirst().joined(separator: "\n")
    }

    @Test(arguments: [
        (#"{"id": 1, "customer": {"name": "Ada"}}"#, "    customer.id: integer64: value is missing (byte 32)"),
        (#"{"id": 1, "items": "a"}"#, "    items: expected an array of line, found string (byte 29)"),
        (#"{"id": 1, "items": 5}"#, "    items: expected an array of line, found number (byte 29)"),
        (#"{"id": 1, "items": {"ski": "a"}}"#, "    items: expected an array of line, found object (byte 29)"),
        (#"{"id": 1, "items": [["a"]]}"#, "    items[0]: expected line, found array (byte 30)"),
        (#"{"id": 1, "customer": [1]}"#, "    customer: expected person, found array (byte 32)"),
        (#"{"id": 1, "customer": {"id": "12abc"}}"#, "    customer.id: expected integer64, found string (byte 39)"),
        (#"{"id": 1, "customer_id": "12abc"}"#, "    customer_id: expected integer64, found string (byte 35)"),
        (#"{"id": 1, "customer": {"id": [1]}}"#, "    customer.id: expected integer64, found array (byte 39)"),
    ])
    func rejectsItsRecord(record: String, message: String) throws {
        #expect(try error(record) == message)
    }

    @Test func saysHowRejectsAreRepaired() throws {
        let result = try files.importing("{\"id\": 0}\n{\"id\": 1, \"items\": 5}\n", "order", RelationshipTests.model)
        #expect(
            result.outputText.contains("`order.items`: 1 number where an array of line was expected, first at byte 29")
        )
        #expect(result.outputText.contains("To list the rejects:"))
    }

    /// The byte is that of the list, and an element that is wrong is an element.
    @Test(arguments: [
        (#"{"id": 1, "tags": ["a", "b", "c"]}"#, ["    tags: expected at most 2, found 3 (byte 28)"]),
        (#"{"id": 1, "tags": []}"#, ["    tags: expected at least 1, found 0 (byte 28)"]),
        (#"{"id": 1, "tags": [[]]}"#, ["    tags[0]: expected string, found array (byte 29)"]),
        (
            #"{"id": 1, "tags": ["a", {"no": 1}, "c"]}"#,
            [
                "    tags: expected at most 2, found 3 (byte 28)",
                "    tags[1]: string: value is missing (byte 34)",
            ]
        ),
    ])
    func countsTheElementsOfAList(record: String, messages: [String]) throws {
        let counted = RelationshipTests.model.replacing(
            #""tag", "toMany": true"#,
            with: #""tag", "toMany": true, "minCount": 1, "maxCount": 2"#
        )
        #expect(try files.importing("{\"id\": 0}\n\(record)\n", "order", counted).ending == .exit(0))
        let lines = try runImporter("rejects", files.store).outputText.split(separator: "\n").dropFirst()
        #expect(lines.map(String.init) == messages)
    }

    /// A table that others have made gets what it is referred to by, and is refused where that cannot be.
    @Test func givesATableThatIsThereTheKeyThatItIsReferredToBy() throws {
        let person = "CREATE TABLE person (id INTEGER, name TEXT); INSERT INTO person VALUES (5, 'Ada')"
        #expect(try run(["sqlite3", files.store, person]).ending == .exit(0))
        let order = #"{"id": 1, "customer": {"id": 5, "name": "Eve"}}"# + "\n"
        #expect(try files.importing(order, "order", RelationshipTests.model).ending == .exit(0))
        #expect(try files.query("SELECT group_concat(id || name) FROM person") == "5Eve")
        #expect(try files.query("SELECT count(*) FROM pragma_foreign_key_check") == "0")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    @Test(arguments: ["person (id INTEGER, name TEXT)", "tag (name TEXT)"])
    func refusesATableWhoseRowsHaveTheSameIdentifier(table: String) throws {
        let name = table.prefix { $0 != " " }
        let made = "CREATE TABLE \(table); INSERT INTO \(name) SELECT value FROM json_each('[7,7]')"
        let rows = name == "person" ? made.replacing("SELECT value", with: "SELECT value, 'Ada'") : made
        #expect(try run(["sqlite3", files.store, rows]).ending == .exit(0))
        let result = try files.importing("{\"id\": 0}\n", "order", RelationshipTests.model)
        #expect(result.ending == .exit(65), "\(result.errorText)")
        #expect(result.errorText.contains("rows of \(name) already have the same"))
    }

    @Test func refusesAViewWhereLinksBelong() throws {
        let made = try run(["sqlite3", files.store, "CREATE VIEW order_tags AS SELECT 1 AS one"])
        #expect(made.ending == .exit(0), "\(made.errorText)")
        let result = try files.importing("{\"id\": 0}\n", "order", RelationshipTests.model)
        #expect(result.ending == .exit(64), "\(result.errorText)")
        #expect(result.errorText.contains("has a view named order_tags already"))
        #expect(result.errorText.contains("Give the relationship another table in the model"))
    }

    private static let family = """
        {"entities": {
          "parent": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "children": {"entity": "child", "toMany": true, "inverse": "parent"}}},
          "child": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "parent": {"entity": "parent", "inverse": "children"}}}}}
        """

    @Test func aChildOfTwoParentsBelongsToTheLast() throws {
        let parents =
            #"{"id": 1, "children": [{"id": 1}, {"id": 2}]}"# + "\n" + #"{"id": 2, "children": [{"id": 1}]}"# + "\n"
        let report = files.directory.path("report.json")
        #expect(try files.importing(parents, "parent", Self.family, "--report", report).ending == .exit(0))
        // Where it was, a gap is left.
        #expect(
            try files.query("SELECT group_concat(id || ':' || parent_id || ':' || parent_position) FROM child")
                == "1:2:0,2:1:1"
        )
        // It is counted as changed by the record that takes it.
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: report))) as? [String: Any]
        let counts = (object?["entities"] as? [String: Any])?["child"] as? [String: Any]
        #expect(counts?["nested"] as? Int == 3 && counts?["nested_updated"] as? Int == 1, "\(counts ?? [:])")
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    private static let cycle = """
        {"entities": {
          "man": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "dog": {"entity": "dog", "optional": false}}},
          "dog": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "man": {"entity": "man", "optional": false}}}}}
        """

    @Test func mandatoryReferencesInACycleNeedNoOrder() throws {
        let men = [
            #"{"id": 1, "dog": {"id": 2, "man": {"id": 1}}}"#,
            #"{"id": 3, "dog": {"id": 4, "man": {"id": 5, "dog": 4}}}"#,
            #"{"id": 6, "dog": 7}"#, #"{"id": 8, "dog": {"id": 9, "man": null}}"#,
        ]
        #expect(try files.importing(men.joined(separator: "\n") + "\n", "man", Self.cycle).ending == .exit(0))
        #expect(try files.query("SELECT group_concat(id || ':' || dog_id) FROM man") == "1:2,3:4,5:4,6:7")
        #expect(try files.query("SELECT group_concat(id || ':' || man_id) FROM dog") == "2:1,4:5")
        #expect(
            try runImporter("rejects", files.store).outputText.contains("    dog.man: man: null is not allowed (byte ")
        )
        #expect(try files.importing(#"{"id": 7, "man": 6}"# + "\n", "dog", Self.cycle).ending == .exit(0))
        #expect(try runImporter("status", files.store, "--unresolved").outputText == "")
        #expect(try files.query("SELECT count(*) FROM pragma_foreign_key_check") == "0")
        // A stub would need what it stands for.
        let model = Self.cycle.replacing(#""dog", "optional""#, with: #""dog", "unresolved": "stub", "optional""#)
        let checked = try runImporter("model", "check", files.directory.write(model, to: "stub.json"))
        #expect(checked.ending == .exit(65))
        #expect(
            (checked.outputText + checked.errorText).contains(
                "$.entities.man.relationships.dog.unresolved: a stub of dog would lack man, which it requires; make it optional"
            )
        )
    }

    @Test(arguments: [
        (
            "CREATE TABLE line (sku TEXT, count TEXT, order_id INTEGER, order_position INTEGER)",
            "line"
        ), ("CREATE TABLE \"order\" (id INTEGER PRIMARY KEY, customer_id TEXT)", "order"),
        ("CREATE TABLE order_tags (order_id INTEGER, tags_name TEXT)", "order_tags"),
        ("CREATE VIEW tag AS SELECT 1 AS name", "tag"),
    ])
    func aTableWithOtherColumnsIsRefusedBeforeAnythingIsWritten(statement: String, table: String) throws {
        try StoreContent.execute(files.store, statement)
        let before = try StoreContent.text(files.store)
        let result = try files.importing(RelationshipTests.orders, "order", RelationshipTests.model)
        #expect(result.ending != .exit(0))
        #expect(result.errorText.contains(table), "\(result.errorText)")
        #expect(try StoreContent.text(files.store) == before)
        // The message ends with what to do.
        #expect(result.errorText.split(separator: "\n").last?.hasPrefix("  ") == true, "\(result.errorText)")
    }

    /// Told by its index it is accepted, but nothing could refer to it.
    @Test func aChildWithoutItsIdentifierHasNothingOfItsOwn() throws {
        let model = """
            {"entities": {
              "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"lines": {"entity": "line", "toMany": true}}},
              "line": {"identifier": ["@parent", "no"],
                "attributes": {"no": {"type": "integer32"}, "count": {"type": "integer32", "optional": true}},
                "relationships": {"taxes": {"entity": "tax", "toMany": true}, "fees": {"entity": "tax", "toMany": true}}},
              "tax": {"attributes": {"kind": {"type": "string"}}}}}
            """
        let result = try files.importing(
            """
            {"id": 1, "lines": [{"no": 1, "taxes": [{"kind": "a"}]}, {"count": 3}]}
            {"id": 2, "lines": [{"taxes": [{"kind": "b"}], "fees": [{"kind": "c"}]}]}
            {"id": 3, "lines": [{"no": "x", "taxes": [{"kind": "b"}]}]}

            """,
            "order",
            model
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try files.query("SELECT order_id, no, count FROM line ORDER BY rowid") == "1|1|\n1||3")
        #expect(try files.query("SELECT kind FROM tax") == "a")
        let rejects = try runImporter("rejects", files.store).outputText.split(separator: "\n")
        #expect(
            rejects.filter { $0.hasPrefix("    ") } == [
                "    lines[0].no: integer32: value is missing (byte 92)",
                "    lines[0].no: expected integer32, found string (byte 173)",
            ]
        )
        #expect(try runImporter("verify", files.store).ending == .exit(0))
    }

    @Test func manyChildrenInOneRecordTakeMemoryForThatRecordOnly() throws {
        let count = 40_000
        let lines = (0..<count).map { #"{"sku":"\#(100_000 + $0)","count":1}"# }.joined(separator: ", ")
        let record = #"{"id": 1, "items": [\#(lines)]}"# + "\n"
        let source = try files.directory.write(record, to: "orders.ndjson")
        let model = try files.directory.write(RelationshipTests.model, to: "model.json")
        let command = [
            Project.importer, "import", source, "--into", files.store, "--model", model, "--entity", "order",
        ]
        let measured = try run([Project.python, Project.check("peak_memory.py")] + command + ["--progress", "none"])
        #expect(measured.ending == .exit(0), "\(measured.errorText)")
        let peak = try #require(measured.outputText.split(separator: "\n").last.flatMap { Int($0) })
        #expect(peak < 64 << 20 + 60 * record.utf8.count, "\(peak)")
        #expect(
            try files.query("SELECT count(*) || ':' || max(order_position) || ':' || sum(count) FROM line")
                == "40000:39999:40000"
        )
        #expect(try files.query("SELECT sku FROM line WHERE order_position = 12345") == "112345")
        // Where that is too much, the record is a reject that says so.
        let small = files.directory.path("small.sqlite")
        let arguments = [
            "import", source, "--into", small, "--model", model, "--entity", "order", "--max-record-bytes", "1M",
        ]
        let refused = try run([Project.importer] + arguments + ["--progress", "none"])
        #expect(refused.ending == .exit(65))
        #expect(try runImporter("rejects", small).outputText.contains("at most 1,048,576 bytes"))
    }
}
