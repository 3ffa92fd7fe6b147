import Foundation
import TestSupport
import Testing

/// Tables that were there before may refuse what related entities say: each such record is a reject with all that it says, and
/// everything else is as if it had not been there.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGRelatedRefusalTests {
    /// Orders with lines, tags and a person.
    static let model = """
        {"entities": {
          "order": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}}, "relationships": {
            "lines": {"entity": "line", "toMany": true},
            "tags": {"entity": "tag", "toMany": true},
            "person": {"entity": "person", "inverse": "orders"}}},
          "person": {"identifier": ["id"],
            "attributes": {
              "id": {"type": "integer64"}, "name": {"type": "string"}, "note": {"type": "string", "optional": true}},
            "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "person", "from": []}}},
          "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}},
          "line": {"attributes": {"sku": {"type": "string"}, "count": {"type": "integer32"}}}}}
        """

    private static func files(_ records: [String]...) throws -> ImportFiles {
        try ImportFiles(records: records, model: model, options: ["--entity", "order"])
    }

    /// The third record is refused; what it says of others is said by no other one.
    private static let some = [
        #"{"id": 1, "person": {"id": 1, "name": "Ada"}, "tags": ["a", "b"], "lines": [{"sku": "x", "count": 1}]}"#,
        #"{"id": 2, "person": {"id": 2, "name": "Bob"}, "tags": ["b"], "lines": [{"sku": "y", "count": 2}]}"#,
        """
        {"id": 3, "person": {"id": 3, "name": "Eve"}, "tags": ["a", "c"], \
        "lines": [{"sku": "x", "count": 1}, {"sku": "z", "count": 0}]}
        """,
        #"{"id": 4, "person": {"id": 1}, "tags": ["d"], "lines": [{"sku": "x", "count": 3}, {"sku": "y", "count": 4}]}"#,
    ]

    private static let tables = """
        CREATE TABLE person (id bigint PRIMARY KEY, name text, note text);
        CREATE TABLE "order" (id bigint PRIMARY KEY, person_id bigint);
        CREATE TABLE line (sku text, count integer, order_id bigint, order_position bigint);
        CREATE TABLE order_tags (order_id bigint, tags_name text, position bigint);
        """

    private static let raising = """
        CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'it is bad'; END $$;
        """

    private static let refusals = [
        ("ALTER TABLE line ADD CHECK (count > 0)", "line", "violates check constraint"),
        (
            "CREATE TABLE sku (sku text PRIMARY KEY); INSERT INTO sku VALUES ('x'), ('y'); "
                + "ALTER TABLE line ADD FOREIGN KEY (sku) REFERENCES sku", "line", "violates foreign key"
        ),
        (
            "\(raising) CREATE TRIGGER no AFTER INSERT ON person FOR EACH ROW WHEN (NEW.id = 3) EXECUTE FUNCTION no()",
            "person", "it is bad"
        ),
        ("ALTER TABLE order_tags ADD CHECK (tags_name <> 'c')", "order", "violates check constraint"),
        ("ALTER TABLE person ADD CHECK (name <> 'Eve')", "person", "violates check constraint"),
        ("INSERT INTO person VALUES (9, 'Eve'); CREATE UNIQUE INDEX ON person (name)", "person", "unique"),
        (
            "CREATE DOMAIN short AS text CHECK (VALUE <> 'Eve'); ALTER TABLE person ALTER name TYPE short", "person",
            "short"
        ),
        (
            "\(raising) CREATE TRIGGER no BEFORE INSERT ON line FOR EACH ROW WHEN (NEW.count = 0) EXECUTE FUNCTION no()",
            "line", "it is bad"
        ),
        ("ALTER TABLE \"order\" ADD CHECK (id <> 3)", "order", "violates check constraint"),
    ]

    @Test(arguments: Cases.few(2, of: refusals))
    func rejectTheirRecordsWhole(refusal: String, entity: String, words: String) throws {
        let files = try Self.files(Self.some)
        let database = try PGDatabase()
        try database.execute("\(Self.tables)\(refusal)")
        let report = try database.imported(files, nil, ["--chunk-size", "200"])
        #expect(report.counts.inserted == 3 && report.counts.rejected == 1, "\(report)")
        try Self.check(database, without: [3], of: Self.some, entity: entity, words: words)
    }

    /// A text may be too long for an index of a later import.
    @Test func textsThatNoIndexHasRoomFor() throws {
        var random = SeededGenerator(seed: 17)
        // Nothing in it comes twice, so it cannot be compressed.
        let long = String((0..<4_000).map { _ in Character(UnicodeScalar(UInt8(97 + random.next(26)))) })
        let more = [#"{"id": 7, "person": {"id": 7, "name": "\#(long)"}, "tags": ["g"]}"#, #"{"id": 8, "person": 1}"#]
        let files = try Self.files(Self.some, more)
        let database = try PGDatabase()
        for source in files.sources { try database.imported(files, [source], ["--index", "name"]) }
        #expect(try database.query("SELECT string_agg(id::text, ' ' ORDER BY id) FROM \"order\"") == "1 2 3 4 8")
        #expect(try database.query("SELECT count(*), count(*) FILTER (WHERE id = 7) FROM person") == "3|0")
        let rejects = "SELECT job, ordinal, errors::json->0->>'code' FROM _import_reject"
        #expect(try database.query(rejects) == "2|1|identifierTooLong")
        #expect(try database.isVerified())
    }

    /// Foreign keys of others hold when all is there, whatever order rows come in.
    @Test(
        arguments: Cases.few(
            2,
            of: [
                ("", "DEFERRABLE INITIALLY DEFERRED"), ("CONSTRAINT own", ""),
                ("CONSTRAINT own", "DEFERRABLE INITIALLY DEFERRED"), ("", ""),
            ]
        )
    )
    func foreignKeysOfOthersHold(name: String, time: String) throws {
        var records = Self.some
        records[2] = #"{"id": 3, "person": 77, "tags": ["e"], "lines": [{"sku": "x", "count": 1}]}"#
        // It comes before the person.
        records.insert(#"{"id": 5, "person": 2}"#, at: 0)
        let files = try Self.files(records)
        let database = try PGDatabase()
        let clause = "FOREIGN KEY (person_id) REFERENCES person \(time)"
        try database.execute("\(Self.tables) ALTER TABLE \"order\" ADD \(name) \(clause)")
        let keys = """
            SELECT conname, pg_get_constraintdef(oid), convalidated FROM pg_constraint WHERE contype = 'f'
                AND conrelid = '"order"'::regclass AND confdeltype = 'a'
            """
        let before = try database.query(keys)
        let report = try database.imported(files, nil, ["--chunk-size", "200"])
        #expect(report.counts.inserted == 4 && report.counts.rejected == 1, "\(report)")
        try Self.check(database, without: [4], of: records, entity: "order", words: "violates foreign key")
        #expect(try database.query(keys) == before)
    }

    /// The database has what a SQLite store has of the records that are accepted.
    private static func check(
        _ database: PGDatabase,
        without refused: Set<Int>,
        of records: [String],
        entity: String,
        words: String
    ) throws {
        let accepted = try files(records.enumerated().filter { !refused.contains($0.offset + 1) }.map(\.element))
        let same = try accepted.storeOfTheSame()
        // What was there before.
        try database.execute("DELETE FROM person WHERE id = 9")
        for table in try StoreContent.tables(same.path) {
            #expect(try database.difference(of: table, from: same.path) == [], "\(table)")
        }
        let rejects = """
            SELECT ordinal, errors::json->0->>'entity', errors::json->0->>'code', errors::json->0->>'found'
            FROM _import_reject ORDER BY ordinal
            """
        let lines = try database.query(rejects).split(separator: "\n")
        #expect(lines.map { Int($0.prefix { $0 != "|" }) } == refused.sorted())
        for line in lines {
            #expect(line.contains("|\(entity)|constraintViolation|") && line.contains(words), "\(line)")
        }
        let status = try database.importer(["status", database.url]).outputText
        #expect(status.contains(words), "\(status)")
        #expect(try database.query("SELECT count(*) FROM pg_tables WHERE tablename ~ '_import_stage'") == "0")
        #expect(try database.isVerified())
    }

    // MARK: Beside SQLite

    /// Some persons and some lines are refused, whichever record has them; some records need a person that others bring, or
    /// would have brought.
    private static func many(_ numbers: Range<Int>) -> [String] {
        numbers.map { number in
            let (id, person) = (number % 160, number % 45)
            let name = person % 9 == 4 ? "bad" : "p\(person)"
            let said = number % 7 < 2 ? "\"note\": \"n\(number)\"" : "\"name\": \"\(name)\""
            let lines = (0..<number % 4).map { line in
                "{\"sku\": \"s\(line)\", \"count\": \(number % 13 == 5 ? line - 1 : number)}"
            }
            return """
                {"id": \(id), "person": {"id": \(person), \(said)}, "tags": ["t\(number % 5)"], \
                "lines": [\(lines.joined(separator: ", "))]}
                """
        }
    }

    /// The same import into a SQLite store and into a server's database whose tables refuse the same.
    private static func both(_ files: ImportFiles) throws -> (store: String, database: PGDatabase) {
        let store = files.directory.path("same.sqlite")
        let made = Self.tables.replacing("name text", with: "name text CHECK (name <> 'bad')")
            .replacing("count integer", with: "count integer CHECK (count >= 0)")
        let own = made.split(separator: ";").dropLast().filter { !$0.contains("order_tags") }.joined(separator: ";")
        try StoreContent.execute(store, own.replacing("bigint", with: "INTEGER"))
        let database = try PGDatabase()
        try database.execute(own)
        return (store, database)
    }

    private static func check(_ database: PGDatabase, _ store: String) throws {
        for table in try StoreContent.tables(store) {
            #expect(try database.difference(of: table, from: store) == [], "\(table)")
        }
        let rejects = "SELECT job, ordinal FROM _import_reject ORDER BY job, ordinal"
        #expect(try database.query(rejects) == StoreContent.query(store, rejects))
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: store))
        #expect(try database.isVerified())
    }

    @Test func rejectWhatSQLiteRejects() throws {
        let files = try Self.files(Self.many(0..<300), Self.many(300..<420))
        let (store, database) = try Self.both(files)
        for source in files.sources {
            let same = try run(files.command([source], into: store, ["--report", files.directory.path("same.json")]))
            #expect(same.ending == .exit(0), "\(same.errorText)")
            let report = try database.imported(files, [source], ["--chunk-size", "2K", "--workers", "2"])
            let expected = try Report(Data(contentsOf: URL(filePath: files.directory.path("same.json"))))
            #expect(report.counts.rejected > 0 && report.counts.rejected == expected.rejected)
            #expect(report.counts.inserted == expected.inserted && report.counts.updated == expected.updated)
            #expect(report.counts.unchanged == expected.unchanged)
        }
        try Self.check(database, store)
    }

    /// Killed in the transaction that settles all, and resumed while another process takes part.
    @Test(arguments: Cases.few(1, of: ["ignore", "merge"])) func areFoundWhateverDies(policy: String) throws {
        let files = try Self.files(Self.many(0..<300))
        let (store, database) = try Self.both(files)
        let options = ["--on-conflict", policy]
        try #require(run(files.command(into: store, options)).ending == .exit(0))
        let command = database.command(files, nil, options + ["--chunk-size", "2K", "--workers", "2"])
        for table in ["person", "line", "_import_settle", "_import_reject", "_import_count", "order_tags"] {
            try database.kill(command, at: table)
        }
        let program = try database.start(command)
        let worker = try database.start(["work", database.url, "--workers", "1"])
        let (end, worked) = (program.wait(), worker.wait())
        #expect(end.ending == .exit(0), "\(end.errorText)")
        // It may have come when all was done.
        #expect([.exit(0), .exit(75)].contains(worked.ending), "\(worked.errorText)")
        #expect(try database.query("SELECT count(*) FROM _import_job") == "1")
        try Self.check(database, store)
    }
}
