import Foundation
import TestSupport
import Testing

/// The identifier of a table that an import has made is its primary key.
@Suite struct PrimaryKeyTests {
    private static let key =
        "SELECT group_concat(name) FROM (SELECT name FROM pragma_table_info('p') WHERE pk > 0 ORDER BY pk)"
    private static let indexes =
        "SELECT coalesce(group_concat(name), '') FROM pragma_index_list('p') WHERE origin = 'c'"

    private static func model(_ identifier: String, _ type: String = "string", _ more: String = "") -> String {
        """
        {"entities": {"p": {"identifier": [\(identifier)], "attributes": {
            "id": {"type": "\(type)"\(more)}, "no": {"type": "integer32"}, "note": {"type": "string"}}}}}
        """
    }

    private static func records(_ count: Int) -> String {
        (0..<count).map { "{\"id\": \"k\($0 * 7 % count)\", \"no\": \($0), \"note\": \"n\($0)\"}\n" }.joined()
    }

    /// The schema that SQLite reads is the one that the file has: its dump makes the same tables again.
    private static func check(_ store: String) throws {
        #expect(try StoreContent.query(store, "PRAGMA integrity_check") == "ok")
        let copy = store + ".copy"
        try? FileManager.default.removeItem(atPath: copy)
        #expect(try run(["sh", "-c", "sqlite3 \"$1\" .dump | sqlite3 \"$2\"", "sh", store, copy]).ending == .exit(0))
        for query in ["SELECT sql FROM sqlite_master WHERE name = 'p'", "SELECT * FROM p ORDER BY rowid", key] {
            #expect(try StoreContent.query(copy, query) == StoreContent.query(store, query))
        }
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test(arguments: [(#""id""#, "id"), (#""no", "id""#, "no,id")], ["1", "3"])
    func isTheIdentifier(_ identifier: (model: String, key: String), workers: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.records(900), to: "p.ndjson")
        let model = try directory.write(Self.model(identifier.model), to: "model.json")
        let store = directory.path("s.sqlite")
        let command = [
            Project.importer, source, "--into", store, "--model", model, "--workers", workers, "--chunk-size", "4000",
            "--commit-every", "100",
        ]
        if try InterruptionTests.isKilled(command, in: store, atRows: 300, later: 0) {
            #expect(try StoreContent.query(store, Self.key) == "")
        }
        #expect(try TestSupport.run(command).ending == .exit(0))
        #expect(try StoreContent.query(store, Self.key) == identifier.key)
        #expect(try StoreContent.query(store, Self.indexes) == "")
        try Self.check(store)
        // The second night finds its objects, and keeps the key.
        let again = try directory.write(
            Self.records(900) + "{\"id\": \"new\", \"no\": 900, \"note\": \"\"}\n",
            to: "q.ndjson"
        )
        let second = try runImporter(again, "--into", store, "--model", model, "--json")
        let report = try JSONSerialization.jsonObject(with: second.output) as? [String: Any]
        #expect(report?["unchanged"] as? Int == 900)
        #expect(report?["inserted"] as? Int == 1)
        #expect(try StoreContent.query(store, Self.key) == identifier.key)
        try Self.check(store)
        #expect(try runImporter("undo", store).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM p") == "900")
        try Self.check(store)
    }

    /// A single column of the type INTEGER would be the row id.
    @Test func isAnIndexWhereItWouldBeTheRowID() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"{"id": "2024-01-02T03:04:05Z", "no": 1, "note": ""}"#, to: "p.ndjson")
        let model = try directory.write(Self.model(#""id""#, "date", #", "storage": "unix""#), to: "model.json")
        let store = directory.path("s.sqlite")
        #expect(try runImporter(source, "--into", store, "--model", model).ending == .exit(0))
        #expect(try StoreContent.query(store, Self.key) == "")
        #expect(try StoreContent.query(store, Self.indexes) == "p_identifier")
        #expect(try StoreContent.query(store, "SELECT rowid, id FROM p") == "1|1704164645")
    }

    /// A table that was there before keeps its schema.
    @Test func isAnIndexWhereTheTableWasThere() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.records(3), to: "p.ndjson")
        let store = directory.path("s.sqlite")
        let sql = "CREATE TABLE p (id TEXT, no INTEGER, note TEXT)"
        try StoreContent.execute(store, sql)
        #expect(try runImporter(source, "--into", store, "--identifier", "id").ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT sql FROM sqlite_master WHERE name = 'p'") == sql)
        #expect(try StoreContent.query(store, Self.indexes) == "p_identifier")
    }

    /// A table that somebody has emptied is filled as a new one is, and has its key when that is done, or taken back.
    @Test(arguments: [true, false])
    func comesBackToATableThatWasEmptied(isRestarted: Bool) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.records(900), to: "p.ndjson")
        let store = directory.path("s.sqlite")
        let command = [Project.importer, source, "--into", store, "--identifier", "id", "--workers", "1"]
        #expect(try TestSupport.run(command).ending == .exit(0))
        let schema = "SELECT group_concat(sql) FROM sqlite_master WHERE tbl_name = 'p'"
        let before = try StoreContent.query(store, schema)
        try StoreContent.execute(store, "DELETE FROM p")
        let again = command + ["--again", "--chunk-size", "4000", "--commit-every", "100"]
        #expect(try InterruptionTests.isKilled(again, in: store, atRows: 300, later: 0))
        #expect(try StoreContent.query(store, Self.key) == "")
        let next = isRestarted ? command + ["--restart"] : [Project.importer, "resume", store]
        let result = try TestSupport.run(next)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, schema) == before)
        #expect(try StoreContent.query(store, "SELECT count(*) FROM p") == "900")
        try Self.check(store)
    }

    @Test func followsTheModelThroughAMigration() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.records(50), to: "p.ndjson")
        let model = try directory.write(Self.model(#""id""#), to: "model.json")
        let store = directory.path("s.sqlite")
        #expect(try runImporter(source, "--into", store, "--model", model).ending == .exit(0))
        try StoreContent.execute(
            store,
            "CREATE VIEW mine AS SELECT id, no FROM p; CREATE INDEX p_note ON p (note); ALTER TABLE p ADD COLUMN own TEXT; "
                + "UPDATE p SET own = id"
        )
        let new = try directory.write(Self.model(#""note""#), to: "new.json")
        let result = try runImporter("migrate", store, "--model", new)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, Self.key) == "note")
        #expect(try StoreContent.query(store, Self.indexes) == "p_note")
        #expect(
            try StoreContent.query(store, "SELECT count(*), sum(own = mine.id) FROM mine JOIN p USING (no)") == "50|50"
        )
        try Self.check(store)
    }
}
