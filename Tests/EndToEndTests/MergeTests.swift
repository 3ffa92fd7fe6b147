import Foundation
import TestSupport
import Testing

/// `importer merge`, compared with a slow merge of dictionaries in Python, and with what is written down here.
struct MergeTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func path(_ name: String) -> String { directory.path(name) }

    private func importer(_ arguments: String...) throws -> ChildProcess.Result {
        try run([Project.importer] + arguments)
    }

    @discardableResult
    private func python(_ arguments: String...) throws -> Bool {
        let result = try Python.run("three_way.py", arguments)
        #expect(result.ending == .exit(0), "\(arguments[0]): \(result.outputText)\(result.errorText)")
        return result.ending == .exit(0)
    }

    private func makeStates(_ seed: Int) throws {
        try python("make", "\(seed)", path("base"), path("ours"), path("theirs"))
    }

    private func make(_ base: String, ours: String, theirs: String, _ schema: String) throws {
        for (name, sql) in [("base", base), ("ours", ours), ("theirs", theirs)] {
            try StoreContent.execute(path(name), schema + sql)
        }
    }

    /// The lines of a change set without header and footer.
    private func lines(_ name: String) throws -> [String] {
        try String(contentsOfFile: path(name), encoding: .utf8).split(separator: "\n").dropFirst().dropLast().map(
            String.init
        )
    }

    /// The change set of a merge, whose conflicts are open.
    private func merged(_ arguments: String...) throws -> [String] {
        let result = try run(
            [
                Project.importer, "merge", path("base"), path("ours"), path("theirs"), "--output", path("m.ndjson"),
                "--force",
            ]
                + arguments
        )
        #expect([.exit(0), .exit(65)].contains(result.ending), "\(result.errorText)")
        return try lines("m.ndjson")
    }

    // MARK: Random states

    @Test(arguments: 1...20)
    func mergesWhatGrewApart(_ seed: Int) throws {
        try makeStates(seed)
        for granularity in ["attribute", "object"] {
            _ = try merged("--granularity", granularity)
            try python(
                "check",
                path("base"),
                path("ours"),
                path("theirs"),
                path("m.ndjson"),
                granularity == "object" ? "object" : ""
            )
        }
    }

    @Test(arguments: 21...28)
    func appliesTheResultAndTakesItBack(_ seed: Int) throws {
        try makeStates(seed)
        let conflicts = try merged().filter { $0.hasPrefix("{\"conflict\"") }.count
        let before = try StoreContent.digest(path("ours"))
        try FileManager.default.copyItem(atPath: path("ours"), toPath: path("copy"))
        let result = try importer(
            "merge",
            path("base"),
            path("copy"),
            path("theirs"),
            "--into",
            path("copy"),
            "--conflicts",
            "mark",
            "--json"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        try python("store", path("ours"), path("m.ndjson"), path("copy"))
        #expect(try importer("conflicts", path("copy"), "--count").outputText == "\(conflicts)\n")
        guard try importer("undo", path("copy")).ending == .exit(0) else { return }
        #expect(try StoreContent.digest(path("copy")) == before)
        #expect(try importer("conflicts", path("copy"), "--count").outputText == "0\n")
    }

    @Test(arguments: 31...38)
    func aChangeSetIsAsGoodAsItsStore(_ seed: Int) throws {
        try makeStates(seed)
        let wanted = try merged()
        for side in ["ours", "theirs"] {
            _ = try importer("diff", path("base"), path(side), "--output", path("\(side).ndjson"))
        }
        let result = try importer(
            "merge",
            path("base"),
            path("ours"),
            path("theirs.ndjson"),
            "--output",
            path("n.ndjson")
        )
        #expect([.exit(0), .exit(65)].contains(result.ending), "\(result.errorText)")
        #expect(try lines("n.ndjson") == wanted)
        // What has not changed leaves the other side's changes as they are.
        _ = try importer("merge", path("base"), path("base"), path("theirs"), "--output", path("o.ndjson"))
        #expect(try lines("o.ndjson") == lines("theirs.ndjson"))
        _ = try importer("merge", path("base"), path("ours"), path("base"), "--output", path("p.ndjson"))
        #expect(try lines("p.ndjson").isEmpty)
    }

    @Test func memoryDoesNotDependOnTheStores() throws {
        var peaks: [Int] = []
        for count in [1_000, 60_000] {
            for (name, value) in [
                ("base", "'b'"), ("ours", "CASE WHEN id % 7 THEN 'b' ELSE 'o' END"),
                ("theirs", "CASE WHEN id % 5 THEN 'b' ELSE 't' END"),
            ] {
                try? FileManager.default.removeItem(atPath: path(name))
                try StoreContent.execute(
                    path(name),
                    """
                    CREATE TABLE t(id INTEGER PRIMARY KEY, a UNIQUE, b, c);
                    WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < \(count))
                    INSERT INTO t SELECT id, 'name ' || id, \(value), hex(zeroblob(100)) FROM n;
                    """
                )
            }
            peaks.append(
                try peakMemory(
                    of: [
                        Project.importer, "merge", path("base"), path("ours"), path("theirs"), "--conflicts", "mark",
                        "--output",
                        path("m\(count).ndjson"),
                    ]
                )
            )
        }
        // The caches of four stores fill, and no more.
        #expect(peaks[1] - peaks[0] < 40 << 20, "\(peaks)")
    }

    // MARK: Refusals

    @Test func refusesOtherModelsAndOtherBases() throws {
        try make(
            "INSERT INTO t VALUES(1, 'a');",
            ours: "INSERT INTO t VALUES(1, 'b');",
            theirs: "INSERT INTO t VALUES(1, 'c');",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a);"
        )
        _ = try importer("diff", path("base"), path("theirs"), "--output", path("t.ndjson"))
        // The base has another value now, and then another number of objects.
        for sql in ["UPDATE t SET a = 'x'", "INSERT INTO t VALUES(2, 'y')"] {
            try StoreContent.execute(path("base"), sql)
            let result = try importer("merge", path("base"), path("ours"), path("t.ndjson"))
            #expect(result.ending == .exit(65))
            #expect(result.errorText.contains("is not from this base"), "\(result.errorText)")
        }
        try StoreContent.execute(path("theirs"), "ALTER TABLE t ADD COLUMN fax")
        let result = try importer("merge", path("base"), path("ours"), path("theirs"))
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("t.fax"), "\(result.errorText)")
    }

    // MARK: Constraints

    @Test func findsWhatBreaksAConstraintOnlyTogether() throws {
        try make(
            "INSERT INTO p VALUES(1), (2); INSERT INTO t VALUES(1, 'a', NULL), (2, 'b', NULL);",
            // Ours gives a number to a new object, refers to 1, and deletes 2.
            ours: "INSERT INTO p VALUES(1); INSERT INTO t VALUES(1, 'a', 1), (2, 'b', NULL), (3, 'n', NULL);",
            // Theirs gives the same number to another object, deletes 1, and refers to 2.
            theirs: "INSERT INTO p VALUES(2); INSERT INTO t VALUES(1, 'N', NULL), (2, 'b', 2);",
            "CREATE TABLE p(id INTEGER PRIMARY KEY); CREATE TABLE t(id INTEGER PRIMARY KEY, a COLLATE NOCASE UNIQUE, p INTEGER REFERENCES p(id));"
        )
        let conflicts = try merged()
        #expect(conflicts.count == 3)
        #expect(conflicts.allSatisfy { $0.contains("\"kind\":\"constraint\"") }, "\(conflicts)")
        #expect(conflicts[0].contains("\"entityName\":\"p\",\"identifier\":{\"id\":1}"))
        #expect(conflicts[1].contains("\"theirs\":{\"a\":\"N\"}"))
        #expect(conflicts[2].contains("\"theirs\":{\"p\":{\"id\":2}}"))
        // Where ours gives the number away, it is free.
        try StoreContent.execute(path("ours"), "UPDATE t SET a = 'z' WHERE id = 3")
        #expect(try merged().filter { $0.hasPrefix("{\"conflict\"") }.count == 2)
    }

    // MARK: Conflicts that are kept

    private func makeConflicts() throws {
        try make(
            "INSERT INTO t VALUES(1, 'a', 'x'), (2, 'b', 'y'), (3, 'c', 'z');",
            ours: "INSERT INTO t VALUES(1, 'o', 'o'), (2, 'o', 'y');",
            theirs: "INSERT INTO t VALUES(1, 't', 't'), (3, 'd', 'z');",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);"
        )
        let result = try importer(
            "merge",
            path("base"),
            path("ours"),
            path("theirs"),
            "--into",
            path("ours"),
            "--conflicts",
            "mark"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try importer("conflicts", path("ours"), "--to", path("k.ndjson")).ending == .exit(0))
    }

    private func rows() throws -> String { try StoreContent.query(path("ours"), "SELECT * FROM t ORDER BY id") }

    /// Writes the conflicts with these takes, by number.
    private func edit(_ takes: [Int: String]) throws {
        let lines = try String(contentsOfFile: path("k.ndjson"), encoding: .utf8).split(separator: "\n").map(
            String.init
        )
        let edited = lines.map { line in
            for (number, take) in takes where line.hasPrefix("{\"conflict\":\(number),") {
                return line.replacingOccurrences(of: "\"take\":null", with: "\"take\":\(take)")
            }
            return line
        }
        try Data((edited.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: path("r.ndjson")))
    }

    @Test func resolvesWhatAFileSaysAndLeavesTheRestOpen() throws {
        try makeConflicts()
        #expect(try importer("conflicts", path("ours"), "--count").outputText == "4\n")
        let marked = try rows()
        // 1.a by a value, 1.b stays open, 2 (deleted by theirs) goes, 3 (deleted by ours) comes back.
        try edit([1: #"{"a": "own"}"#, 3: "\"theirs\"", 4: "\"theirs\""])
        let result = try importer("resolve", path("ours"), path("r.ndjson"))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rows() == StoreContent.query(path("ours"), "SELECT 1, 'own', 'o' UNION ALL SELECT 3, 'd', 'z'"))
        #expect(try importer("conflicts", path("ours"), "--count").outputText == "1\n")
        // Resolved ones are passed over, and said.
        let again = try importer("resolve", path("ours"), path("r.ndjson"))
        #expect(
            again.ending == .exit(0) && again.errorText.contains("3 conflicts are resolved already"),
            "\(again.errorText)"
        )
        let report = try importer("status", path("ours"), "--json").outputText
        #expect(report.contains("r.ndjson") && !report.contains(".patch.ndjson"), "\(report)")
        #expect(try importer("undo", path("ours")).ending == .exit(0))
        #expect(try rows() == marked)
        #expect(try importer("conflicts", path("ours"), "--count").outputText == "4\n")
    }

    @Test func theSameConflictsAreKeptOnce() throws {
        try makeConflicts()
        func merge() throws {
            let result = try run(
                [Project.importer, "merge"] + ["base", "ours", "theirs"].map(path)
                    + ["--into", path("ours"), "--conflicts", "mark"]
            )
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
        try StoreContent.execute(path("theirs"), "UPDATE t SET a = 'later' WHERE id = 1")
        try merge()
        #expect(try importer("conflicts", path("ours"), "--count").outputText == "4\n")
        #expect(try importer("conflicts", path("ours"), "--json").outputText.contains("later"))
        // Where the later merge is undone, the earlier one's are open again.
        #expect(try importer("undo", path("ours")).ending == .exit(0))
        #expect(try importer("conflicts", path("ours"), "--count").outputText == "4\n")
        #expect(try !importer("conflicts", path("ours"), "--json").outputText.contains("later"))
    }

    @Test func bringsBackWhatTheirsHasMovedToADeletedObject() throws {
        try make(
            "INSERT INTO pet VALUES(1,'a'),(2,'b'); INSERT INTO toy VALUES(1,NULL,'x'),(2,NULL,'x'),(3,NULL,'x'),(4,NULL,'x'),(5,1,'x');",
            // The toys stay, are changed, get another owner, or go.
            ours: "INSERT INTO pet VALUES(2,'b'); INSERT INTO toy VALUES(1,NULL,'x'),(2,NULL,'own'),(3,2,'x');",
            theirs:
                "INSERT INTO pet VALUES(1,'t'),(2,'b'); INSERT INTO toy VALUES(1,1,'x'),(2,1,'x'),(3,1,'x'),(4,1,'x'),(5,2,'x');",
            "CREATE TABLE pet(id INTEGER PRIMARY KEY, a); "
                + "CREATE TABLE toy(id INTEGER PRIMARY KEY, pet REFERENCES pet ON DELETE CASCADE, a);"
        )
        let merge = try importer(
            "merge",
            path("base"),
            path("ours"),
            path("theirs"),
            "--into",
            path("ours"),
            "--conflicts",
            "mark"
        )
        #expect(merge.ending == .exit(0), "\(merge.errorText)")
        let result = try importer("resolve", path("ours"), "--theirs")
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        #expect(try importer("conflicts", path("ours"), "--count").outputText == "0\n")
        try StoreContent.execute(path("theirs"), "UPDATE toy SET a = 'own' WHERE id = 2")
        for table in ["pet", "toy"] {
            let query = "SELECT * FROM \(table) ORDER BY id"
            #expect(try StoreContent.query(path("ours"), query) == StoreContent.query(path("theirs"), query))
        }
    }

    @Test(arguments: [62, 80])
    func resolvesConflictsThatOverlap(_ seed: Int) throws {
        try makeStates(seed)
        let sides = ["base", "ours", "theirs"].map(path)
        let merge = try run([Project.importer, "merge"] + sides + ["--into", sides[1], "--conflicts", "mark"])
        #expect(merge.ending == .exit(0), "\(merge.errorText)")
        let marked = try StoreContent.digest(path("ours"))
        let result = try importer("resolve", path("ours"), "--theirs")
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        #expect(try StoreContent.query(path("ours"), "PRAGMA foreign_key_check").isEmpty)
        #expect(try importer("undo", path("ours")).ending == .exit(0))
        #expect(try StoreContent.digest(path("ours")) == marked)
    }

    @Test func resolvesOneAttributeOfOneEntity() throws {
        try makeConflicts()
        let none = try importer("resolve", path("ours"), "--theirs", "--entity", "other")
        #expect(none.ending == .exit(0))
        #expect(none.outputText == "There are no conflicts to resolve.\n")
        let result = try importer("resolve", path("ours"), "--theirs", "--entity", "t", "--attribute", "b")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try importer("conflicts", path("ours"), "--count").outputText == "1\n")
        #expect(try StoreContent.query(path("ours"), "SELECT a, b FROM t WHERE id = 1").contains("t"))
    }

    @Test func writesNothingWhereOursHasChangedSince() throws {
        try makeConflicts()
        try StoreContent.execute(path("ours"), "UPDATE t SET a = 'later' WHERE id = 1")
        let before = try rows()
        let result = try importer("resolve", path("ours"), "--theirs", "--json")
        #expect(result.ending == .exit(65))
        #expect(
            result.outputText.contains("\"kind\" : \"changed\"") || result.outputText.contains("\"kind\": \"changed\"")
        )
        #expect(try rows() == before)
        #expect(try importer("conflicts", path("ours"), "--count").outputText == "4\n")
    }

    @Test func aPatchTakesConflictsThatAreResolved() throws {
        try make(
            "INSERT INTO t VALUES(1, 'a', 'x');",
            ours: "INSERT INTO t VALUES(1, 'o', 'x');",
            theirs: "INSERT INTO t VALUES(1, 't', 'y');",
            "CREATE TABLE t(id INTEGER PRIMARY KEY, a, b);"
        )
        #expect(try merged().count == 2)
        let open = try importer("patch", path("ours"), path("m.ndjson"))
        #expect(open.ending == .exit(65))
        #expect(open.errorText.contains("a conflict that is open"), "\(open.errorText)")
        let text = try String(contentsOfFile: path("m.ndjson"), encoding: .utf8)
        let taken = text.replacingOccurrences(of: "\"take\":null", with: "\"take\": \"theirs\"")
        try Data(taken.utf8).write(to: URL(filePath: path("m.ndjson")))
        let result = try importer("patch", path("ours"), path("m.ndjson"))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try rows() == StoreContent.query(path("ours"), "SELECT 1, 't', 'y'"))
    }
}
