import Foundation
import TestSupport
import Testing

/// A server's table that was there before may refuse objects with an identifier: their records are rejects, and all others land.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGConstraintTests {
    private static let model = """
        {"entities": {"person": {"records": "$", "identifier": ["id"], "attributes": {
          "id": {"type": "string"}, "email": {"type": "string", "optional": true},
          "age": {"type": "integer64", "optional": true}, "name": {"type": "string", "optional": true}}}}}
        """

    private static func files(_ sources: [[String]]) throws -> ImportFiles {
        try ImportFiles(records: sources, model: model, options: ["--entity", "person"])
    }

    /// A record for each constraint, between others.
    private static let some = [
        #"{"id":"a","email":"e","age":1,"name":"n"}"#, #"{"id":"bad","email":"f","age":2,"name":"n"}"#,
        #"{"id":"c","email":"g","age":3,"name":"n"}"#,
    ]

    private static let objects = "SELECT id, email, age, name FROM person ORDER BY id"
    private static let rejects = """
        SELECT ordinal, errors::json->0->>'code', errors::json->0->>'keyPath', errors::json->0->>'expected',
            errors::json->0->>'found' FROM _import_reject ORDER BY ordinal
        """

    private static let refusals = [
        ("age bigint CHECK (age <> 2)", "", "violates check constraint"),
        (
            "age bigint",
            "CREATE TABLE f (email text PRIMARY KEY); INSERT INTO f VALUES ('e'), ('g'); "
                + "ALTER TABLE person ADD FOREIGN KEY (email) REFERENCES f INITIALLY DEFERRED", "violates foreign key"
        ),
        ("age bigint", "ALTER TABLE person ADD EXCLUDE USING btree ((CASE age WHEN 2 THEN 3 ELSE age END) WITH =)", ""),
        ("age bigint", "ALTER TABLE person ALTER id TYPE varchar(2)", "value too long"),
        (
            "age bigint",
            "CREATE UNIQUE INDEX ON person ((CASE age WHEN 2 THEN 9 ELSE age END)); "
                + "INSERT INTO person VALUES ('z', NULL, NULL, 9)",
            "unique"
        ),
        (
            "age bigint",
            """
            CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF NEW.id = 'bad' THEN RAISE 'it is bad'; END IF; RETURN NEW; END $$;
            CREATE TRIGGER no BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION no()
            """, "it is bad"
        ),
    ]

    @Test(arguments: Cases.few(2, of: refusals))
    func refusedObjectsAreRejects(column: String, more: String, text: String) throws {
        let files = try Self.files([Self.some])
        let database = try PGDatabase()
        try database.execute("CREATE TABLE person (id text PRIMARY KEY, name text, email text, \(column)); \(more)")
        let isExclusion = text.isEmpty
        let isUnique = text == "unique"
        let report = try database.imported(files)
        #expect(report.counts.inserted == 2 && report.counts.rejected == 1)
        // Of two that are in each other's way the first one lands.
        let refused = isExclusion ? "c" : "bad"
        let found = try database.query(Self.rejects).components(separatedBy: "|")
        let words = isExclusion ? "exclusion" : text
        let error = [isExclusion ? "3" : "2", "constraintViolation", "", "a row that the table accepts"]
        #expect(found.dropLast() == error[...] && found.last?.contains(words) == true, "\(found)")
        #expect(try !database.query("SELECT id FROM person").split(separator: "\n").contains(Substring(refused)))
        #expect(try database.query("SELECT count(*) FROM person") == (isUnique ? "3" : "2"))
        let status = try database.importer(["status", database.url]).outputText
        #expect(status.contains(found.last ?? "?"), "\(status)")
        #expect(try database.isVerified())
    }

    /// The same that SQLite does with records of one each, one after the other.
    @Test(arguments: Cases.few(1, of: [("merge", true), ("ignore", false), ("merge", false), ("ignore", true)]))
    func agreesWithSQLite(policy: String, hasRows: Bool) throws {
        let records = RecordGenerator.records(450, seed: 91) { make in
            let email = "\"a\(make.number(below: 150))@x\""
            let name = make.chance(90) ? make.text("n", below: 9) : "null"
            return ["\"email\": \(email)", "\"age\": \(make.number(below: 10) - 1)", "\"name\": \(name)"]
        }.enumerated().map { #"{"id": "k\#($0)", \#($1.drop { $0 == "{" })"# }
        let files = try Self.files([records])
        var tables =
            "CREATE TABLE person (id text, name text NOT NULL, email text UNIQUE, age bigint CHECK (age >= 0));"
        tables += "CREATE UNIQUE INDEX person_identifier ON person (id);"
        if hasRows {
            tables += "INSERT INTO person (id, name, email) VALUES ('k7', 'x', 'a7@x'), ('none', 'x', 'a1@x')"
        }
        let database = try PGDatabase()
        try database.execute(tables)
        let options = ["--on-conflict", policy, "--workers", "2"]
        let report = try database.imported(files, nil, options + ["--chunk-size", "2000"])
        let store = try files.makeStore("same.sqlite", tables.replacing("bigint", with: "INTEGER"))
        #expect(try run(files.command(into: store, options)).ending == .exit(0))
        #expect(report.counts.rejected > 200 && report.counts.inserted > 100)
        #expect(try database.difference(of: "person", from: store).isEmpty)
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: store))
        #expect(try database.isVerified())
    }

    /// The records of an object that is refused are taken one after the other.
    @Test func recordsOfARefusedObject() throws {
        let lines = [
            #"{"id":"a","age":1}"#, #"{"id":"b","age":-1}"#, #"{"id":"b","age":2}"#, #"{"id":"a","age":-1}"#,
            #"{"id":"b","name":"x"}"#, #"{"id":"a","name":"y"}"#,
        ]
        let database = try PGDatabase()
        try database.execute("CREATE TABLE person (id text, email text, age bigint CHECK (age >= 0), name text)")
        try database.imported(Self.files([lines]))
        // What b ends as is taken, whatever it was before.
        #expect(try database.query(Self.objects) == "a||1|y\nb||2|x")
        #expect(try database.query("SELECT ordinal FROM _import_reject") == "4")
        #expect(
            try database.query("SELECT sum(inserted), sum(updated), sum(unchanged) FROM _import_count") == "2|3|0"
        )
        #expect(try database.isVerified())
    }

    /// The server's collation says which identifiers are the same.
    @Test func takesSpellingsOfOneKeyForOne() throws {
        let lines = [
            #"{"id":"ann","name":"x"}"#, #"{"id":"ANN","name":"X"}"#, #"{"id":"Bob"}"#, #"{"id":"Ann","name":"X"}"#,
        ]
        let database = try PGDatabase()
        try database.execute(
            """
            CREATE COLLATION "in any case" (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
            CREATE TABLE person (id text COLLATE "in any case" PRIMARY KEY, email text, age bigint,
                name text COLLATE "in any case")
            """
        )
        let files = try Self.files([lines])
        for inserted in [2, 0] as [Int64] {
            let report = try database.imported(files, nil, ["--again"])
            #expect(report.counts.inserted == inserted && report.counts.rejected == 0)
            #expect(try database.query(Self.objects) == "ann|||X\nBob|||")
            try Data((lines[1] + "\n").utf8).write(to: URL(filePath: files.sources[0]))
        }
        #expect(try database.isVerified())
    }

    @Test func stopsAtTheFirst() throws {
        let database = try PGDatabase()
        try database.execute("CREATE TABLE person (id text, email text, age bigint CHECK (age <> 2), name text)")
        let files = try Self.files([Self.some])
        let result = try database.importer(database.command(files, nil, ["--on-error", "stop"]))
        #expect(result.ending == .exit(65), "\(result.ending) \(result.errorText)")
        #expect(result.errorText.contains("check constraint"), "\(result.errorText)")
        #expect(try database.query("SELECT count(*) FROM person") == "0")
    }

    /// More than are read at a time, of many chunks; nearly all of them come again, which is found at once.
    @Test(.enabled(if: Cases.areAll, "one of all cases")) func manyRejectsOfABucket() throws {
        let lines = (0..<24_000).map { #"{"id":"k\#($0 / 2)","age":\#($0 % 997 - 1)}"# }
        let files = try Self.files([lines])
        let database = try PGDatabase()
        try database.execute("CREATE TABLE person (id text, email text, age bigint CHECK (age >= 0), name text)")
        let report = try database.imported(files, nil, ["--on-conflict", "error", "--chunk-size", "100K"])
        let store = try files.makeStore(
            "same.sqlite",
            "CREATE TABLE person (id TEXT, email TEXT, age INTEGER CHECK (age >= 0), name TEXT)"
        )
        #expect(try run(files.command(into: store, ["--on-conflict", "error"])).ending == .exit(0))
        #expect(report.counts.rejected > 10_000)
        #expect(try database.difference(of: "person", from: store).isEmpty)
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: store))
        #expect(try database.isVerified())
    }

    /// Killed while it settles by parts, it begins the bucket again.
    @Test func killedMeanwhile() throws {
        let lines = (0..<600).map { #"{"id":"k\#($0 % 400)","age":\#($0 % 7 - 1)}"# }
        let files = try Self.files([lines])
        let table = """
            CREATE TABLE person (id text, email text, age bigint CHECK (age >= 0), name text);
            CREATE TABLE log (id text)
            """
        let (killed, whole) = (try PGDatabase(), try PGDatabase())
        for database in [killed, whole] { try database.execute(table) }
        // The last object waits for somebody else.
        try killed.execute(
            """
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN IF NEW.id = 'k399' THEN INSERT INTO log VALUES (NEW.id); END IF; RETURN NEW; END $$;
            CREATE TRIGGER note BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION note()
            """
        )
        let holder = try killed.holdBack("log")
        let program = try killed.start(killed.command(files, nil, ["--workers", "1"]))
        try wait(for: "the last object", instead: { program.account }) { try killed.heldBack("log") > 0 ? true : nil }
        // Its bucket is nobody else's for as long as its transaction lasts, and then for seconds.
        let free =
            "SELECT count(*) FROM (SELECT FROM _import_settle WHERE state = 'open' FOR UPDATE SKIP LOCKED) AS free"
        #expect(try killed.query(free) == "0")
        program.signal(SIGKILL)
        program.wait()
        holder.end()
        try wait(for: "the end of the transaction") { try killed.query(free) == "1" ? true : nil }
        let left = "SELECT max(lease_until) <= clock_timestamp() + interval '10 s' FROM _import_settle"
        #expect(try killed.query(left) == "t")
        try killed.forgetDeadProcesses()
        #expect(try killed.query("SELECT count(*) FROM person") == "0")
        #expect(try killed.importer(["resume", killed.url]).ending == .exit(0))
        try whole.imported(try Self.files([lines]))
        #expect(try killed.query(Self.objects) == whole.query(Self.objects))
        #expect(try killed.query(Self.rejects) == whole.query(Self.rejects))
        #expect(try killed.isVerified())
    }
}
