import Foundation
import TestSupport
import Testing

/// A migration loses nothing silently, and breaks nothing that is not the importer's.
struct MigrationCareTests {
    private static let id = #""id": {"type": "integer64"}"#

    private static func related(_ order: String, _ tag: String) -> String {
        """
        {"entities": {
          "order": {"identifier": ["id"], "attributes": {\(id)}, "relationships": {\(order)}},
          "tag": {\(tag)}}}
        """
    }

    private static let name = #""attributes": {"name": {"type": "string", "from": "@value"}}"#
    private static let shared = """
        {"id": 7, "tags": ["red", "new"]}
        {"id": 8, "tags": ["new"]}
        """

    /// Models whose relationships keep their links in another way, and what is said against that.
    private static let shapes: [(before: String, after: String, records: String, line: String, count: String)] = [
        (
            related(#""tags": {"entity": "tag", "toMany": true}"#, #""identifier": ["name"], "# + name),
            related(
                #""tags": {"entity": "tag", "toMany": true, "inverse": "order"}"#,
                #""identifier": ["name"], "relationships": {"order": {"entity": "order", "inverse": "tags", "from": []}}, "#
                    + name
            ), shared, "holds one link", "1: these have several; the first is kept"
        ),
        (
            related(#""home": {"entity": "tag"}"#, #""identifier": ["name"], "# + name),
            related(
                #""home": {"entity": "tag", "inverse": "who"}"#,
                #""identifier": ["name"], "relationships": {"who": {"entity": "order", "inverse": "home", "from": []}}, "#
                    + name
            ), #"{"id": 1, "home": "a"}"# + "\n" + #"{"id": 2, "home": "a"}"#, "holds one link",
            "1: these have several; the first is kept"
        ),
        (
            related(#""tags": {"entity": "tag", "toMany": true}"#, #""identifier": ["name"], "# + name),
            related(#""tags": {"entity": "tag", "toMany": true}"#, name), shared, "holds one link",
            "1: these have several; the first is kept"
        ),
        (
            related(
                #""tags": {"entity": "tag", "toMany": true, "inverse": "order"}"#,
                #""identifier": ["name"], "relationships": {"order": {"entity": "order", "inverse": "tags", "from": []}}, "#
                    + name
            ),
            related(
                "",
                #""identifier": ["name"], "relationships": {"order": {"entity": "order", "from": []}}, "# + name
            ),
            #"{"id": 7, "tags": ["red", "new"]}"#, "does not keep the order of order.tags",
            "2: these have an index in a list"
        ),
    ]

    @Test(arguments: shapes.indices) func saysWhichLinksHaveNoRoom(index: Int) throws {
        let shape = Self.shapes[index]
        let migrated = try MigratedStore(shape.before, records: shape.records)
        let before = try migrated.everything()
        for options in [["--dry-run"], []] {
            let file = try migrated.related.directory.write(shape.after, to: "new.json")
            let result = try run([Project.importer, "migrate", migrated.store, "--model", file] + options)
            #expect(result.ending == .exit(65))
            #expect(result.outputText.contains(shape.line), "\(result.outputText)")
            #expect(result.outputText.contains("  " + shape.count), "\(result.outputText)")
        }
        #expect(try migrated.everything() == before)
        #expect(try migrated.migrate(to: shape.after, "--allow-loss").ending == .exit(0))
        #expect(try migrated.faults().isEmpty)
    }

    @Test func keepsTheOrderOfListsThatGetOutOfATableOfLinks() throws {
        let migrated = try MigratedStore(Self.shapes[0].before, records: #"{"id": 7, "tags": ["b", "a", "c"]}"#)
        // A list in the order of its rows would not show anything.
        try StoreContent.execute(migrated.store, "UPDATE order_tags SET position = 2 - position")
        #expect(try migrated.migrate(to: Self.shapes[0].after).ending == .exit(0))
        #expect(try migrated.query("SELECT name, order_position FROM tag ORDER BY 2") == "c|0\na|1\nb|2")
        #expect(try migrated.faults().isEmpty)
    }

    // MARK: What others have made

    private static let animals = """
        {"entities": {
          "animal": {"records": "$.a[*]", "identifier": ["id"], "attributes": {\(id)}},
          "cat": {"records": "$.c[*]", "identifier": ["id"], "attributes": {\(id), "n": {"type": "string"}}}}}
        """
    private static let family = """
        {"entities": {
          "animal": {"records": "$.a[*]", "identifier": ["id"], "attributes": {\(id)}},
          "cat": {"parent": "animal", "records": "$.c[*]", "attributes": {"n": {"type": "string"}}},
          "own": {"identifier": ["id"], "attributes": {\(id)}, "relationships": {"pet": {"entity": "animal"}}}}}
        """
    private static let counted = MigratedStore.model(
        line: #""sku": {"type": "string"}, "count": {"type": "string", "optional": true}"#
    )
    private static let renamed = MigratedStore.model(
        line:
            #""code": {"type": "string", "from": "sku", "renamingIdentifier": "sku"}, "count": {"type": "integer32", "optional": true}"#
    )
    private static let noted = MigratedStore.model(
        line: MigratedStore.lineAttributes + #", "mine": {"type": "string", "optional": true}"#
    )
    private static let unordered = MigratedStore.model(
        tags: #""tags": {"entity": "tag", "toMany": true, "ordered": false}"#
    )
    private static let named = MigratedStore.model(
        person: #""id": {"type": "integer64"}, "name": {"type": "string"}"#
    ).replacing(#""person": {"identifier": ["id"]"#, with: #""person": {"identifier": ["name"]"#)

    /// What others do to a store, a model, and what is said against it.
    private static let others: [(statement: String, model: String, reason: String)] = [
        (
            "ALTER TABLE order_tags ADD COLUMN mine TEXT", unordered,
            "3: the table order_tags has the column mine, which is not the model's and would be lost"
        ),
        (
            "ALTER TABLE line ADD COLUMN mine TEXT DEFAULT 'x'", counted,
            "3: the table line would have to be rebuilt, and has a default for the column mine"
        ),
        ("ALTER TABLE line ADD COLUMN mine TEXT", noted, "1: duplicate column name: mine"),
        ("CREATE VIEW bad AS SELECT * FROM nowhere", renamed, "1: error in view bad: no such table"),
        (
            "CREATE TABLE note (person_id INTEGER REFERENCES person (id))", named,
            "1: the table note, which another program has made, has a foreign key to columns that are no longer a key"
        ),
        (
            "CREATE VIEW counts AS SELECT \"line\".\"count\" FROM line",
            MigratedStore.model(line: #""sku": {"type": "string"}"#),
            "1: an object that another program has made could no longer"
        ),
    ]

    @Test(arguments: others.indices) func saysInThePlanWhatOthersWouldLose(index: Int) throws {
        let other = Self.others[index]
        let migrated = try MigratedStore(
            records: #"{"id": 7, "customer": {"id": 1, "name": "Ada"}, "#
                + #""items": [{"sku": "a", "count": 2}, {"sku": "b"}, {"sku": "c"}], "tags": ["x", "y", "z"]}"#
        )
        try StoreContent.execute(migrated.store, other.statement)
        let before = try migrated.everything()
        for options in [["--allow-loss", "--dry-run"], ["--allow-loss"]] {
            let file = try migrated.related.directory.write(other.model, to: "new.json")
            let result = try run([Project.importer, "migrate", migrated.store, "--model", file] + options)
            #expect(result.ending == .exit(65))
            #expect(result.outputText.contains("  " + other.reason), "\(result.outputText)\(result.errorText)")
        }
        #expect(try migrated.everything() == before)
    }

    @Test func keepsAColumnOfOthersWhereRowsWouldMove() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"{"a": [{"id": 1}], "c": [{"id": 2, "n": "q"}]}"#, to: "animals.json")
        let model = try directory.write(Self.animals, to: "model.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter("import", source, "--into", store, "--model", model, "-q").ending == .exit(0))
        try StoreContent.execute(store, "ALTER TABLE cat ADD COLUMN mine TEXT; UPDATE cat SET mine = 'precious'")
        let family = try directory.write(Self.family, to: "family.json")
        for options in [["--dry-run"], []] {
            let result = try run([Project.importer, "migrate", store, "--model", family] + options)
            #expect(result.ending == .exit(65))
            #expect(result.outputText.contains("  1: the table cat has the column mine"), "\(result.outputText)")
        }
        #expect(try StoreContent.query(store, "SELECT id, n, mine FROM cat") == "2|q|precious")
    }

    @Test func keepsForeignKeysOfOthersToTablesThatGo() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"{"a": [{"id": 1}], "c": [{"id": 2, "n": "q"}]}"#, to: "animals.json")
        let model = try directory.write(Self.animals, to: "model.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter("import", source, "--into", store, "--model", model, "-q").ending == .exit(0))
        try StoreContent.execute(
            store,
            "CREATE TABLE note (cat INTEGER REFERENCES cat (id)); INSERT INTO note VALUES (2)"
        )
        let one = try directory.write(
            #"{"entities": {"animal": {"records": "$.a[*]", "identifier": ["id"], "attributes": {"id": {"type": "integer64"}}}}}"#,
            to: "one.json"
        )
        let result = try runImporter("migrate", store, "--model", one, "--allow-loss")
        #expect(result.ending == .exit(65))
        #expect(
            result.outputText.contains("  1: another program's table note has a foreign key to it"),
            "\(result.outputText)"
        )
        #expect(try StoreContent.query(store, "SELECT id FROM cat") == "2")
    }

    @Test func keepsIndexesOfOthersThatBeginAsThoseOfTheModel() throws {
        func model(_ type: String, _ indexes: String) -> String {
            """
            {"entities": {"person": {"identifier": ["id"], \(indexes)"attributes": {\(Self.id),
              "email": {"type": "string"}, "n": {"type": "\(type)", "optional": true}}}}}
            """
        }
        let indexed = #""indexes": [["email"]], "#
        let related = try RelatedImport()
        let record = #"{"id": 1, "email": "x", "n": 1}"#
        #expect(try related.importing(record, "person", model("integer32", indexed)).ending == .exit(0))
        let own = [
            "CREATE UNIQUE INDEX mine ON person (email) WHERE n > 0",
            "CREATE UNIQUE INDEX mine2 ON person (email COLLATE NOCASE)",
            "CREATE INDEX mine3 ON person (email DESC)",
            "CREATE UNIQUE INDEX person_email ON person (email)",
        ]
        try StoreContent.execute(related.store, "DROP INDEX person_email; " + own.joined(separator: "; "))
        let before = "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'person' AND sql IS NOT NULL"
        let indexes = try StoreContent.query(related.store, before + " ORDER BY sql")
        for (place, new) in [model("string", indexed), model("string", "")].enumerated() {
            let file = try related.directory.write(new, to: "new\(place).json")
            #expect(try runImporter("migrate", related.store, "--model", file).ending == .exit(0))
            #expect(try StoreContent.query(related.store, before + " ORDER BY sql") == indexes)
        }
    }

    // MARK: Rows that go

    @Test func saysWhichReferencesLeadToRowsOfASubentityThatGoes() throws {
        func model(_ values: String, _ dog: String) -> String {
            """
            {"entities": {
              "animal": {"identifier": ["id"], "attributes": {\(Self.id)}, "subentity": {"from": "t", "values": {\(values)}}},
              "cat": {"parent": "animal"}\(dog),
              "own": {"identifier": ["id"], "attributes": {\(Self.id)},
                "relationships": {"pets": {"entity": "animal", "toMany": true}}}}}
            """
        }
        let records = #"{"id": 1, "pets": [{"id": 1, "t": "c"}, {"id": 2, "t": "d"}]}"#
        let related = try RelatedImport()
        let both = model(#""c": "cat", "d": "dog""#, #", "dog": {"parent": "animal"}"#)
        #expect(try related.importing(records, "own", both).ending == .exit(0))
        let file = try related.directory.write(model(#""c": "cat""#, ""), to: "new.json")
        for options in [["--dry-run"], []] {
            let command = [Project.importer, "migrate", related.store, "--model", file, "--allow-loss"]
            let result = try run(command + options)
            #expect(result.ending == .exit(65))
            #expect(
                result.outputText.contains(
                    "refused: own.pets refers to rows that are dropped\n  1: these refer to a dog\n    1, 2\n  Clear the references first"
                ),
                "\(result.outputText)"
            )
        }
        #expect(try related.query("SELECT id, entity FROM animal ORDER BY id") == "1|cat\n2|dog")
    }
}
