import Foundation
import TestSupport
import Testing

/// A migration that would lose something is refused, and then nothing is changed.
struct MigrationRefusalTests {
    private static let losses: [(model: String, line: String, count: String)] = [
        (
            MigratedStore.model(line: #""sku": {"type": "string"}"#), "refused: line.count is dropped",
            "2: these have a value"
        ),
        (
            MigratedStore.model(line: #""sku": {"type": "string"}, "count": {"type": "integer16", "optional": true}"#),
            "refused: line.count is integer16 instead of integer32", "1: their values cannot be converted"
        ),
        (
            MigratedStore.model(line: #""sku": {"type": "string"}, "count": {"type": "integer32"}"#),
            "refused: line.count becomes required", "1: these have no value"
        ),
        (
            MigratedStore.model(line: MigratedStore.lineAttributes + #", "new": {"type": "string"}"#),
            "refused: line.new is new: string, required", "3: these rows would have no value"
        ),
        (
            MigratedStore.model(
                line:
                    #""sku": {"type": "string", "enum": ["a", "b"]}, "count": {"type": "integer32", "optional": true}"#
            ),
            "refused: line.sku has other rules for its values", "1: their values break the new rules"
        ),
        (
            MigratedStore.model(tags: #""tags": {"entity": "tag"}"#),
            "refused: order.tags is to-one instead of to-many",
            "1: these have several; the first is kept"
        ),
        (
            MigratedStore.model(tags: #""labels": {"entity": "tag", "toMany": true}"#),
            "refused: order.tags is dropped",
            "3: these have a value"
        ),
        (
            MigratedStore.model(
                order: #""id": {"type": "integer64"}, "one": {"type": "integer16", "default": 1}"#,
                identifier: "one"
            ),
            "refused: order has the identifier one instead of id (3 rows)", "3: these have the same as another row"
        ),
    ]

    @Test(arguments: losses.indices) func saysWhatWouldBeLostAndChangesNothing(index: Int) throws {
        let loss = Self.losses[index]
        let migrated = try MigratedStore()
        let before = try migrated.everything()
        for options in [["--dry-run"], []] {
            let file = try migrated.related.directory.write(loss.model, to: "new.json")
            let result = try run([Project.importer, "migrate", migrated.store, "--model", file] + options)
            #expect(result.ending == .exit(65))
            #expect(result.outputText.contains(loss.line), "\(result.outputText)")
            #expect(result.outputText.contains("  " + loss.count), "\(result.outputText)")
        }
        #expect(try migrated.everything() == before)
        #expect(try migrated.faults().isEmpty)
    }

    @Test func keepsTheFirstLinkWhereLossIsAllowed() throws {
        let migrated = try MigratedStore()
        let model = MigratedStore.model(tags: #""tags": {"entity": "tag"}"#)
        #expect(try migrated.migrate(to: model, "--allow-loss").ending == .exit(0))
        #expect(
            try migrated.query("SELECT id, quote(tags_name) FROM \"order\" ORDER BY id") == "7|'red'\n8|'new'\n9|NULL"
        )
        #expect(try migrated.migrate(to: MigratedStore.model()).ending == .exit(0))
        #expect(try migrated.query("SELECT * FROM order_tags ORDER BY 1") == "7|red|0\n8|new|0")
    }

    @Test func isRefusedWhereOthersWouldLoseTheirs() throws {
        let model = MigratedStore.model(
            line: #""sku": {"type": "string"}, "count": {"type": "string", "optional": true}"#
        )
        for statement in [
            "ALTER TABLE line ADD COLUMN mine TEXT NOT NULL DEFAULT 'x'",
            "ALTER TABLE line ADD COLUMN mine TEXT CHECK (mine <> 'x')",
            "ALTER TABLE line ADD COLUMN mine TEXT REFERENCES person (id)",
        ] {
            let migrated = try MigratedStore()
            try StoreContent.execute(migrated.store, statement)
            let before = try migrated.everything()
            let result = try migrated.migrate(to: model)
            #expect(result.ending == .exit(65))
            #expect(
                result.errorText.contains("the table line would have to be rebuilt, and has"),
                "\(result.errorText)"
            )
            #expect(try migrated.everything() == before)
        }
    }

    @Test func isRefusedWhereAViewCouldNoLongerBeRead() throws {
        let migrated = try MigratedStore()
        try StoreContent.execute(migrated.store, "CREATE VIEW counts AS SELECT \"line\".\"count\" FROM line")
        let before = try migrated.everything()
        let result = try migrated.migrate(to: MigratedStore.model(line: #""sku": {"type": "string"}"#), "--allow-loss")
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("counts"), "\(result.errorText)")
        #expect(try migrated.everything() == before)
    }

    @Test func saysWhatIsNoStoreOfOurs() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(MigratedStore.model(), to: "model.json")
        #expect(try runImporter("migrate", directory.path("none.sqlite"), "--model", model).ending == .exit(66))
        let text = try directory.write("no database, but a text that is longer than a header of one", to: "text")
        #expect(try runImporter("migrate", text, "--model", model).ending == .exit(74))
        let other = directory.path("other.sqlite")
        try StoreContent.execute(other, "CREATE TABLE thing (id INTEGER)")
        let result = try runImporter("migrate", other, "--model", model)
        #expect(result.ending == .exit(66))
        #expect(result.errorText.contains("has no model"))
    }

    @Test func waitsForNoUnfinishedImport() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let source = try directory.write("{\"key\":\"a\",\"count\":1}\n{\"key", to: "thing.ndjson")
        let attributes = """
            "key": {"type": "string"}, "count": {"type": "integer32", "optional": true}
            """
        let description = "{\"entities\": {\"thing\": {\"identifier\": [\"key\"], \"attributes\": {\(attributes)}}}}"
        let model = try directory.write(description, to: "model.json")
        #expect(try runImporter(source, "--into", store, "--model", model).ending == .exit(65))
        try directory.write(description.replacing("integer32", with: "integer64"), to: "model.json")
        let before = try StoreContent.digest(store)
        let result = try runImporter("migrate", store, "--model", model)
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("an import of it is not finished"))
        #expect(try StoreContent.digest(store) == before)
    }

    // MARK: Imports with another model

    @Test func anImportWithAnotherModelNamesTheCommand() throws {
        let migrated = try MigratedStore()
        let before = try migrated.everything()
        let model = MigratedStore.model(
            line: #""sku": {"type": "string"}, "count": {"type": "string", "optional": true}"#
        )
        let record = #"{"id": 10, "items": [{"sku": "d", "count": 1}]}"#
        let refused = try migrated.related.importing(record, "order", model)
        #expect(refused.ending == .exit(65))
        #expect(refused.errorText.contains("line.count is string instead of integer32"), "\(refused.errorText)")
        #expect(refused.errorText.contains("migrate"))
        #expect(try migrated.everything() == before)
        let made = try migrated.related.importing(record, "order", model, "--migrate")
        #expect(made.ending == .exit(0), "\(made.errorText)")
        #expect(
            try migrated.query("SELECT sku, quote(\"count\") FROM line ORDER BY sku")
                == "a|'2'\nb|NULL\nc|'70000'\nd|'1'"
        )
        #expect(try migrated.faults().isEmpty)
    }

    @Test func anImportThatWouldLoseIsRefused() throws {
        let migrated = try MigratedStore()
        let model = MigratedStore.model(tags: #""tags": {"entity": "tag"}"#)
        let result = try migrated.related.importing(#"{"id": 10}"#, "order", model, "--migrate")
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("these have several"), "\(result.errorText)")
    }

    @Test func anImportAddsWhatMayBeEmpty() throws {
        let migrated = try MigratedStore()
        let model = MigratedStore.model(
            line: MigratedStore.lineAttributes + #", "note": {"type": "string", "optional": true}"#,
            more: #", "shop": {"identifier": ["no"], "attributes": {"no": {"type": "string"}}}"#
        )
        let result = try migrated.related.importing(
            #"{"id": 10, "items": [{"sku": "d", "note": "n"}]}"#,
            "order",
            model
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try migrated.query("SELECT note FROM line WHERE sku = 'd'") == "n")
    }
}
