import Foundation
import TestSupport
import Testing

/// A store that is brought to another model has the rows that an import with that model makes.
struct MigrationTests {
    /// Changes of the model, each as an import of the same records with it would have it.
    private static let changes: [(name: String, model: String)] = [
        (
            "optional attribute",
            MigratedStore.model(order: #""id": {"type": "integer64"}, "note": {"type": "string", "optional": true}"#)
        ),
        (
            "required attribute with default",
            MigratedStore.model(order: #""id": {"type": "integer64"}, "state": {"type": "string", "default": "it's"}"#)
        ),
        (
            "integer to text",
            MigratedStore.model(line: #""sku": {"type": "string"}, "count": {"type": "string", "optional": true}"#)
        ),
        (
            "integer to double",
            MigratedStore.model(line: #""sku": {"type": "string"}, "count": {"type": "double", "optional": true}"#)
        ),
        (
            "default where it is missing",
            MigratedStore.model(line: #""sku": {"type": "string"}, "count": {"type": "integer32", "default": 5}"#)
        ),
        (
            "renamed attribute",
            MigratedStore.model(
                person:
                    #""id": {"type": "integer64"}, "called": {"type": "string", "optional": true, "from": "name", "renamingIdentifier": "name"}"#
            )
        ),
        ("key as text", MigratedStore.model(order: #""id": {"type": "string"}"#)),
        (
            "to-many without order",
            MigratedStore.model(tags: #""tags": {"entity": "tag", "toMany": true, "ordered": false}"#)
        ),
        ("delete rule", MigratedStore.model(tags: #""tags": {"entity": "tag", "toMany": true, "deleteRule": "deny"}"#)),
        (
            "other columns",
            MigratedStore.model(tags: #""tags": {"entity": "tag", "toMany": true, "table": "order of tags"}"#)
        ),
        (
            "hostile names",
            MigratedStore.model(
                order:
                    #""id": {"type": "integer64", "column": "select \"a\"; --"}, "ID2": {"type": "string", "optional": true, "column": "group"}"#
            )
        ),
        (
            "new entity",
            MigratedStore.model(more: #", "shop": {"identifier": ["no"], "attributes": {"no": {"type": "string"}}}"#)
        ),
    ]

    /// The rows of all tables, whatever the order of the columns.
    private static let rows = """
        import sqlite3, sys
        store = sqlite3.connect(sys.argv[1])
        names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\\\_import%' ESCAPE '\\\\' ORDER BY name"
        for (table,) in store.execute(names).fetchall():
            quoted = '"' + table.replace('"', '""') + '"'
            info = store.execute("SELECT name, type FROM pragma_table_info(?) ORDER BY name", (table,)).fetchall()
            keys = store.execute('SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(?) ORDER BY 1', (table,))
            print(table, info, keys.fetchall())
            columns = ", ".join("quote(\\"" + name.replace('"', '""') + "\\")" for name, _ in info)
            for row in sorted(store.execute(f"SELECT {columns} FROM {quoted}").fetchall()): print(row)
        """

    private func rows(of store: String) throws -> String {
        try Python.run(text: Self.rows, [store]).outputText
    }

    @Test(arguments: changes.map(\.name)) func givesWhatAnImportWithTheModelGives(name: String) throws {
        let model = try #require(Self.changes.first { $0.name == name }).model
        let migrated = try MigratedStore()
        let result = try migrated.migrate(to: model, "--allow-loss")
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        let imported = try MigratedStore(model)
        #expect(try rows(of: migrated.store) == rows(of: imported.store))
        #expect(try migrated.faults().isEmpty)
        let again = try migrated.migrate(to: model)
        #expect(again.outputText.hasPrefix("Nothing to do"))
    }

    @Test(arguments: changes.map(\.name)) func isTakenBackByTheModelBefore(name: String) throws {
        guard name != "to-many without order" else { return }
        let model = try #require(Self.changes.first { $0.name == name }).model
        let migrated = try MigratedStore()
        let before = try rows(of: migrated.store)
        #expect(try migrated.migrate(to: model).ending == .exit(0))
        // A name is what it was only where the model says so.
        let back =
            name == "renamed attribute"
            ? MigratedStore.model(
                person:
                    #""id": {"type": "integer64"}, "name": {"type": "string", "optional": true, "renamingIdentifier": "called"}"#
            ) : MigratedStore.model()
        let result = try migrated.migrate(to: back, "--allow-loss")
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        guard name != "default where it is missing" else { return }
        #expect(try rows(of: migrated.store) == before)
    }

    @Test func makesTheSameUUIDsEachTime() throws {
        let model = MigratedStore.model(
            order: #""id": {"type": "integer64"}, "uid": {"type": "uuid", "generated": true}"#
        )
        let stores = [try MigratedStore(), try MigratedStore()]
        for store in stores { #expect(try store.migrate(to: model).ending == .exit(0)) }
        let values = try stores.map { try $0.query("SELECT id, uid FROM \"order\" ORDER BY id") }
        #expect(values[0] == values[1])
        // What README says of generated UUIDs, computed by Python.
        let expected = try Python.run(
            text: """
                import hashlib, struct, uuid
                def field(bytes): return struct.pack(">Q", len(bytes)) + bytes
                for key in (7, 8, 9):
                    parts = [b"order", b"uid", bytes(8), bytes(8), b"", b"[%d]" % key]
                    hash = bytearray(hashlib.sha256(b"".join(map(field, parts))).digest()[:16])
                    hash[6] = hash[6] & 0x0f | 0x80
                    hash[8] = hash[8] & 0x3f | 0x80
                    print(f"{key}|{uuid.UUID(bytes=bytes(hash))}")
                """
        ).outputText
        #expect(values[0] == expected.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test func rewritesReferencesWhereTheIdentifierIsAnother() throws {
        let order = #""id": {"type": "integer64"}, "uid": {"type": "uuid", "generated": true}"#
        let migrated = try MigratedStore()
        let before = try migrated.query("SELECT sku, order_id FROM line ORDER BY sku")
        #expect(try migrated.migrate(to: MigratedStore.model(order: order)).ending == .exit(0))
        #expect(try migrated.migrate(to: MigratedStore.model(order: order, identifier: "uid")).ending == .exit(0))
        let joined = "SELECT sku, id FROM line JOIN \"order\" ON order_uid = uid ORDER BY sku"
        #expect(try migrated.query(joined) == before)
        #expect(try migrated.query("SELECT count(*) FROM order_tags JOIN \"order\" ON order_uid = uid") == "3")
        #expect(try migrated.faults().isEmpty)
    }

    @Test func keepsWhatOthersHaveMade() throws {
        let migrated = try MigratedStore()
        try StoreContent.execute(
            migrated.store,
            """
            ALTER TABLE line ADD COLUMN mine TEXT;
            UPDATE line SET mine = 'x' || sku;
            CREATE INDEX mine ON line (mine DESC);
            CREATE TABLE log (sku TEXT);
            CREATE TRIGGER note AFTER DELETE ON line BEGIN INSERT INTO log VALUES (OLD.sku); END;
            CREATE VIEW counts AS SELECT sku, "count" FROM line;
            """
        )
        let model = MigratedStore.model(
            line:
                #""sku": {"type": "string"}, "amount": {"type": "string", "optional": true, "renamingIdentifier": "count"}"#
        )
        let result = try migrated.migrate(to: model)
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        #expect(try migrated.query("SELECT mine FROM line ORDER BY mine") == "xa\nxb\nxc")
        #expect(try migrated.query("SELECT sku, typeof(\"count\") FROM counts WHERE sku = 'a'") == "a|text")
        #expect(
            try migrated.query("SELECT count(*) FROM sqlite_master WHERE name IN ('mine', 'note', 'counts')") == "3"
        )
        try StoreContent.execute(migrated.store, "DELETE FROM line WHERE sku = 'a'")
        #expect(try migrated.query("SELECT sku FROM log") == "a")
    }

    @Test func keepsAHistoryOfModels() throws {
        let migrated = try MigratedStore()
        let model = MigratedStore.model(
            order: #""id": {"type": "integer64"}, "note": {"type": "string", "optional": true}"#
        )
        #expect(try migrated.migrate(to: model).ending == .exit(0))
        let history = """
            SELECT migration.job, before.content LIKE '%note%', after.content LIKE '%note%' FROM _import_migration AS migration
            JOIN _import_document AS before ON before.id = model_before JOIN _import_document AS after ON after.id = migration.model
            """
        #expect(try migrated.query(history) == "1|0|1")
        #expect(try runImporter("model", "print", migrated.store).outputText.contains("\"note\""))
    }

    /// What something refers to is in one table with its kin, and each in its own where nothing does.
    @Test func movesRowsToTheTableOfTheirParent() throws {
        let animals = """
            "animal": {"identifier": ["no"], "abstract": true, "attributes": {"no": {"type": "string"}}},
            "cat": {"parent": "animal", "attributes": {"purr": {"type": "string", "optional": true}}},
            "dog": {"parent": "animal", "attributes": {"bark": {"type": "string", "optional": true}}}
            """
        let shelter = """
            , "shelter": {"identifier": ["s"], "attributes": {"s": {"type": "string"}},
                "relationships": {"animals": {"entity": "animal", "toMany": true}}}
            """
        let related = try RelatedImport()
        let apart = "{\"entities\": {\(animals)}}"
        let cats = "{\"no\": \"c1\", \"purr\": \"x\"}\n{\"no\": \"c2\"}\n"
        #expect(try related.importing(cats, "cat", apart).ending == .exit(0))
        #expect(try related.importing("{\"no\": \"d1\", \"bark\": \"y\"}\n", "dog", apart).ending == .exit(0))
        func migrate(_ model: String) throws -> ChildProcess.Result {
            try runImporter("migrate", related.store, "--model", related.directory.write(model, to: "new.json"))
        }
        #expect(try migrate("{\"entities\": {\(animals)\(shelter)}}").ending == .exit(0))
        let rows = "SELECT rowid, no, quote(purr), quote(bark), entity FROM animal ORDER BY rowid"
        #expect(try related.query(rows) == "1|c1|'x'|NULL|cat\n2|c2|NULL|NULL|cat\n3|d1|NULL|'y'|dog")
        #expect(try runImporter("verify", related.store, "--strict").ending == .exit(0))
        let back = try migrate(apart)
        #expect(back.ending == .exit(0), "\(back.outputText)\(back.errorText)")
        let all = "SELECT no FROM cat UNION ALL SELECT no FROM dog"
        #expect(try related.query(all) == "c1\nc2\nd1")
    }
}
