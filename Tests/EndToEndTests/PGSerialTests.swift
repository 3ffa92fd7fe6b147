import Foundation
import TestSupport
import Testing

/// Where statements do not settle what records say, the importing process takes one record after the other: tables, rejects and counts
/// are those of a SQLite store.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGSerialTests {
    private static let small = ["--chunk-size", "120"]

    /// Two objects of one shelf change places, so that their row ids are of no use; `keys` are what needs it.
    static func model(_ keys: String = #""by": "name", "unresolved": "reject""#) -> String {
        """
        {"entities": {
          "book": {"identifier": ["id"], "attributes": {"id": {"type": "string"}, "price": {"type": "decimal", "optional": true},
              "sold": {"type": "date", "optional": true}, "cover": {"type": "binary", "optional": true},
              "more": {"type": "json", "optional": true}, "used": {"type": "boolean", "optional": true}},
            "relationships": {
              "author": {"entity": "person", \(keys)},
              "notes": {"entity": "note", "toMany": true},
              "shelf": {"entity": "shelf", "inverse": "books"},
              "readers": {"entity": "person", "toMany": true}}},
          "person": {"identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "name": {"type": "string", "optional": true}}},
          "shelf": {"attributes": {"room": {"type": "string", "optional": true}}, "relationships": {
            "books": {"entity": "book", "toMany": true, "inverse": "shelf"}}},
          "note": {"attributes": {"text": {"type": "string", "from": "@value"}}}}}
        """
    }

    private static let people = [
        #"{"id": 1, "name": "Ada"}"#, #"{"id": 2, "name": "Bob"}"#, #"{"id": 3}"#, #"{"id": 2, "name": "Eve"}"#,
    ]
    private static let books = [
        #"{"id": "a", "author": "Ada", "notes": ["x", "y"], "price": "1.50", "sold": "2024-02-29T12:30:00.5Z", "used": true}"#,
        #"{"id": "b", "author": "Nobody", "notes": ["z"], "readers": [7]}"#,
        #"{"id": "c", "author": "Eve", "shelf": {"room": "r", "books": ["a", "c"]}, "cover": "AAEC", "more": {"k": [1.0, null]}}"#,
        #"{"id": "a", "notes": ["y", "x", "w"], "readers": [3, 1, {"id": 4, "name": "Zoe"}], "price": null}"#,
        #"{"id": 7, "author": "Ada"}"#, #"{"id": "d", "price": "x"}"#,
        #"{"id": "c", "author": "Zoe", "readers": [1, 3], "shelf": null, "used": false}"#,
    ]
    private static let tables = ["book", "person", "note", "book_readers"]

    static func files(_ keys: String? = nil) throws -> ImportFiles {
        try ImportFiles(records: [people, books], model: keys.map(model) ?? model())
    }

    private func options(_ files: ImportFiles, _ source: String) -> [String] {
        ["--entity", source == files.sources[0] ? "person" : "book", "--max-errors", "none"]
    }

    /// Imports sources one after the other into the server and into a store, and expects the same of both after each.
    private func compare(_ files: ImportFiles, _ database: PGDatabase, _ sources: [Int] = [0, 1, 1, 0]) throws {
        var seen: Set<Int> = []
        for number in sources {
            let source = files.sources[number]
            let again = seen.insert(number).inserted ? [] : ["--again"]
            let options = options(files, source) + again
            let report = try database.imported(files, [source], options + Self.small)
            try expectSame(report, files.storeOfTheSame([source], options), database)
        }
    }

    private func expectSame(
        _ report: ComparableReport,
        _ same: (path: String, report: ComparableReport),
        _ database: PGDatabase
    ) throws {
        #expect(report == same.report)
        for table in Self.tables { #expect(try database.difference(of: table, from: same.path).isEmpty, "\(table)") }
        let shelves = "SELECT b.id, s.room FROM book AS b JOIN shelf AS s ON s.row_id = b.shelf_row_id ORDER BY 1"
        #expect(try database.query(shelves) == StoreContent.query(same.path, shelves))
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        #expect(try database.isVerified())
    }

    /// Relationships of kinds that statements do not settle, into an empty schema and into one with objects.
    @Test(
        arguments: Cases.few(
            1,
            of: [
                #""by": "name", "owner": "local", "unresolved": "keep""#, #""by": "name", "unresolved": "reject""#,
                #""by": "name", "onConflict": "ignore", "unresolved": "null""#,
            ]
        )
    )
    func areWhatAStoreHas(keys: String) throws {
        try compare(Self.files(keys), PGDatabase())
    }

    /// Values that no record mentions stay as they are, though a store would keep them otherwise.
    @Test func leavesWhatIsNotMentioned() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        for source in files.sources { try database.imported(files, [source], options(files, source)) }
        try database.execute(
            """
            ALTER TABLE book ADD COLUMN own text DEFAULT 'kept', ALTER COLUMN sold TYPE timestamptz(6);
            UPDATE book SET price = 2.500, sold = '2024-02-29 12:30:00.123456Z' WHERE id = 'c';
            CREATE TABLE part (LIKE note INCLUDING ALL)
            """
        )
        let record = #"{"id": "c", "author": "Ada", "notes": ["new"]}"#
        let more = try ImportFiles(records: [[record]], model: Self.model(), options: ["--entity", "book"])
        try database.imported(more)
        let values = "SELECT own, price, sold, author_id, more, used FROM book WHERE id = 'c'"
        #expect(
            try database.query(values) == #"kept|2.500|2024-02-29 12:30:00.123456+00|1|{"k":[1.0,null]}|f"#
        )
        #expect(try database.query("SELECT text FROM note WHERE book_id = 'c'") == "new")
        #expect(try database.isVerified())
    }

    /// Records whose rows a table refuses are rejects, with all that they say, and all others are taken without them.
    @Test func refusedRowsAreRejects() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        let (people, books) = (files.sources[0], files.sources[1])
        try database.imported(files, [people], options(files, people))
        try database.imported(files, [books], options(files, books))
        try database.execute(
            """
            ALTER TABLE note ADD CHECK (text <> 'bad');
            ALTER TABLE person ADD CHECK (name <> 'Mallory') NOT VALID;
            ALTER TABLE note ADD CONSTRAINT own FOREIGN KEY (book_id) REFERENCES book (id) DEFERRABLE INITIALLY DEFERRED
            """
        )
        let records = [
            #"{"id": "e", "author": "Ada", "notes": ["fine"]}"#, #"{"id": "f", "author": "Ada", "notes": ["bad"]}"#,
            #"{"id": "g", "author": "Ada", "readers": [{"id": 9, "name": "Mallory"}]}"#,
            #"{"id": "f", "readers": [{"id": 8, "name": "Max"}]}"#,
        ]
        let more = try ImportFiles(records: [records], model: Self.model(), options: ["--entity", "book"])
        let report = try database.imported(more, nil, ["--max-errors", "none"])
        #expect(report.counts.rejected == 2 && report.counts.inserted == 2, "\(report)")
        #expect(try database.query("SELECT id FROM book WHERE id IN ('e', 'f', 'g') ORDER BY 1") == "e\nf")
        #expect(try database.query("SELECT text FROM note WHERE book_id IN ('e', 'f')") == "fine")
        #expect(try database.query("SELECT id, name FROM person WHERE id > 7") == "8|Max")
        let error = "errors::json->0"
        let rejects = "SELECT ordinal, \(error)->>'code', \(error)->>'entity' FROM _import_reject WHERE job = 3"
        #expect(
            try database.query("\(rejects) ORDER BY 1") == "2|constraintViolation|note\n3|constraintViolation|person"
        )
        #expect(try database.query("SELECT count(*) FROM pg_constraint WHERE conname = 'own'") == "1")
        #expect(try database.isVerified())
    }

    /// Rejects are retried, in the same way.
    @Test func rejectsAreRetried() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        let (people, books) = (files.sources[0], files.sources[1])
        var same = ""
        for source in [books, people] {
            try database.imported(files, [source], options(files, source) + Self.small)
            same = try files.storeOfTheSame([source], options(files, source)).path
        }
        let open = "SELECT count(*) FROM _import_reject WHERE state = 'open'"
        #expect(try Int(database.query(open)) ?? 0 > 2)
        var reports: [ComparableReport] = []
        for place in [database.url, same] {
            let result = try database.importer(["retry", place, "--model", files.model] + Self.small)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            reports.append(try ComparableReport(database.importer(["status", place, "--json"]).output))
        }
        #expect(try database.query(open) == StoreContent.query(same, open))
        #expect(reports[0].counts == reports[1].counts)
        try expectSame(reports[0], (same, reports[0]), database)
    }

    /// Stopped while it settles, it has made all objects, or none.
    @Test(arguments: Cases.few(1, of: [SIGKILL, 0, SIGINT]))
    func isStoppedWhileItSettles(signal: Int32) throws {
        let files = try Self.files()
        let server = try signal == 0 ? PostgreSQLServer() : .shared()
        let database = try PGDatabase(on: server)
        let (people, books) = (files.sources[0], files.sources[1])
        try database.imported(files, [people], options(files, people))
        let before = try database.rows(of: "person")
        let holder = try database.holdBack("person")
        let program = try database.start(database.command(files, [books], options(files, books) + Self.small))
        try wait(for: "the settling", instead: { program.account }) {
            try database.heldBack("person") > 0 ? true : nil
        }
        #expect(try database.rows(of: "person") == before)
        #expect(try database.query("SELECT count(*) FROM book") == "0")
        try PGInterruptionTests.stop(program, by: signal, holder, database)
        _ = try files.storeOfTheSame([people], options(files, people))
        let same = try files.storeOfTheSame([books], options(files, books))
        let report = try ComparableReport(database.importer(["status", database.url, "--json"]).output)
        try expectSame(report, same, database)
        #expect(try database.query("SELECT count(*) FROM pg_class WHERE relname ~ '^_import_(stage|serial)'") == "0")
    }
}
