import Foundation
import TestSupport
import Testing

/// The importer's own tables in a server's schema: few, and gone when asked.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGStripTests {
    private static let own = "SELECT count(*) FROM pg_tables WHERE tablename ~ '^_import_'"

    private static let model = """
        {"entities": {
            "order": {"records": "$", "identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
                "lines": {"entity": "line", "toMany": true}, "customer": {"entity": "customer"},
                "tags": {"entity": "tag", "toMany": true, "inverse": "orders"}}},
            "line": {"attributes": {"sku": {"type": "string"}}},
            "customer": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}},
            "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string"}},
                "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "tags"}}}}}
        """

    @Test(arguments: [([], 8), (["--identifier", "id", "--type", "id:integer64"], 9)])
    func areAsFewAsInAStore(_ arguments: [String], count: Int) throws {
        let (directory, database) = (try TemporaryDirectory(), try PGDatabase())
        let text = #"{"id": 1, "a": "x"}"# + "\n" + (arguments.isEmpty ? "" : #"{"id": "no", "a": "y"}"#)
        let file = try directory.write(text, to: "t.ndjson")
        let load = ["import", file, "--into", database.url, "--chunks", directory.path("chunks"), "--quiet"]
        let result = try database.importer(load + arguments)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try database.query(Self.own) == "\(count)")
        for command in ["status", "verify", "rejects"] {
            #expect(try database.importer([command, database.url]).ending == .exit(0))
        }
    }

    @Test func areTakenOut() throws {
        let (directory, database) = (try TemporaryDirectory(), try PGDatabase())
        let model = try directory.write(Self.model, to: "model.json")
        let records = (0..<40).map {
            #"{"id": \#($0), "customer": {"id": \#($0 % 5)}, "lines": [{"sku": "s\#($0)"}], "tags": [{"name": "t\#($0 % 3)"}]}"#
        }
        let file = try directory.write((records + [#"{"id": "x"}"#]).joined(separator: "\n"), to: "order.ndjson")
        let chunks = directory.path("chunks")
        let load = ["import", file, "--into", database.url, "--model", model, "--chunks", chunks, "--quiet"]
        func strip(_ arguments: String...) throws -> ChildProcess.Result {
            try database.importer(["strip", database.url] + arguments)
        }
        let empty = try strip()
        #expect(empty.ending == .exit(66), "\(empty.errorText)")
        let loaded = try database.importer(load)
        #expect(loaded.ending == .exit(0), "\(loaded.errorText)")
        #expect(try database.query(Self.own) == "12")
        let rows = """
            SELECT (SELECT count(*) FROM "order"), (SELECT count(*) FROM line), (SELECT count(*) FROM customer),
                (SELECT count(*) FROM order_tags)
            """
        #expect(try database.query(rows) == "40|40|5|40")
        // A reject would go.
        let refused = try strip()
        #expect(refused.ending == .exit(64) && refused.errorText.contains("1 reject would go"), "\(refused.errorText)")
        try database.execute("UPDATE _import_job SET state = 'interrupted'")
        #expect(try strip("--allow-loss").errorText.contains("is not finished"))
        try database.execute("UPDATE _import_job SET state = 'finished'")
        #expect(try strip("--to", "x.sqlite").ending == .exit(64))
        let result = try strip("--allow-loss")
        #expect(result.ending == .exit(0) && result.outputText.contains("12 tables"), "\(result.errorText)")
        #expect(try database.query(Self.own) == "0")
        #expect(try database.query(rows) == "40|40|5|40")
        // A later import treats the tables as tables that are there.
        let again = try database.importer(load + ["--strip"])
        #expect(again.ending == .exit(64), "\(again.errorText)")
        #expect(try database.query(rows) == "40|40|5|40")
        #expect(try strip("--allow-loss").ending == .exit(0))
    }
}
