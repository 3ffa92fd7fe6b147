import Foundation
import TestSupport
import Testing

/// A table that was there before may refuse rows: their records are rejects like any others.
struct ConstraintTests {
    private static let model = """
        {"entities": {"person": {"records": "$", "identifier": ["id"], "attributes": {
          "id": {"type": "string"}, "email": {"type": "string", "optional": true},
          "age": {"type": "integer64", "optional": true}, "name": {"type": "string", "optional": true}}}}}
        """

    /// What the constraints would do by themselves is to leave out, replace, fill in, or end the transaction.
    private static let table = """
        CREATE TABLE person (id TEXT UNIQUE ON CONFLICT REPLACE, age INTEGER CHECK (age >= 0),
          name TEXT NOT NULL ON CONFLICT REPLACE DEFAULT 'none', email TEXT UNIQUE ON CONFLICT ROLLBACK);
        CREATE UNIQUE INDEX again ON person (email);
        CREATE TABLE log (what TEXT);
        """

    /// One that keeps what was done before it failed, and one that leaves rows out without a word.
    private static let triggers = """
        CREATE TRIGGER first AFTER INSERT ON person WHEN NEW.name = 'bad' BEGIN
          INSERT INTO log VALUES (NEW.id); SELECT RAISE(FAIL, 'it''s bad'); END;
        CREATE TRIGGER later BEFORE UPDATE ON person WHEN NEW.name = 'still' BEGIN SELECT RAISE(IGNORE); END;
        """

    private static func records(_ count: Int, seed: UInt64) -> [String] {
        RecordGenerator.records(count, seed: seed) { make in
            var members = ["\"id\": \(make.text("k", below: count / 4))"]
            if make.chance(60) {
                let address = "\"a\(make.number(below: count / 5))@x\""
                members.append("\"email\": \(make.chance(10) ? "null" : address)")
            }
            if make.chance(60) { members.append("\"age\": \(make.number(below: 10) - 1)") }
            let names = ["\"bad\"", "\"still\"", "\"Ann\"", "\"Bob\"", "\"Eve\"", "null"]
            if make.chance(90) { members.append("\"name\": \(make.one(of: names))") }
            return members
        }
    }

    private static func files(_ sources: [[String]]) throws -> ImportFiles {
        try ImportFiles(records: sources, model: model, options: ["--entity", "person"])
    }

    private static func expected(_ policy: String, hasTriggers: Bool, of files: ImportFiles) throws -> String {
        try ImportFiles.expected(by: "constraint_model.py", [policy, hasTriggers ? "yes" : "no"] + files.sources)
    }

    private static func content(_ store: String) throws -> String {
        let parts = [
            "SELECT id, email, age, name FROM person ORDER BY rowid",
            "SELECT inserted || ' ' || updated || ' ' || unchanged || ' ' || ignored || ' ' || rejected FROM _import_entity",
            "SELECT ordinal || ' ' || json_extract(errors, '$[0].code') FROM _import_reject ORDER BY ordinal",
        ]
        return try parts.map { try StoreContent.query(store, $0) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    @Test(arguments: MergingTests.policies, [true, false])
    func agreesWithTakingOneRecordAfterTheOther(policy: String, hasTriggers: Bool) throws {
        let files = try Self.files([Self.records(200, seed: 31), Self.records(200, seed: 32)])
        let expected = try Self.expected(policy, hasTriggers: hasTriggers, of: files)
        #expect(expected.contains(" constraintViolation"))
        var results: Set<String> = []
        for (workers, chunkSize, commitEvery) in [("1", "1", "1"), ("2", "2000", "7"), ("4", "8M", "10000")] {
            let store = try files.makeStore("\(workers).sqlite", Self.table + (hasTriggers ? Self.triggers : ""))
            let options = ["--workers", workers, "--chunk-size", chunkSize, "--commit-every", commitEvery]
            let result = try run(files.command(into: store, options + ["--on-conflict", policy]))
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try Self.content(store) == expected, "\(options)")
            // Nothing stays of what a trigger did for a row that it refused.
            #expect(try StoreContent.query(store, "SELECT count(*) FROM log") == "0")
            #expect(try runImporter("verify", store).ending == .exit(0))
            results.insert(try StoreContent.result(store))
        }
        #expect(results.count == 1)
    }

    @Test func saysWhichConstraintAndKeepsTheRecord() throws {
        let bad = [
            #"{"id":"b","email":"e","name":"n"}"#, #"{"id":"c","name":"n","age":-1}"#, #"{"id":"d","name":"bad"}"#,
            #"{"id":"e","name":null}"#,
        ]
        let files = try Self.files([[#"{"id":"a","email":"e","name":"n"}"#] + bad])
        let store = try files.makeStore("s.sqlite", Self.table + Self.triggers)
        #expect(try run(files.command(into: store)).ending == .exit(0))
        let errors = try StoreContent.query(
            store,
            "SELECT attribute, expected, found, count FROM _import_ledger WHERE is_error ORDER BY id"
        )
        #expect(
            errors == """
                email|a value that no other row has|UNIQUE constraint failed: person.email|1
                |a record that passes CHECK age >= 0|CHECK constraint failed: age >= 0|1
                |what the table's triggers require: it's bad|a record that they refuse|1
                name|a value (NOT NULL)|NOT NULL constraint failed: person.name|1
                """
        )
        let raw = files.directory.path("raw.ndjson")
        #expect(try runImporter("rejects", store, "--to", raw, "--raw").ending == .exit(0))
        #expect(try String(contentsOfFile: raw, encoding: .utf8) == bad.joined(separator: "\n") + "\n")
        let status = try runImporter("status", store).outputText
        #expect(status.contains("`email`: 1 record, UNIQUE constraint failed: person.email"))
    }

    /// Records of several entities are beside each other, and only one's table refuses any.
    @Test func tellsTheRecordsOfSeveralEntitiesApart() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(
            """
            {"entities": {
              "free": {"records": "$.*.a[*]", "identifier": ["k"], "attributes": {"k": {"type": "string"}}},
              "person": {"records": "$.*.b.*", "attributes": {"name": {"type": "string", "optional": true},
                "key": {"type": "string", "from": "$key"}}}}}
            """,
            to: "model.json"
        )
        let groups = (0..<40).map { group in
            let name = group % 3 == 0 ? "null" : "\"n\(group)\""
            return "\"g\(group)\": {\"a\": [{\"k\": \"x\(group)\"}, {\"k\": \"x\(group / 2)\"}], "
                + "\"b\": {\"p\(group)\": {\"name\": \(name)}}}"
        }
        let source = try directory.write("{" + groups.joined(separator: ",\n") + "}", to: "all.json")
        let store = directory.path("s.sqlite")
        try StoreContent.execute(store, "CREATE TABLE person (name TEXT NOT NULL, key TEXT)")
        let command = [Project.importer, "import", source, "--into", store, "--model", model, "--commit-every", "7"]
        let result = try run(command)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let rejects = try StoreContent.query(
            store,
            "SELECT record, record_key FROM _import_reject ORDER BY ordinal"
        )
        let expected = stride(from: 0, to: 40, by: 3).map { #"{"name": null}|["g\#($0)","p\#($0)"]"# }
        #expect(rejects == expected.joined(separator: "\n"))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM free") == "40")
        #expect(try runImporter("verify", store).ending == .exit(0))
        // Mended, they are accepted; refused again, they stay open.
        let file = directory.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", file).ending == .exit(0))
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        let mended = lines.enumerated().map { $0 < 10 ? $1.replacing("\"name\": null", with: "\"name\": \"n\"") : $1 }
        try (mended.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try runImporter("retry", store, file).ending == .exit(0))
        let states = "SELECT state, count(*) FROM _import_reject WHERE job = 1 GROUP BY state ORDER BY state"
        #expect(try StoreContent.query(store, states) == "open|4\nrepaired|10")
        #expect(
            try StoreContent.query(store, "SELECT group_concat(key) FROM person WHERE name = 'n'").hasPrefix("p0,p3")
        )
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// Tables whose rows cannot be distinguished, or that work a column out themselves.
    @Test(arguments: [
        ("CREATE TABLE person (id TEXT, email TEXT, age INTEGER, name TEXT, RowID TEXT)", "a column named rowid"),
        ("CREATE TABLE person (id TEXT, email TEXT, age INTEGER, name TEXT AS (email))", "is computed in the store"),
    ])
    func refusesTablesThatItCannotWrite(table: String, reason: String) throws {
        let files = try Self.files([[#"{"id":"a","email":"e","name":"n"}"#]])
        let store = try files.makeStore("s.sqlite", table)
        let result = try run(files.command(into: store))
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains(reason), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM sqlite_master WHERE name LIKE '%import%'") == "0")
    }

    /// The same record stops the import as if its fault had been seen when it was read.
    @Test(arguments: ["1", "2", "4"])
    func stopsAtTheRecordThatIsTooMany(workers: String) throws {
        let files = try Self.files([Self.records(300, seed: 33)])
        let expected = try Self.expected("merge", hasTriggers: false, of: files)
        let rejects = expected.split(separator: "\n").filter { $0.hasSuffix("constraintViolation") }
        let fourth = try #require(rejects[3].split(separator: " ").first.flatMap { Int($0) })
        let store = try files.makeStore("s.sqlite", Self.table)
        let options = ["--max-errors", "3", "--workers", workers, "--chunk-size", "2000", "--commit-every", "50"]
        #expect(try run(files.command(into: store, options)).ending == .exit(65))
        #expect(try StoreContent.query(store, "SELECT record_ordinal FROM _import_job") == "\(fourth - 1)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "3")
        #expect(try runImporter("verify", store).ending == .exit(0))
        let strict = try files.makeStore("t.sqlite", Self.table)
        #expect(try run(files.command(into: strict, ["--on-error", "stop"])).ending == .exit(65))
        #expect(try StoreContent.query(strict, "SELECT count(*) FROM _import_reject") == "0")
    }

    /// What was committed before stays, and with the trigger gone the import continues.
    @Test func saysSoWhereATriggerEndsTheTransaction() throws {
        let files = try Self.files([(0..<100).map { "{\"id\": \"k\($0)\", \"name\": \"n\($0)\"}" }])
        let trigger = """
            CREATE TRIGGER ends BEFORE INSERT ON person WHEN NEW.name = 'n55' BEGIN SELECT RAISE(ROLLBACK, 'no'); END;
            """
        let store = try files.makeStore("s.sqlite", Self.table + trigger)
        let result = try run(files.command(into: store, ["--commit-every", "10", "--workers", "1"]))
        #expect(result.ending == .exit(73))
        #expect(result.errorText.contains("person: a trigger ends the whole transaction: no"))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM person") == "50")
        #expect(try runImporter("verify", store).ending == .exit(0))
        try StoreContent.execute(store, "DROP TRIGGER ends")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM person") == "100")
    }

    /// Foreign keys are not checked while importing, but what leads nowhere is said.
    @Test func rowsThatReferToNothingAreCounted() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        try StoreContent.execute(
            store,
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY); INSERT INTO parent VALUES (1);
            CREATE TABLE child (id INTEGER PRIMARY KEY, pid INTEGER REFERENCES parent (id));
            INSERT INTO child VALUES (100, 77)
            """
        )
        let source = try directory.write(
            #"[{"id":101,"pid":7},{"id":102,"pid":1},{"id":103,"pid":null}]"#,
            to: "child.json"
        )
        let first = try run([Project.importer, "import", source, "--into", store])
        #expect(first.ending == .exit(0), "\(first.errorText)")
        #expect(first.errorText.contains("child: 1 row refers to no row of parent (pid)"), "\(first.errorText)")
        try directory.write(#"[{"id":101,"pid":1},{"id":104,"pid":1}]"#, to: "child.json")
        let second = try run([Project.importer, "import", source, "--into", store])
        #expect(second.ending == .exit(0) && !second.errorText.contains("refer"), "\(second.errorText)")
    }
}
