import Foundation
import TestSupport
import Testing

/// What a store knows of its imports has the names of the model that a migration has brought it to.
struct MigrationNamesTests {
    private func migrate(_ related: RelatedImport, _ model: String, _ options: String...) throws -> ChildProcess.Result
    {
        let file = try related.directory.write(model, to: "new.json")
        return try run([Project.importer, "migrate", related.store, "--model", file] + options)
    }

    /// A store of one document with two collections.
    private func collections(_ document: String) throws -> RelatedImport {
        let model = """
            {"entities": {
              "A": {"records": "$.a[*]", "identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "s": {"type": "string"}}},
              "B": {"records": "$.b[*]", "identifier": ["id"], "attributes": {"id": {"type": "integer64"}}}}}
            """
        let related = try RelatedImport()
        let source = try related.directory.write(document, to: "both.json")
        let file = try related.directory.write(model, to: "model.json")
        _ = try run([
            Project.importer, "import", source, "--into", related.store, "--model", file, "--progress", "none",
        ])
        return related
    }

    private static let renamed = """
        {"entities": {"%": {"renamingIdentifier": "B", "identifier": ["id"], "attributes": {"id": {"type": "integer64"}}}}}
        """

    @Test(arguments: ["B", "C"]) func leavesAStoreThatEveryCommandReads(name: String) throws {
        let related = try collections(#"{"a": [], "b": [{"id": 1}]}"#)
        let model = Self.renamed.replacing("%", with: name)
        let result = try migrate(related, model)
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        for command in ["status", "verify", "rejects"] {
            let result = try runImporter(command, related.store)
            #expect(result.ending == .exit(0), "\(command): \(result.errorText)")
        }
        #expect(try related.importing("{\"id\": 2}\n", name, model).ending == .exit(0))
        #expect(try migrate(related, model).ending == .exit(0))
        // Once more, with what is gone since the time before.
        let other = model.replacing("\"renamingIdentifier\": \"B\"", with: "\"renamingIdentifier\": \"\(name)\"")
            .replacing("\"\(name)\": {", with: "\"D\": {")
        let again = try migrate(related, other)
        #expect(again.ending == .exit(0), "\(again.outputText)\(again.errorText)")
        #expect(try runImporter("verify", related.store, "--strict").ending == .exit(0))
        #expect(try related.query("SELECT id FROM D ORDER BY id") == "1\n2")
    }

    @Test(arguments: ["C", "A"]) func refusesToRetryWhatIsOfAnEntityThatIsGone(name: String) throws {
        let related = try collections(#"{"a": [{"id": 4}], "b": [{"id": 1}, {"id": "x"}]}"#)
        let result = try migrate(related, Self.renamed.replacing("%", with: name), "--allow-loss")
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        let fix = related.directory.path("fix.ndjson")
        #expect(try runImporter("rejects", related.store, "--to", fix).ending == .exit(0))
        let lines = try String(contentsOfFile: fix, encoding: .utf8).split(separator: "\n").map(String.init)
        let ofGone = try #require(lines.first { $0.contains("\"id\": 4}") })
        let ofKept = try #require(lines.first { $0.contains("\"id\": \"x\"") })
        let before = try related.query("SELECT name FROM sqlite_master ORDER BY name")
        let first = try related.directory.write(
            ofGone.replacing("\"id\": 4}", with: "\"id\": 4, \"s\": \"y\"}") + "\n",
            to: "first.ndjson"
        )
        let refused = try runImporter("retry", related.store, first)
        #expect(refused.ending == .exit(64))
        #expect(refused.errorText.contains("a migration has removed the entity A (gone)"), "\(refused.errorText)")
        #expect(try related.query("SELECT name FROM sqlite_master ORDER BY name") == before)
        let second = try related.directory.write(ofKept.replacing("\"x\"", with: "3") + "\n", to: "second.ndjson")
        let retried = try runImporter("retry", related.store, second)
        #expect(retried.ending == .exit(0), "\(retried.outputText)\(retried.errorText)")
        #expect(try related.query("SELECT id FROM \(name) ORDER BY id") == "1\n3")
        #expect(try runImporter("verify", related.store).ending != .exit(74))
        #expect(
            try related.query("SELECT count(*) FROM sqlite_master WHERE name LIKE '%gone%'") == "0"
        )
    }

    private static func swapped(_ names: (String, String), _ inverses: (String, String), _ renamed: Bool) -> String {
        func was(_ name: String) -> String { renamed ? ", \"renamingIdentifier\": \"\(name)\"" : "" }
        return """
            {"entities": {
              "o": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "\(names.0)": {"entity": "c", "toMany": true, "inverse": "\(inverses.0)"\(was("x"))},
                "\(names.1)": {"entity": "c", "toMany": true, "inverse": "\(inverses.1)"\(was("y"))}}},
              "c": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "n": {"type": "string"}}, "relationships": {
                "\(inverses.0)": {"entity": "o", "inverse": "\(names.0)", "from": []\(was("ox"))},
                "\(inverses.1)": {"entity": "o", "inverse": "\(names.1)", "from": []\(was("oy"))}}}}}
            """
    }

    /// What waits for its row belongs to the relationship that it was read for, whatever that is called by then.
    @Test(arguments: [0, 1]) func keepsWaitingLinksOfSwappedRelationships(way: Int) throws {
        let (names, inverses) = [(("y", "x"), ("oy", "ox")), (("y", "z"), ("oy", "oz"))][way]
        let related = try RelatedImport()
        let before = Self.swapped(("x", "y"), ("ox", "oy"), false)
        let records = "{\"id\": 1, \"x\": [10]}\n{\"id\": 2, \"y\": [11]}\n"
        #expect(try related.importing(records, "o", before).ending == .exit(0))
        let after = Self.swapped(names, inverses, true)
        let result = try migrate(related, after)
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        let children = "{\"id\": 10, \"n\": \"a\"}\n{\"id\": 11, \"n\": \"b\"}\n"
        #expect(try related.importing(children, "c", after).ending == .exit(0))
        let links = "SELECT id, quote(\(inverses.0)_id), quote(\(inverses.1)_id) FROM c ORDER BY id"
        #expect(try related.query(links) == "10|1|NULL\n11|NULL|2")
        #expect(try runImporter("verify", related.store, "--strict").ending == .exit(0))
    }

    /// Rows that were made for references are still those of their own table.
    @Test func keepsWhatIsKnownOfSwappedTables() throws {
        func model(_ first: String, _ second: String, _ more: (String, String)) -> String {
            """
            {"entities": {
              "A": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "x": {"entity": "\(first)", "unresolved": "stub"}, "y": {"entity": "\(second)", "unresolved": "stub"}}},
              "\(first)": {\(more.0)"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}},
              "\(second)": {\(more.1)"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}}}}
            """
        }
        let related = try RelatedImport()
        let before = model("P", "Q", ("", ""))
        #expect(try related.importing("{\"id\": 1, \"x\": 5, \"y\": 6}\n", "A", before).ending == .exit(0))
        #expect(try related.query("SELECT table_name FROM _import_stub ORDER BY 1") == "P\nQ")
        let former = (#""renamingIdentifier": "P", "#, #""renamingIdentifier": "Q", "#)
        let result = try migrate(related, model("Q", "P", former))
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        #expect(try related.query("SELECT table_name FROM _import_stub ORDER BY 1") == "P\nQ")
        #expect(try related.query("SELECT (SELECT id FROM Q), (SELECT id FROM P)") == "5|6")
        #expect(try runImporter("verify", related.store, "--strict").ending == .exit(0))
    }

    @Test func givesTheNameOfWhatGoesToSomethingElse() throws {
        let model = MigratedStore.model(
            line:
                #""sku": {"type": "string"}, "note": {"type": "string", "optional": true}, "count": {"type": "integer32", "optional": true}"#
        )
        let migrated = try MigratedStore(model)
        // The empty one goes.
        let result = try migrated.migrate(
            to: MigratedStore.model(
                line:
                    #""sku": {"type": "string"}, "note": {"type": "integer32", "optional": true, "renamingIdentifier": "count"}"#
            )
        )
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        #expect(try migrated.query("SELECT sku, quote(note) FROM line ORDER BY sku") == "a|2\nb|NULL\nc|70000")
        #expect(try migrated.query("SELECT count(*) FROM pragma_table_info('line')") == "4")
        #expect(try migrated.faults().isEmpty)
    }

    /// What was counted and rejected has the new names; indexes have them, too, as the import would have made them.
    @Test func givesTheNewNamesToWhatIsKnownOfImports() throws {
        func model(_ entity: String, _ attributes: (String, String), _ link: String, _ former: [String]) -> String {
            func was(_ place: Int) -> String {
                former.isEmpty ? "" : ", \"renamingIdentifier\": \"\(former[place])\""
            }
            let type = "\"type\": \"integer16\", \"optional\": true"
            return """
                {"entities": {
                  "\(entity)": {"identifier": ["id"]\(was(0)), "attributes": {"id": {"type": "integer64"},
                    "\(attributes.0)": {\(type)\(was(1))}, "\(attributes.1)": {\(type)\(was(2))}},
                    "relationships": {"\(link)": {"entity": "p", "from": "r"\(was(3))}}},
                  "p": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "n": {"type": "string"}}}}}
                """
        }
        let related = try RelatedImport()
        let records = """
            {"id": 1, "a": "7", "c": 8, "r": 5}
            {"id": 2, "b": "7", "r": 6}
            {"id": 3, "b": "8"}
            {"id": 4, "a": "x"}
            """
        _ = try related.importing(records, "o", model("o", ("a", "b"), "r", []))
        let ledger = "SELECT entity, attribute, kind, count FROM _import_ledger WHERE NOT is_error ORDER BY 1, 2, 3"
        #expect(
            try related.query(ledger)
                == "o|a|kindChanged|1\no|b|kindChanged|2\no|c|unknownKey|1\no|r|unresolved|2"
        )
        let result = try migrate(related, model("q", ("b", "a"), "s", ["o", "a", "b", "r"]))
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        #expect(
            try related.query(ledger)
                == "q|a|kindChanged|2\nq|b|kindChanged|1\nq|c|unknownKey|1\nq|s|unresolved|2"
        )
        #expect(try related.query("SELECT json_extract(errors, '$[0].entity') FROM _import_reject") == "q")
        #expect(try related.query("SELECT json_extract(errors, '$[0].code') FROM _import_reject") == "wrongForm")
        let indexes = "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'q' AND sql IS NOT NULL"
        #expect(try related.query(indexes) == "q_s")
        #expect(try runImporter("verify", related.store).ending == .exit(0))
    }

    @Test(arguments: [
        "CREATE TABLE mine (a INTEGER REFERENCES A (id))", "CREATE VIEW mine AS SELECT id FROM A",
        "CREATE INDEX mine ON A (id)",
    ]) func isRefusedWhereOthersUseWhatMakesWay(statement: String) throws {
        let related = try collections(#"{"a": [], "b": [{"id": 1}]}"#)
        try StoreContent.execute(related.store, statement)
        let schema = "SELECT sql FROM sqlite_master ORDER BY name"
        let before = try related.query(schema)
        let result = try migrate(related, Self.renamed.replacing("%", with: "A"), "--allow-loss")
        #expect(result.ending == .exit(65), "\(result.outputText)\(result.errorText)")
        #expect(try related.query(schema) == before)
    }
}
