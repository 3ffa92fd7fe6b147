import Foundation
import TestSupport
import Testing

/// Databases that no import has written, and what one job has done to a store.
struct PlainDatabaseTests {
    private let directory: TemporaryDirectory
    private let old: String
    private let new: String

    init() throws {
        directory = try TemporaryDirectory()
        old = directory.path("old.sqlite")
        new = directory.path("new.sqlite")
    }

    private func make(_ sql: String, then change: String) throws {
        try StoreContent.execute(old, sql)
        try FileManager.default.copyItem(atPath: old, toPath: new)
        try StoreContent.execute(new, change)
    }

    @Test(arguments: [
        ("a = 'A'", 1), ("a = 5", 1), ("a > 4", 3), ("a contains 'B'", 1), ("a = b", 1), ("a in ('A', 5)", 2),
    ])
    func aColumnWithoutATypeComparesAsInSQLite(predicate: String, count: Int) throws {
        try make(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT); INSERT INTO t VALUES (1, 'A', 'A'), (2, 'B', ''), (3, 5, '')",
            then: "UPDATE t SET b = 'changed'"
        )
        let fetched = try runImporter("fetch", old, "t", "--where", predicate, "--count")
        #expect(fetched.outputText == "\(count)\n", "\(fetched.errorText)")
        let same = predicate == "a = b" ? "0" : "\(count)"
        #expect(try same == StoreContent.query(new, "SELECT count(*) FROM t WHERE \(sql(predicate))"))
        let difference = try runImporter("diff", old, new, "--where", predicate)
        #expect(
            difference.outputText.contains("t.b: \(count) changed"),
            "\(difference.outputText) \(difference.errorText)"
        )
    }

    private func sql(_ predicate: String) -> String {
        predicate == "a contains 'B'" ? "instr(a, 'B') > 0" : predicate
    }

    @Test(arguments: ["DELETE FROM a WHERE id = 1; DELETE FROM b WHERE id = 1", "DELETE FROM a; DELETE FROM b"])
    func rowsThatReferToOneAnotherInACircleAreDeleted(change: String) throws {
        try make(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b (id) ON DELETE CASCADE, t TEXT);
            CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id) ON DELETE CASCADE);
            INSERT INTO a VALUES (1, 1, 'x'), (2, 2, 'y'), (3, 4, 'z'), (4, 3, '');
            INSERT INTO b VALUES (1, 1), (2, 2), (3, 3), (4, 4)
            """,
            then: change
        )
        let changes = directory.path("changes.ndjson")
        try #require(try runImporter("diff", old, new, "--output", changes).ending == .exit(0))
        let patched = try runImporter("patch", old, changes)
        #expect(patched.ending == .exit(0), "\(patched.errorText)")
        #expect(
            try StoreContent.query(old, "SELECT * FROM a UNION ALL SELECT *, '' FROM b").split(separator: "\n").count
                == StoreContent.query(new, "SELECT * FROM a UNION ALL SELECT *, '' FROM b").split(separator: "\n").count
        )
        #expect(try runImporter("diff", old, new, "--exit-code").ending == .exit(0))
    }

    @Test func aCircleThatTakesOthersAlongIsAConflict() throws {
        try make(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, b INTEGER REFERENCES b (id) ON DELETE CASCADE);
            CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id) ON DELETE CASCADE);
            INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1)
            """,
            then: "DELETE FROM a; DELETE FROM b"
        )
        let changes = directory.path("changes.ndjson")
        try #require(try runImporter("diff", old, new, "--output", changes).ending == .exit(0))
        try StoreContent.execute(old, "INSERT INTO b VALUES (2, 1)")
        #expect(try runImporter("patch", old, changes).ending == .exit(65))
        #expect(try StoreContent.query(old, "SELECT count(*) FROM b") == "2")
    }

    @Test func theChangesOfAJobAreThoseBetweenTheJobsAroundIt() throws {
        let documents = [
            #"[{"id": 1, "a": 1}, {"id": 2, "a": 2}]"#, #"[{"id": 2, "a": 22}, {"id": 3, "a": 3}]"#,
            #"[{"id": 3, "a": 33}, {"id": 2, "a": 222}]"#,
        ]
        var states: [String] = []
        for (number, document) in documents.enumerated() {
            let source = try directory.write(document, to: "\(number).json")
            let imported = try runImporter(
                "import",
                source,
                "--into",
                old,
                "--entity",
                "p",
                "--identifier",
                "id",
                "--undo"
            )
            try #require(imported.ending == .exit(0), "\(imported.errorText)")
            states.append(directory.path("state\(number).sqlite"))
            try FileManager.default.copyItem(atPath: old, toPath: states[number])
        }
        for job in 2...3 {
            let own = try runImporter("diff", old, "--job", "\(job)", "--format", "text")
            let between = try runImporter("diff", states[job - 2], states[job - 1], "--format", "text")
            #expect(own.ending == .exit(0), "\(own.errorText)")
            #expect(own.outputText == between.outputText)
        }
        #expect(try StoreContent.digest(old) == StoreContent.digest(states[2]))
        try #require(try runImporter("undo", old, "--forget").ending == .exit(0))
        let forgotten = try runImporter("diff", old, "--job", "2")
        #expect(forgotten.ending == .exit(65), "\(forgotten.errorText)")
        #expect(forgotten.errorText.contains(old) && !forgotten.errorText.contains("before-job"))
        #expect(try runImporter("diff", old, "--job", "9").ending == .exit(66))
        #expect(try runImporter("diff", old).ending == .exit(64))
    }
}
