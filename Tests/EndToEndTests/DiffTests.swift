import Foundation
import TestSupport
import Testing

/// `importer diff`, compared with a slow reading in Python and with what is written down here.
struct DiffTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func make(_ name: String, _ sql: String) throws {
        try StoreContent.execute(directory.path(name), sql)
    }

    private func diff(_ arguments: String...) throws -> ChildProcess.Result {
        try run([Project.importer, "diff", directory.path("a.db"), directory.path("b.db")] + arguments)
    }

    /// The lines of the changes alone.
    private func changes(_ arguments: String...) throws -> [String] {
        let result = try run(
            [Project.importer, "diff", directory.path("a.db"), directory.path("b.db"), "--format", "ndjson"] + arguments
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return result.outputText.split(separator: "\n").dropFirst().dropLast().map(String.init)
    }

    // MARK: Random stores

    @Test(arguments: 1...25)
    func leadsFromTheOneToTheOther(_ seed: Int) throws {
        let (old, new, file) = (directory.path("a.db"), directory.path("b.db"), directory.path("c.changes.ndjson"))
        let made = try Python.run("store_difference.py", ["make", "\(seed)", old, new])
        #expect(made.ending == .exit(0), "\(made.errorText)")
        let bytes = try [old, new].map { try Data(contentsOf: URL(filePath: $0)) }
        let result = try diff("--output", file)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let checked = try Python.run("store_difference.py", ["check", old, new, file])
        #expect(checked.ending == .exit(0), "\(checked.outputText)\(checked.errorText)")
        #expect(try [old, new].map { try Data(contentsOf: URL(filePath: $0)) } == bytes)
        #expect(directory.names() == ["a.db", "b.db", "c.changes.ndjson"])
    }

    @Test func doesNotDependOnHowStoresAreLaidOut() throws {
        let (old, new) = (directory.path("a.db"), directory.path("b.db"))
        try Python.run("store_difference.py", ["make", "3", old, new])
        let before = try changes()
        #expect(before.count > 5)
        try make("b.db", "PRAGMA page_size=8192; VACUUM")
        #expect(try changes() == before)
    }

    // MARK: Options

    private func makePeople() throws {
        let schema = """
            CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, age INTEGER, boss INTEGER REFERENCES person(id));
            CREATE TABLE pet(id INTEGER PRIMARY KEY, name TEXT, owner INTEGER REFERENCES person(id) ON DELETE CASCADE);
            """
        try make(
            "a.db",
            schema + "INSERT INTO person VALUES(1,'Ada',1,NULL),(2,'Bo',2,1); INSERT INTO pet VALUES(5,'Rex',2);"
        )
        try make(
            "b.db",
            schema + "INSERT INTO person VALUES(1,'Ada',9,2),(3,'Cy',3,NULL); INSERT INTO pet VALUES(5,'Tom',3);"
        )
    }

    @Test func printsCountsAndALineForEachChange() throws {
        try makePeople()
        let result = try diff()
        #expect(result.ending == .exit(0))
        let text = result.outputText
        #expect(text.contains("person.age: 1 changed"))
        #expect(
            text.contains(
                "\n~ person id 1  age 1 → 9  boss null → id 2\n- person id 2\n+ person id 3\n  ~ pet id 5  name 'Rex' → 'Tom'  owner id 2 → id 3\n"
            )
        )
        #expect(!text.contains("\u{1B}"))
    }

    @Test func anOwnerThatIsDeletedNamesWhatItMustNotTakeAlong() throws {
        try makePeople()
        #expect(
            try changes().contains {
                $0.contains(#""change":"deleted""#) && $0.hasSuffix(#""moved":{"pet":[{"id":5}]}}"#)
            }
        )
    }

    @Test func leavesOutWhatIsNotAskedFor() throws {
        try makePeople()
        #expect(try changes("--exclude", "person.age", "--exclude", "*.boss", "--exclude", "person.pet").count == 2)
        #expect(try changes("--only", "person.name").count == 2)
        #expect(
            try changes("--entity", "pet") == [
                #"{"change":"updated","entityName":"pet","identifier":{"id":5},"attributes":{"old":{"name":"Rex"},"new":{"name":"Tom"}},"references":{"owner":{"old":{"id":2},"new":{"id":3}}}}"#
            ]
        )
        #expect(try changes("--where", "name = 'Ada'").count == 1)
        #expect(try changes("--entity", "person", "--where", "age > 100").isEmpty)
    }

    @Test func beginsWithARootAndNestsWhatItRefersTo() throws {
        try makePeople()
        #expect(try changes("--root", "person=3", "--exclude", "person.pet").count == 1)
        #expect(try changes("--root", "person=7").isEmpty)
        #expect(
            try changes("--root", "pet", "--include", "pet.owner") == [
                #"{"change":"updated","entityName":"pet","identifier":{"id":5},"attributes":{"old":{"name":"Rex"},"new":{"name":"Tom"}},"references":{"owner":{"old":{"id":2},"new":{"id":3}}},"relationships":{"owner":[{"change":"deleted","entityName":"person","identifier":{"id":2},"attributes":{"old":{"id":2,"name":"Bo","age":2}},"references":{"boss":{"old":{"id":1}}}},{"change":"inserted","entityName":"person","identifier":{"id":3},"attributes":{"new":{"id":3,"name":"Cy","age":3}},"references":{"boss":{"new":null}}}]}}"#
            ]
        )
        // Person 1 leads to 2 before anybody else does, and 2 leads back.
        let lines = try changes("--include", "person.boss", "--exclude", "person.pet")
        #expect(lines.count == 2)
        #expect(
            lines[0].contains(
                #""relationships":{"boss":{"change":"deleted","entityName":"person","identifier":{"id":2}"#
            )
        )
        #expect(try diff("--root", "person", "--entity", "pet").ending == .exit(64))
        #expect(try diff("--include", "person.nobody").ending == .exit(64))
    }

    @Test func tellsEachObjectOfALongChainOnce() throws {
        let schema = "CREATE TABLE p(id INTEGER PRIMARY KEY, v, next INTEGER REFERENCES p(id));"
        let rows =
            "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500) INSERT INTO p SELECT i, 0, i % 500 + 1 FROM n;"
        try make("a.db", schema + rows)
        try make("b.db", schema + rows + "UPDATE p SET v = 1")
        for arguments in [["--include", "p.next"], ["--include", "p.next", "--root", "p=400"]] {
            let result = try run(
                [Project.importer, "diff", directory.path("a.db"), directory.path("b.db"), "--format", "ndjson"]
                    + arguments
            )
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(result.outputText.components(separatedBy: #"{"change":"updated""#).count - 1 == 500)
            #expect(result.outputText.contains(#""p":{"inserted":0,"updated":500,"deleted":0,"unchanged":0}"#))
        }
    }

    @Test func reversesAndLeavesOutOldValues() throws {
        try makePeople()
        #expect(
            try changes("--reverse", "--exclude", "*.boss").contains {
                $0.contains(#""old":{"age":9},"new":{"age":1}"#)
            }
        )
        #expect(try changes("--old", "none").allSatisfy { !$0.contains(#""old":"#) })
        #expect(
            try changes("--old", "all").contains {
                $0.contains(#""old":{"id":1,"name":"Ada","age":1},"new":{"age":9}"#)
            }
        )
    }

    @Test func saysWhetherTheyDiffer() throws {
        try makePeople()
        #expect(try diff("--exit-code").ending == .exit(1))
        #expect(try diff("--exit-code", "--json", "--reverse").ending == .exit(1))
        #expect(
            try diff("--exit-code", "--only", "pet.id", "--entity", "pet", "--exclude", "pet.owner").ending == .exit(0)
        )
    }

    /// - Parameters:
    ///   - change: what is done to the second store.
    ///   - leftOut: how many rows that no change is about only each of them has, by name.
    @Test(
        arguments: [
            ("DELETE FROM line WHERE sku <> 'x'", ["line": ["old": 3, "new": 0]]),
            ("UPDATE line SET number = 2 WHERE sku = 'z'", ["line": ["old": 1, "new": 1]]),
            ("UPDATE line SET number = 1.0 WHERE sku = 'z'", ["line": ["old": 1, "new": 1]]),
            ("UPDATE line SET ord = 'C' WHERE sku = 'z'", ["line": ["old": 1, "new": 1]]),
            ("INSERT INTO ord_tag VALUES('D', 1)", ["ord.ord_tag": ["old": 0, "new": 1]]),
            ("DELETE FROM ord_tag WHERE ord = 'B'", ["ord.ord_tag": ["old": 1, "new": 0]]),
            ("VACUUM", [:]),
        ] as [(String, [String: [String: Int]])]
    )
    func comparesWhatHasNoOwner(change: String, leftOut: [String: [String: Int]]) throws {
        let sql = """
            CREATE TABLE ord(no TEXT NOT NULL PRIMARY KEY); CREATE TABLE tag(id INTEGER PRIMARY KEY);
            CREATE TABLE line(ord TEXT REFERENCES ord ON DELETE CASCADE, sku TEXT, number);
            CREATE TABLE ord_tag(ord TEXT REFERENCES ord, tag INTEGER REFERENCES tag);
            INSERT INTO ord VALUES('A'), ('M'); INSERT INTO tag VALUES(1), (2);
            INSERT INTO line VALUES('A', 'x', 1), ('B', 'y', 1), ('B', 'z', 1), (NULL, 'w', 1);
            INSERT INTO ord_tag VALUES('A', 1), ('B', 2), ('M', 2);
            """
        try make("a.db", sql)
        try make("b.db", "\(sql) \(change)")
        let result = try diff("--json", "--exit-code")
        #expect(result.ending == .exit(leftOut.isEmpty ? 0 : 1))
        let json = try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any]
        #expect(json?["left_out"] as? [String: [String: Int]] == leftOut)
        #expect(
            leftOut.keys.allSatisfy { result.errorText.contains("\($0): ") }
                && result.errorText.isEmpty == leftOut.isEmpty
        )
        #expect(try diff("--exit-code", "--entity", "tag").ending == .exit(0))
    }

    @Test func comparesWhatBelongsToNothingAtLength() throws {
        let sql = """
            CREATE TABLE a(no TEXT NOT NULL PRIMARY KEY);
            CREATE TABLE b(id INTEGER PRIMARY KEY, a TEXT REFERENCES a ON DELETE CASCADE);
            CREATE TABLE c(b INTEGER REFERENCES b ON DELETE CASCADE, v); INSERT INTO a VALUES('A');
            INSERT INTO b VALUES(1, 'A'), (2, 'B'); INSERT INTO c VALUES(1, 1), (2, 2), (3, 3);
            """
        try make("a.db", sql)
        try make("b.db", "\(sql) UPDATE c SET v = 4 WHERE b = 3")
        // Of b, which has an identifier, a row without owner is told by itself.
        let result = try diff("--exit-code")
        #expect(result.ending == .exit(1))
        #expect(result.errorText.contains("c: 1 row only in the old store, 1 row only in the new one"))
    }

    @Test func printsTheSummaryAsJSON() throws {
        try makePeople()
        let result = try diff("--json")
        let json = try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: Any]
        let person = (json?["entities"] as? [String: Any])?["person"] as? NSDictionary
        #expect(
            person == [
                "old": 2, "new": 2, "inserted": 1, "updated": 1, "deleted": 1, "unchanged": 0, "attributes": ["age": 1],
            ]
        )
    }

    @Test func limitsHowManyChangesArePrinted() throws {
        try makePeople()
        let lines = try diff("--limit", "1").outputText.split(separator: "\n")
        #expect(lines.filter { ["+", "-", "~"].contains($0.prefix(1)) }.count == 1)
        #expect(lines.last == "… and 2 more")
    }

    @Test func overwritesNoFileUnlessItIsAskedTo() throws {
        try makePeople()
        try directory.write("mine", to: "d.changes.ndjson")
        #expect(try diff("--output", directory.path("d.changes.ndjson")).ending == .exit(73))
        #expect(try diff("--output", directory.path("d.changes.ndjson"), "--force").ending == .exit(0))
    }

    @Test(arguments: zip([SIGINT, SIGTERM], [Int32(130), 143]))
    func anInterruptionLeavesNoFile(_ signal: Int32, _ code: Int32) throws {
        for (name, value) in [("a.db", "'old '"), ("b.db", "'new '")] {
            try make(
                name,
                """
                CREATE TABLE t(a INTEGER PRIMARY KEY, b);
                WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n LIMIT 30000)
                INSERT INTO t SELECT a, \(value) || a FROM n;
                """
            )
        }
        let program = try SteppedProgram(
            [Project.importer, "diff", directory.path("a.db"), directory.path("b.db")]
                + ["--output", directory.path("c.changes.ndjson")],
            every: 1,
            below: directory.path
        )
        while !directory.names().contains(where: { $0.contains(".partial-") }) { try #require(program.step()) }
        let child = program.released()
        child.signal(signal)
        child.resume()
        let result = child.wait()
        #expect(result.ending == .exit(code), "\(result.errorText)")
        #expect(directory.names() == ["a.db", "b.db"])
    }

    // MARK: What cannot be compared

    @Test func refusesWhatHasNoIdentifier() throws {
        try make("a.db", "CREATE TABLE t(a,b); INSERT INTO t VALUES(1,2),(1.0,3)")
        try make("b.db", "CREATE TABLE t(a,b)")
        let result = try diff()
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("--identifier t:A,B"))
        // 1 and 1.0 are two values.
        #expect(try changes("--identifier", "t:a").count == 2)
        try make("a.db", "INSERT INTO t VALUES(1,5)")
        #expect(try diff("--identifier", "t:a").ending == .exit(65))
        try make("a.db", "DELETE FROM t; INSERT INTO t VALUES(NULL,5)")
        let missing = try diff("--identifier", "t:a")
        #expect(missing.ending == .exit(65))
        #expect(missing.errorText.contains("a is null"))
    }

    @Test func refusesWhatIsNoStore() throws {
        try make("a.db", "CREATE TABLE t(a PRIMARY KEY)")
        #expect(try diff().ending == .exit(66))
        try directory.write(String(repeating: "no database ", count: 100), to: "b.db")
        let result = try diff()
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("Give the path of a store, or of another SQLite database."))
    }

    @Test func refusesDifferentIdentifiers() throws {
        try make("a.db", "CREATE TABLE t(a PRIMARY KEY, b)")
        try make("b.db", "CREATE TABLE t(a, b PRIMARY KEY)")
        #expect(try diff().ending == .exit(65))
        #expect(try diff("--identifier", "t:a").ending == .exit(0))
        #expect(try diff("--entity", "u").ending == .exit(64))
    }

    @Test func aReaderThatGoesAwayEndsItQuietly() throws {
        try makePeople()
        let result = try run([
            "bash", "-c",
            "set -o pipefail; '\(Project.importer)' diff '\(directory.path("a.db"))' '\(directory.path("b.db"))' | true",
        ])
        #expect(result.ending == .exit(0))
        #expect(result.errorText.isEmpty)
    }
}
