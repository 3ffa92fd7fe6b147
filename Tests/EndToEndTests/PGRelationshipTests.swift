import Foundation
import TestSupport
import Testing

/// Entities that relate to one another are in a server's schema what they are in a SQLite store.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGRelationshipTests {
    /// Workers, the importing process and the server die while chunks are imported and settled.
    @Test func standWhateverDies() throws {
        let blows = ["--kills", "2", "--importer-kills", "1", "--crashes", "1", "--cuts", "0.05", "--impatient"]
        let script = [Project.python, Project.root.appending(path: "scripts/server-relationships").path]
        let result = try ChildProcess(
            script + ["--orders", "80"] + blows + ["--importer", Project.importer],
            environment: PostgreSQLServer.shared().environmentWithPrograms
        ).wait()
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
    }

    private static let model = """
        {"entities": {
          "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "lines": {"entity": "line", "toMany": true},
            "person": {"entity": "person", "inverse": "orders"}}},
          "person": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "name": {"type": "string"}},
            "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "person", "from": []}}},
          "line": {"attributes": {"sku": {"type": "string"}}}}}
        """

    private static func files(_ records: [String], model: String = model) throws -> ImportFiles {
        try ImportFiles(records: [records], model: model, options: ["--entity", "order"])
    }

    /// A record that needs an object which only a record after it brings is a reject with all that it says.
    @Test func rejectsWhatLacksAnObject() throws {
        let files = try Self.files([
            #"{"id": 1, "person": {"id": 1}, "lines": [{"sku": "a"}]}"#,
            #"{"id": 2, "person": {"id": 2, "name": 7}, "lines": [{"sku": "b"}]}"#,
            #"{"id": 3, "person": {"id": 1, "name": "Ada"}, "lines": [{"sku": "c"}, {"sku": "d"}]}"#,
            #"{"id": 1, "person": {"id": 1}, "lines": [{"sku": "e"}]}"#,
        ])
        let database = try PGDatabase()
        let report = try database.imported(files, nil, ["--chunk-size", "80"])
        let same = try files.storeOfTheSame()
        #expect(report == same.report)
        for table in ["order", "person", "line"] {
            #expect(try database.difference(of: table, from: same.path).isEmpty)
        }
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        #expect(try database.isVerified())
    }

    /// A text with U+0000 anywhere in a record makes a reject of all of it, or is replaced everywhere.
    @Test func textsWithNULGoWithTheirRecord() throws {
        let files = try Self.files([
            #"{"id": 1, "person": {"id": 1, "name": "Ada"}, "lines": [{"sku": "a"}, {"sku": "b\u0000"}]}"#,
            #"{"id": 2, "lines": [{"sku": "c"}]}"#,
        ])
        let database = try PGDatabase()
        try database.imported(files)
        #expect(try database.query("SELECT id FROM \"order\"") == "2")
        #expect(try database.query("SELECT sku, order_id FROM line") == "c|2")
        #expect(try database.query("SELECT count(*) FROM person") == "0")
        #expect(try database.isVerified())
        let other = try PGDatabase()
        try other.imported(files, nil, ["--nul", "replace"])
        #expect(try other.query("SELECT sku FROM line ORDER BY order_id, order_position") == "a\nb\u{FFFD}\nc")
        #expect(try other.isVerified())
    }

    /// Settling takes what earlier imports have left waiting; an import that is restarted then gives it back.
    @Test func aRestartFindsWhatWaited() throws {
        let model = Self.model.replacing(#""inverse": "person", "from": []"#, with: #""inverse": "person""#)
        let person = #"{"id": 1, "name": "Ada", "orders": [9]}"#
        let persons = try ImportFiles(records: [[person]], model: model, options: ["--entity", "person"])
        let orders = try Self.files([#"{"id": 9}"#], model: model)
        let database = try PGDatabase()
        try database.imported(persons)
        let waiting = try database.query("SELECT relationship, source, target FROM _import_link")
        #expect(waiting == #"person.orders|[1]|[9]"#)
        try database.execute(
            """
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
            CREATE TRIGGER fail BEFORE UPDATE ON _import_settle FOR EACH ROW
                WHEN (NEW.position = -1 AND NEW.attempts = 2) EXECUTE FUNCTION fail()
            """
        )
        #expect(try database.importer(database.command(orders)).ending == .exit(74))
        #expect(try database.query("SELECT count(*) FROM _import_link") == "0")
        try database.execute("DROP TRIGGER fail ON _import_settle")
        try database.imported(orders, nil, ["--restart"])
        #expect(try database.query("SELECT id, person_id FROM \"order\"") == "9|1")
        #expect(try database.query("SELECT count(*) FROM _import_link") == "0")
        #expect(try database.isVerified())
    }

    /// Foreign keys are there again after each import, and hold.
    @Test func foreignKeysHoldAfterEachImport() throws {
        let database = try PGDatabase()
        let keys = "SELECT conname, convalidated FROM pg_constraint WHERE contype = 'f' AND conname !~ '^_' ORDER BY 1"
        let orders = try Self.files([#"{"id": 1, "person": 5, "lines": [{"sku": "a"}]}"#])
        try database.imported(orders)
        #expect(try database.query(keys) == "line_order_id_fkey|t\norder_person_id_fkey|f")
        let persons = try ImportFiles(
            records: [[#"{"id": 5, "name": "Ada"}"#]],
            model: Self.model,
            options: ["--entity", "person"]
        )
        try database.imported(persons)
        #expect(try database.query(keys) == "line_order_id_fkey|t\norder_person_id_fkey|t")
        #expect(throws: (any Error).self) { try database.execute("INSERT INTO line VALUES ('b', 9, 0)") }
        #expect(try database.isVerified())
    }

    /// No index has json: that is said before anything is written.
    @Test func refusesIdentifiersOfJSON() throws {
        let model = Self.model.replacing(#"["id"], "attributes": {"id": {"type": "integer64"}},"#, with: "JSON")
            .replacing("JSON", with: #"["id"], "attributes": {"id": {"type": "json"}},"#)
        let database = try PGDatabase()
        let files = try Self.files([#"{"id": 1}"#], model: model)
        let result = try database.importer(database.command(files))
        #expect(
            result.ending == .exit(64) && result.errorText.contains("the identifier of order is json"),
            "\(result.errorText)"
        )
        #expect(
            try database.query(
                "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'order'"
            ) == "0"
        )
    }
}
