import Foundation
import TestSupport
import Testing

/// Objects that were made for references to them: the first record that has one inserts it.
struct FilledStubTests {
    private let files: RelatedImport

    init() throws { files = try RelatedImport() }

    private static let model = """
        {"entities": {
          "book": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "author": {"entity": "person", "unresolved": "stub"}, "topics": {"entity": "topic", "toMany": true, "unresolved": "stub"}}},
          "person": {"identifier": ["name"], "attributes": {"name": {"type": "string"}, "age": {"type": "integer16", "default": 7},
            "note": {"type": "string", "optional": true, "owner": "local"}}},
          "topic": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "label": {"type": "string", "optional": true}}}}}
        """

    private func counts(_ records: String, _ entity: String, _ options: String...) throws -> [String: [String: Int]] {
        let report = files.directory.path("\(UUID().uuidString).json")
        let source = try files.directory.write(records, to: "\(UUID().uuidString).ndjson")
        let model = try files.directory.write(Self.model, to: "model.json")
        let command = [Project.importer, "import", source, "--into", files.store, "--model", model, "--entity", entity]
        let result = try run(command + ["--progress", "none", "--report", report] + options)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: report)))
        let entities = try #require((object as? [String: Any])?["entities"] as? [String: [String: Any]])
        return entities.mapValues { counts in counts.compactMapValues { $0 as? Int } }
    }

    private func verify() throws {
        let result = try runImporter("verify", files.store)
        #expect(result.ending == .exit(0), "\(result.outputText)")
    }

    @Test(arguments: ["merge", "ignore", "error", "replace"]) func aLaterRecordInsertsIt(onConflict: String) throws {
        let first = try counts(
            #"{"id": 1, "author": "Ada", "topics": [5, 6]}"# + "\n" + #"{"id": 2, "author": "Bob"}"# + "\n",
            "book"
        )
        #expect(first["person"]?["stubs"] == 2)
        #expect(first["topic"]?["stubs"] == 2)
        #expect(try files.query("SELECT group_concat(name || ifnull(age, '-')) FROM person") == "Ada-,Bob-")
        try verify()
        let people = #"{"name": "Cid", "age": 1}"# + "\n" + #"{"name": "Bob", "note": "n"}"# + "\n"
        let second = try counts(people, "person", "--on-conflict", onConflict)
        #expect(second["person"]?["inserted"] == 2)
        #expect(second["person"]?["updated"] == 0)
        #expect(second["person"]?["stubs"] == -1)
        // It keeps its row id, and gets all that a new object has.
        #expect(
            try files.query("SELECT group_concat(rowid || name || ifnull(age, '-') || ifnull(note, '-')) FROM person")
                == "1Ada--,2Bob7n,3Cid1-"
        )
        try verify()
        // From now on it is an object like others.
        let third = try counts(#"{"name": "Bob", "age": 9}"# + "\n", "person")
        #expect(third["person"]?["updated"] == 1)
        try verify()
    }

    @Test func aNestedObjectInsertsItToo() throws {
        _ = try counts(#"{"id": 1, "author": "Ada", "topics": [5]}"# + "\n", "book")
        let books =
            #"{"id": 2, "author": {"name": "Ada", "age": 3}, "topics": [{"id": 5, "label": "x"}, {"id": 5, "label": "y"}]}"#
        let second = try counts(books + "\n", "book")
        #expect(second["person"]?["nested_inserted"] == 1)
        #expect(second["person"]?["stubs"] == -1)
        #expect(second["topic"]?["nested_inserted"] == 1)
        #expect(second["topic"]?["nested_updated"] == 1)
        try verify()
    }

    @Test func aRejectFillsNone() throws {
        _ = try counts(#"{"id": 1, "author": "Ada"}"# + "\n", "book")
        let books =
            #"{"id": 2, "author": {"name": "Ada", "age": 3}, "topics": "no list"}"# + "\n" + #"{"id": 3}"# + "\n"
        _ = try counts(books, "book")
        #expect(try counts(#"{"name": "Ada"}"# + "\n", "person")["person"]?["inserted"] == 1)
        try verify()
    }
}
