import Foundation
import TestSupport
import Testing

/// `importer undo`: what a patch has done is taken back, row ids included.
struct UndoTests {
    private let patched: PatchedStore

    init() throws { patched = try PatchedStore() }

    // MARK: Random stores

    /// The last three: objects that refer to each other go, and identifiers change in case within a line and across lines.
    @Test(arguments: Array(1...20) + [163, 424, 980])
    func leadsThereAndBack(_ seed: Int) throws {
        let (old, new) = (patched.directory.path("a.db"), patched.directory.path("b.db"))
        func same(_ one: String, _ other: String) throws {
            let result = try Python.run("patch_pairs.py", ["same", one, other])
            #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
        }
        let made = try Python.run("patch_pairs.py", ["make", "\(seed)", old, new])
        #expect(made.ending == .exit(0), "\(made.errorText)")
        try patched.diff()
        let report = try patched.report("patch", "--commit-every", "\(1 + seed % 7)")
        #expect(report["conflicts"] as? Int == 0)
        try same(patched.store, new)
        let patchedDigest = try patched.digest
        let again = patched.counts(try patched.report("patch", "--again"))
        #expect(again["unchanged"] == again["records_read"])
        #expect(try patched.digest == patchedDigest)
        // The second patch has changed nothing, and has a log of nothing.
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == patchedDigest)
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == StoreContent.digest(old))
        // Job 4 is the undo of job 1.
        #expect(try patched.undo("--job", "4").ending == .exit(0))
        #expect(try patched.digest == patchedDigest)
        try patched.verify()
    }

    // MARK: Conflicts

    private func makeThings(
        _ change: String =
            "UPDATE t SET a = 'A', b = 'B' WHERE id = 1; DELETE FROM t WHERE id = 2; INSERT INTO t VALUES(4,'d','w',NULL);"
    ) throws {
        let sql = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, a, b, u UNIQUE);
            CREATE TABLE c(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t(id) ON DELETE CASCADE);
            CREATE TABLE n(id INTEGER PRIMARY KEY, t INTEGER REFERENCES t(id));
            INSERT INTO t VALUES(1,'a','x','u1'),(2,'b','y','u2'),(3,'c','z',NULL);
            """
        try patched.make("a.db", sql)
        try patched.make("b.db", sql + change)
        try patched.diff()
        #expect(try patched.patch().ending == .exit(0))
    }

    private func things() throws -> String { try patched.rows("SELECT id, a, b FROM t ORDER BY id") }

    @Test func whatHasChangedSinceIsAConflict() throws {
        try makeThings()
        try patched.make(
            "s.db",
            "UPDATE t SET a = 'later' WHERE id = 1; UPDATE t SET a = 'later' WHERE id = 4; INSERT INTO t VALUES(2,'new','new',NULL)"
        )
        let before = try patched.digest
        let report = try patched.report("undo", code: 65)
        #expect(try patched.conflicts(report).sorted() == ["changed 1 a", "changed 4", "exists 2"])
        #expect(try patched.digest == before)
        #expect(try patched.rows("SELECT count(*) FROM _import_job") == "1")
        let kept = try patched.report("undo", "--conflicts", "keep")
        #expect(patched.counts(kept) == ["records_read": 3, "updated": 1, "ignored": 2, "conflicts": 3])
        #expect(try things() == "1|later|x\n2|new|new\n3|c|z\n4|later|w")
        try patched.verify(isStrict: false)
    }

    @Test func takeBringsBackWhatWasThereBefore() throws {
        try makeThings()
        try patched.make(
            "s.db",
            "UPDATE t SET a = 'later' WHERE id IN (1, 4); INSERT INTO t VALUES(2,'new','new',NULL); INSERT INTO c VALUES(1, 4)"
        )
        let taken = try patched.report("undo", "--conflicts", "take")
        #expect(patched.counts(taken) == ["records_read": 3, "updated": 2, "deleted": 1, "conflicts": 3])
        #expect(try things() == "1|a|x\n2|b|y\n3|c|z")
        #expect(try patched.rows("SELECT count(*) FROM c") == "0")
        #expect(try patched.undo().ending == .exit(65))
    }

    @Test func rejectKeepsTheChangeAsAReject() throws {
        try makeThings()
        try patched.make("s.db", "UPDATE t SET a = 'later' WHERE id = 1")
        let report = try patched.report("undo", "--conflicts", "reject")
        #expect(
            patched.counts(report) == ["records_read": 3, "inserted": 1, "deleted": 1, "rejected": 1, "conflicts": 1]
        )
        #expect(try things() == "1|later|B\n2|b|y\n3|c|z")
        try patched.verify(isStrict: false)
    }

    @Test func anObjectThatIsMissingIsAConflict() throws {
        try makeThings()
        try patched.make("s.db", "DELETE FROM t WHERE id = 1")
        #expect(try patched.conflicts(patched.report("undo", code: 65)) == ["missing 1"])
        #expect(try patched.undo("--conflicts", "take").ending == .exit(0))
        #expect(try patched.digest == StoreContent.digest(patched.directory.path("a.db")))
    }

    @Test func whatRefersToAnInsertedObjectByNowIsNotLost() throws {
        try makeThings()
        try patched.make("s.db", "INSERT INTO c VALUES(1, 4)")
        #expect(try patched.conflicts(patched.report("undo", code: 65)) == ["changed 4"])
        #expect(try things().contains("4|d|w") && patched.rows("SELECT t FROM c") == "4")
        // The interrupted undo is resumed.
        #expect(try patched.undo("--conflicts", "keep").ending == .exit(0))
        #expect(try things() == "1|a|x\n2|b|y\n3|c|z\n4|d|w")
        #expect(try patched.rows("SELECT t FROM c") == "4")
        try patched.verify(isStrict: false)
    }

    @Test func aForeignKeyWithoutADeleteRuleIsAConstraint() throws {
        try makeThings()
        try patched.make("s.db", "INSERT INTO n VALUES(1, 4)")
        #expect(try patched.conflicts(patched.report("undo", code: 65)) == ["constraint 4"])
        #expect(try patched.undo("--conflicts", "take").ending == .exit(0))
        #expect(try things() == "1|a|x\n2|b|y\n3|c|z\n4|d|w")
        #expect(try patched.rows("PRAGMA foreign_key_check") == "")
    }

    @Test func aUniqueValueThatIsTakenByNowIsAConstraint() throws {
        try makeThings()
        try patched.make("s.db", "UPDATE t SET u = 'u2' WHERE id = 3")
        #expect(try patched.conflicts(patched.report("undo", code: 65)) == ["constraint 2"])
        #expect(try patched.undo("--conflicts", "keep").ending == .exit(0))
        #expect(try things() == "1|a|x\n3|c|z")
    }

    @Test func ownedObjectsStayWithTheirOwner() throws {
        try makeThings("INSERT INTO t VALUES(4,'d','w',NULL); INSERT INTO c VALUES(7, 4)")
        try patched.make("s.db", "UPDATE t SET a = 'later' WHERE id = 4")
        #expect(try patched.undo("--conflicts", "keep").ending == .exit(0))
        #expect(try patched.rows("SELECT id, t FROM c") == "7|4")
        #expect(try things().contains("4|later|w"))
    }

    // MARK: Row ids

    private func makeNotes() throws {
        let sql =
            "CREATE TABLE t(k TEXT PRIMARY KEY, v); INSERT INTO t(rowid,k,v) VALUES(10,'a',1),(20,'b',2),(30,'c',3);"
        try patched.make("a.db", sql)
        try patched.make("b.db", sql + "DELETE FROM t WHERE k = 'b'; UPDATE t SET v = 4 WHERE k = 'c'")
        try patched.diff()
        #expect(try patched.patch().ending == .exit(0))
    }

    @Test func rowIDsComeBackUnlessOthersHaveThem() throws {
        try makeNotes()
        try patched.make("s.db", "INSERT INTO t(rowid,k,v) VALUES(20,'z',9)")
        let report = try patched.report("undo")
        let ledger = report["ledger"] as? [String: [String: [String: Int]]]
        #expect(ledger?["t"]?[""]?["rowIDLost"] == 1)
        #expect(try patched.rows("SELECT rowid, k, v FROM t ORDER BY k") == "10|a|1\n31|b|2\n30|c|3\n20|z|9")
    }

    /// VACUUM gives rows other row ids; the objects are the same.
    @Test func findsObjectsAfterVACUUM() throws {
        try makeNotes()
        // What VACUUM may do.
        try patched.make(
            "s.db",
            "CREATE TEMP TABLE o AS SELECT * FROM t; DELETE FROM t; INSERT INTO t SELECT * FROM o ORDER BY k"
        )
        #expect(try patched.rows("SELECT rowid, k FROM t ORDER BY k") == "1|a\n2|c")
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.rows("SELECT k, v FROM t ORDER BY k") == "a|1\nb|2\nc|3")
    }

    @Test func triggersOfTheStoreAreTakenBackToo() throws {
        let sql = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE audit(what, at);
            CREATE TRIGGER note AFTER UPDATE ON t BEGIN INSERT INTO audit VALUES(old.v, new.v); END;
            INSERT INTO t VALUES(1, 'a');
            """
        try patched.make("a.db", sql)
        try patched.make("b.db", sql + "DROP TRIGGER note; UPDATE t SET v = 'b';")
        try patched.diff("--entity", "t")
        #expect(try patched.patch().ending == .exit(0))
        #expect(try patched.rows("SELECT * FROM audit") == "a|b")
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.rows("SELECT count(*) FROM audit") == "0")
        #expect(try patched.rows("SELECT v FROM t") == "a")
    }

    @Test func keysThatATriggerHasChangedComeBack() throws {
        let sql = """
            CREATE TABLE t(id INTEGER PRIMARY KEY, v); CREATE TABLE part(id INTEGER PRIMARY KEY, v);
            CREATE TABLE word(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
            CREATE TRIGGER moving AFTER UPDATE ON t
            BEGIN UPDATE part SET id = id + 100; UPDATE word SET k = k || 'x'; END;
            INSERT INTO t VALUES(1, 'a'); INSERT INTO part VALUES(5, 'p'), (6, 'q'); INSERT INTO word VALUES('w', 1);
            """
        try patched.make("a.db", sql)
        try patched.make("b.db", sql + "DROP TRIGGER moving; UPDATE t SET v = 'b';")
        try patched.diff("--entity", "t")
        let before = try patched.digest
        #expect(try patched.patch().ending == .exit(0))
        #expect(try patched.rows("SELECT group_concat(id), (SELECT k FROM word) FROM part") == "105,106|wx")
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == before)
    }

    /// A function has at most a hundred arguments, and a table two thousand columns.
    @Test func tablesMayBeWide() throws {
        let columns = (1...1_200).map { "c\($0)" }.joined(separator: ", ")
        let sql =
            "CREATE TABLE t(id INTEGER PRIMARY KEY, \(columns)); INSERT INTO t(id, c1, c1200) VALUES(1, 'a', 'b'), (2, 'c', 'd');"
        try patched.make("a.db", sql)
        try patched.make("b.db", sql + "UPDATE t SET c700 = 'x', c1200 = NULL WHERE id = 1; DELETE FROM t WHERE id = 2")
        try patched.diff()
        #expect(try patched.patch().ending == .exit(0))
        #expect(try patched.rows("SELECT id, c1, c700, c1200 FROM t") == "1|a|x|")
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == StoreContent.digest(patched.directory.path("a.db")))
    }

    // MARK: Jobs

    @Test func withoutALogThereIsNoUndo() throws {
        try makeThings()
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.undo().ending == .exit(65))
        #expect(try patched.undo("--job", "1").ending == .exit(65))
        #expect(try patched.undo("--job", "9").ending == .exit(66))
        #expect(try patched.patch("--again", "--no-undo").ending == .exit(0))
        let digest = try patched.digest
        let result = try patched.undo()
        #expect(result.ending == .exit(65) && result.errorText.contains("was not kept"), "\(result.errorText)")
        #expect(try patched.digest == digest)
        try patched.verify(isStrict: false)
    }

    @Test func forgetsWhatIsOldEnough() throws {
        try makeThings()
        func forgotten(_ arguments: String...) throws -> String {
            let result = try run([Project.importer, "undo", patched.store, "--forget", "--json"] + arguments)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            return result.outputText.filter { !$0.isWhitespace }
        }
        #expect(try forgotten("--older-than", "1d") == #"{"forgotten":[]}"#)
        #expect(try patched.rows("SELECT count(*) FROM _import_undo") != "0")
        #expect(try forgotten("--older-than", "0s") == #"{"forgotten":[1]}"#)
        #expect(try patched.rows("SELECT count(*) FROM _import_undo") == "0")
        #expect(try patched.undo().ending == .exit(65))
        #expect(try patched.undo("--older-than", "1d").ending == .exit(64))
        #expect(try patched.undo("--forget", "--older-than", "long").ending == .exit(64))
    }

    @Test func jobsAreListedForWhatTheyAre() throws {
        try makeThings()
        #expect(try patched.undo().ending == .exit(0))
        let text = try runImporter("status", patched.store).outputText
        #expect(text.contains("(patch)") && text.contains("job 1 (undo)"), "\(text)")
        let status = try runImporter("status", patched.store, "--json").output
        let object = try #require(JSONSerialization.jsonObject(with: status) as? [String: Any])
        let jobs = try #require(object["jobs"] as? [[String: Any]])
        #expect(jobs.map { $0["change"] as? String } == ["patch", "undo"])
        #expect(jobs.map { $0["undoes"] as? Int } == [nil, 1])
        #expect(jobs.map { $0["deleted"] as? Int } == [1, 1])
    }
}
