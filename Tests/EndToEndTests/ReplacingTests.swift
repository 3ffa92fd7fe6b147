import Foundation
import TestSupport
import Testing

/// `--on-conflict replace` leaves nothing of the object that was there.
struct ReplacingTests {
    private static let first = """
        {"id":1,"a":"x","b":1,"v":{"c":2}}
        {"id":2,"a":"y","b":2,"v":{"c":3}}

        """

    /// The source's model, inferred or given, has `id` and `a` only.
    @Test(arguments: [true, false], [true, false])
    func replacesWhatTheModelOfTheSourceDoesNotMention(isGiven: Bool, isWhole: Bool) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("p.sqlite")
        let source = try directory.write(Self.first, to: "p.ndjson")
        #expect(try runImporter(source, "--into", store, "--identifier", "id").ending == .exit(0))
        // What other records mention makes no difference.
        let rest = isWhole ? "{\"id\":3,\"a\":\"q\",\"b\":9}\n" : ""
        let second = try directory.write("{\"id\":1,\"a\":\"z\"}\n\(rest)", to: "second.ndjson")
        var options = ["--on-conflict", "replace", "--entity", "p"]
        if isGiven {
            let model = try directory.write(
                """
                {"entities":{"p":{"identifier":["id"],"attributes":{
                  "id":{"type":"integer64"}, "a":{"type":"string","optional":true}}}}}
                """,
                to: "model.json"
            )
            options += ["--model", model]
        }
        let result = try run([Project.importer, second, "--into", store] + options)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let third = isWhole ? isGiven ? "\n3|q||" : "\n3|q|9|" : ""
        #expect(try StoreContent.query(store, "SELECT * FROM p ORDER BY 1") == "1|z||\n2|y|2|3\(third)")
    }

    /// A table of a person's own has defaults of its own.
    @Test func givesTheColumnsOfATableTheirDefaults() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("p.sqlite")
        _ = try Python.run(
            text: """
                import sqlite3, sys
                sqlite3.connect(sys.argv[1]).executescript('''CREATE TABLE p (id INTEGER PRIMARY KEY, a TEXT, s TEXT NOT NULL
                DEFAULT 'it''s', n INTEGER DEFAULT -3, at TEXT DEFAULT CURRENT_TIMESTAMP, x REAL);
                INSERT INTO p VALUES (1, 'a', 'b', 4, 'then', 1.5)''')
                """,
            [store]
        )
        let source = try directory.write("{\"id\":1,\"a\":\"c\"}\n{\"id\":2,\"a\":\"d\"}\n", to: "p.ndjson")
        let result = try runImporter(source, "--into", store, "--identifier", "id", "--on-conflict", "replace")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let columns = "id, a, s, n, CASE at WHEN 'then' THEN at END, x"
        let rows = try StoreContent.query(store, "SELECT \(columns) FROM p ORDER BY 1")
        #expect(rows == "1|c|it's|-3|then|\n2|d|it's|-3||")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM p WHERE at IS NULL") == "0")
    }
}
