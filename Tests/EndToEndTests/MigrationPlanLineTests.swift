import Foundation
import TestSupport
import Testing

/// What ends a migration is a line of its plan, so that `--dry-run` says it.
struct MigrationPlanLineTests {
    private static let id = #""id": {"type": "integer64"}"#

    private static func refuse(_ migrated: MigratedStore, _ model: String, _ line: String, _ count: String) throws {
        let before = try migrated.everything()
        let file = try migrated.related.directory.write(model, to: "new.json")
        for options in [["--dry-run"], []] {
            let result = try run([Project.importer, "migrate", migrated.store, "--model", file] + options)
            #expect(result.ending == .exit(65))
            #expect(result.outputText.contains("refused: " + line), "\(result.outputText)")
            #expect(result.outputText.contains("  " + count), "\(result.outputText)")
        }
        #expect(try migrated.everything() == before)
    }

    // MARK: Links that wait

    private static func lists(key: String, lists: Bool = true) -> String {
        let inverse = lists ? #", "inverse": "orders""# : ""
        let orders = #"{"orders": {"entity": "order", "toMany": true, "inverse": "customer"}}"#
        return """
            {"entities": {
              "person": {"identifier": ["id"], "attributes": {\(id)}, "relationships": \(lists ? orders : "{}")},
              "order": {"identifier": ["\(key)"], "attributes": {"no": {"type": "integer64"}, "code": {"type": "string"}},
                "relationships": {"customer": {"entity": "person"\(inverse)}}}}}
            """
    }

    @Test func saysWhichLinksWaitForRows() throws {
        let migrated = try MigratedStore(
            Self.lists(key: "no"),
            records: #"{"no": 7, "code": "a", "customer": {"id": 1, "orders": [7, 8]}}"#
        )
        #expect(try migrated.query("SELECT count(*) FROM _import_link") == "1")
        try Self.refuse(
            migrated,
            Self.lists(key: "code"),
            "person.orders refers by another key",
            "1: these wait for missing rows"
        )
        let gone = Self.lists(key: "no", lists: false)
        try Self.refuse(migrated, gone, "person.orders is dropped", "1: these wait for missing rows")
        #expect(try migrated.migrate(to: gone, "--allow-loss").ending == .exit(0))
        #expect(try migrated.query("SELECT count(*) FROM _import_link") == "0")
    }

    // MARK: Keys

    /// Another program has made the table again, without the key.
    @Test func saysWhichRowsHaveTheSameKey() throws {
        func model(_ type: String) -> String {
            """
            {"entities": {"tag": {"identifier": ["name"], "attributes": {"name": {"type": "string"}, "n": {"type": "\(type)"}}}}}
            """
        }
        let related = try RelatedImport()
        let records = #"{"name": "a", "n": 1}"# + "\n" + #"{"name": "b", "n": 2}"#
        #expect(try related.importing(records, "tag", model("integer32")).ending == .exit(0))
        try StoreContent.execute(
            related.store,
            """
            CREATE TABLE others (name TEXT, n INTEGER);
            INSERT INTO others SELECT * FROM tag UNION ALL VALUES ('b', 3);
            DROP TABLE tag;
            ALTER TABLE others RENAME TO tag
            """
        )
        let file = try related.directory.write(model("string"), to: "new.json")
        for options in [["--dry-run"], []] {
            let result = try run([Project.importer, "migrate", related.store, "--model", file] + options)
            #expect(result.ending == .exit(65))
            #expect(result.outputText.contains("tag must have no two rows with the same name"), "\(result.outputText)")
            #expect(result.outputText.contains("  2: these have the same as another row\n    row 2: b\n    row 3: b"))
        }
        #expect(try related.query("SELECT typeof(n) FROM tag") == "integer\ninteger\ninteger")
    }

    // MARK: What others have made

    @Test func saysThatAColumnOfOthersGoesWithItsTable() throws {
        func model(_ more: String) -> String { #"{"entities": {"kept": {"attributes": {\#(Self.id)}}\#(more)}}"# }
        let gone = #", "gone": {"attributes": {"n": {"type": "integer32", "optional": true}}}"#
        let related = try RelatedImport()
        #expect(try related.importing(#"{"n": 1}"# + "\n{}", "gone", model(gone)).ending == .exit(0))
        try StoreContent.execute(
            related.store,
            "ALTER TABLE gone ADD COLUMN mine TEXT; UPDATE gone SET n = NULL, mine = 'precious' WHERE rowid = 2"
        )
        let file = try related.directory.write(model(""), to: "new.json")
        for options in [["--dry-run"], []] {
            let result = try run([Project.importer, "migrate", related.store, "--model", file] + options)
            #expect(result.ending == .exit(65))
            #expect(
                result.outputText.contains(
                    "refused: gone is dropped with the column mine\n  1: the column, which is not the model's, has a value in these\n    row 2\n"
                ),
                "\(result.outputText)"
            )
        }
        #expect(try related.query("SELECT mine FROM gone WHERE rowid = 2") == "precious")
        let allowed = try run([Project.importer, "migrate", related.store, "--model", file, "--allow-loss"])
        #expect(allowed.ending == .exit(0), "\(allowed.errorText)")
        #expect(allowed.outputText.contains("has a value in these, which is allowed"), "\(allowed.outputText)")
        #expect(try related.query("SELECT name FROM sqlite_master WHERE name = 'gone'").isEmpty)
    }

    // MARK: Values

    /// A text may have a NUL, and come to an end only after it.
    @Test func textsWithNULBecomeOthersWhole() throws {
        func model(_ type: String, _ more: String = "") -> String {
            #"{"entities": {"thing": {"attributes": {"t": {"type": "\#(type)", "optional": true}\#(more)}}}}"#
        }
        let related = try RelatedImport()
        let records = #"{"t": "a\u0000b"}"# + "\n" + #"{"t": "\u0000"}"# + "\n{}\n" + #"{"t": ""}"#
        #expect(try related.importing(records, "thing", model("string")).ending == .exit(0))
        let file = try related.directory.write(model("json"), to: "new.json")
        let result = try run([Project.importer, "migrate", related.store, "--model", file])
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        #expect(
            try related.query("SELECT quote(t) FROM thing ORDER BY rowid")
                == #"'"a\u0000b"'"# + "\n" + #"'"\u0000"'"# + "\nNULL\n" + #"'""'"#
        )
        #expect(
            try run([
                Project.importer, "migrate", related.store, "--model",
                related.directory.write(model("string"), to: "old.json"),
            ]).ending == .exit(0)
        )
        #expect(try related.query("SELECT quote(hex(t)) FROM thing ORDER BY rowid") == "'610062'\n'00'\n''\n''")
    }

    /// Bytes that are no text, which another program has put there, would be others afterwards.
    @Test func textsThatAreNotUTF8DoNotSurvive() throws {
        func model(_ type: String) -> String {
            #"{"entities": {"thing": {"attributes": {"t": {"type": "\#(type)"}}}}}"#
        }
        let related = try RelatedImport()
        #expect(try related.importing(#"{"t": "a"}"#, "thing", model("string")).ending == .exit(0))
        try StoreContent.execute(related.store, "UPDATE thing SET t = CAST(x'61ff' AS TEXT)")
        let file = try related.directory.write(model("json"), to: "new.json")
        let result = try run([Project.importer, "migrate", related.store, "--model", file, "--dry-run"])
        #expect(result.ending == .exit(65))
        #expect(result.outputText.contains("  1: their values cannot be converted"), "\(result.outputText)")
    }
}
