import Foundation
import TestSupport
import Testing

/// Changes that a patch has rejected are exported, edited and retried, as records are.
struct RejectedChangeTests {
    private let patched: PatchedStore
    private var repairs: String { patched.directory.path("fix.ndjson") }

    init() throws {
        patched = try PatchedStore()
        let sql = """
            CREATE TABLE p(id INTEGER PRIMARY KEY, city TEXT, mail TEXT UNIQUE);
            INSERT INTO p VALUES(1,'Oslo','a'),(2,'Rome','b'),(3,'Pune',NULL);
            """
        try patched.make("a.db", sql)
        try patched.make(
            "b.db",
            sql + "UPDATE p SET city = 'Bonn' WHERE id = 1; UPDATE p SET city = 'Kiel' WHERE id = 2; "
                + "INSERT INTO p VALUES(4,'Nice','q'); DELETE FROM p WHERE id = 3"
        )
        try patched.diff()
        try patched.make("s.db", "UPDATE p SET city = 'other' WHERE id = 1; INSERT INTO p VALUES(9,'y','q')")
        #expect(try patched.patch("--conflicts", "reject").ending == .exit(0))
        #expect(try people() == "1|other|a\n2|Kiel|b\n9|y|q")
        let exported = try runImporter("rejects", patched.store, "--to", repairs)
        #expect(exported.ending == .exit(0), "\(exported.errorText)")
    }

    private func people() throws -> String { try patched.rows("SELECT * FROM p ORDER BY id") }

    private func edit(_ old: String, _ new: String) throws {
        let text = try String(contentsOfFile: repairs, encoding: .utf8)
        #expect(text.contains(old))
        try text.replacing(old, with: new).write(toFile: repairs, atomically: false, encoding: .utf8)
    }

    private func retry() throws -> [String: Any] {
        let result = try runImporter("retry", patched.store, repairs, "--json", "--progress", "none")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return try #require(JSONSerialization.jsonObject(with: result.output) as? [String: Any])
    }

    @Test func repairedChangesAreApplied() throws {
        try edit(#""old":{"city":"Oslo"}"#, #""old":{"city":"other"}"#)
        let first = try retry()
        #expect(patched.counts(first) == ["records_read": 2, "updated": 1, "rejected": 1, "conflicts": 1])
        #expect(first["repaired"] as? Int == 1)
        #expect(try people() == "1|Bonn|a\n2|Kiel|b\n9|y|q")
        try patched.verify(isStrict: false)
        // The same file again has nothing new.
        let again = try runImporter("retry", patched.store, repairs)
        #expect(again.ending == .exit(0) && again.outputText.contains("nothing was changed"), "\(again.outputText)")
        try edit(#""mail":"q""#, #""mail":"r""#)
        // The one that is repaired already is left out, whatever it says by now.
        try edit(#""new":{"city":"Bonn"}"#, #""new":{"city":"Wien"}"#)
        let second = try retry()
        #expect(second["repaired"] as? Int == 1 && second["ignored"] as? Int == 1)
        #expect(try people() == "1|Bonn|a\n2|Kiel|b\n4|Nice|r\n9|y|q")
        #expect(try runImporter("rejects", patched.store, "--json").outputText.isEmpty)
        try patched.verify(isStrict: false)
    }

    @Test func aRetryThatStopsSaysSoAndIsResumed() throws {
        try edit(#""old":{"city":"Oslo"}"#, #""old":{"city":"other"}"#)
        // No fault of the change: the trigger cannot run.
        try StoreContent.execute(patched.store, "CREATE TRIGGER t BEFORE UPDATE ON p BEGIN SELECT missing(); END")
        let file = patched.directory.path("report.json")
        let arguments = ["retry", patched.store, repairs, "--json", "--report", file, "--progress", "none"]
        let result = try run([Project.importer] + arguments)
        #expect(result.ending == .exit(74), "\(result.errorText)")
        for data in [result.output, try Data(contentsOf: URL(filePath: file))] {
            let report = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
            #expect(report["job"] as? Int == 2)
            #expect(report["state"] as? String == "failed")
        }
        #expect(try people() == "1|other|a\n2|Kiel|b\n9|y|q")
        try StoreContent.execute(patched.store, "DROP TRIGGER t")
        #expect(try runImporter("resume", patched.store, "--quiet").ending == .exit(0))
        #expect(try people() == "1|Bonn|a\n2|Kiel|b\n9|y|q")
        #expect(try open() == "repaired,open")
        try patched.verify(isStrict: false)
    }

    @Test func aRetryIsUndoneAsAPatchIs() throws {
        let before = try patched.digest
        try edit(#""old":{"city":"Oslo"}"#, #""old":{"city":"other"}"#)
        _ = try retry()
        #expect(try patched.digest != before)
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == before)
    }

    private func open() throws -> String {
        try patched.rows("SELECT group_concat(state) FROM _import_reject WHERE job = 1")
    }

    @Test func rejectsFollowAnUndo() throws {
        try edit(#""old":{"city":"Oslo"}"#, #""old":{"city":"other"}"#)
        _ = try retry()
        #expect(try open() == "repaired,open")
        #expect(try patched.undo().ending == .exit(0))
        #expect(try open() == "open,open")
        #expect(try patched.undo("--job", "3").ending == .exit(0))
        #expect(try open() == "repaired,open")
        #expect(try patched.undo("--job", "2").ending == .exit(0))
        #expect(try patched.undo("--job", "1").ending == .exit(0))
        #expect(try open() == "undone,undone")
        #expect(try runImporter("rejects", patched.store, "--json").outputText.isEmpty)
    }

    private func conflicts() throws -> [String] {
        try patched.rows(
            "SELECT json_extract(record, '$.conflicts') FROM (SELECT CAST(record AS TEXT) AS record FROM _import_reject ORDER BY id)"
        ).split(separator: "\n").map(String.init)
    }

    @Test func aRejectSaysWhatTheStoreHas() throws {
        let city =
            #"[{"entity":"p","identifier":{"id":1},"kind":"changed","attribute":"city","old":"Oslo","new":"Bonn","stored":"STORED"}]"#
        let mail = #"[{"entity":"p","identifier":{"id":4},"kind":"constraint","attribute":"mail"}]"#
        #expect(try conflicts() == [city.replacing("STORED", with: "other"), mail])
        // What a later try finds in the way replaces it, and what is repaired has nothing in the way.
        #expect(try String(contentsOfFile: repairs, encoding: .utf8).contains(#""stored":"other"}]"#))
        try StoreContent.execute(patched.store, "UPDATE p SET city = 'later' WHERE id = 1")
        try edit(#""mail":"q""#, #""mail":"r""#)
        #expect(try retry()["repaired"] as? Int == 1)
        #expect(
            try conflicts() == [
                city.replacing("STORED", with: "other"), mail, city.replacing("STORED", with: "later"),
            ]
        )
        #expect(try people() == "1|later|a\n2|Kiel|b\n4|Nice|r\n9|y|q")
    }

    @Test func aRejectOfAnUndoSaysWhatTheStoreHas() throws {
        try StoreContent.execute(patched.store, "UPDATE p SET city = 'later' WHERE id = 2")
        #expect(try patched.undo("--conflicts", "reject").ending == .exit(0))
        #expect(
            try conflicts().last
                == #"[{"entity":"p","identifier":{"id":2},"kind":"changed","attribute":"city","old":"Kiel","new":"Rome","stored":"later"}]"#
        )
    }

    @Test func whatIsNoChangeIsRefusedBeforeAnythingIsWritten() throws {
        let before = try patched.digest
        try edit(#""change":"inserted""#, #""change":"vanished""#)
        let result = try runImporter("retry", patched.store, repairs)
        #expect(result.ending == .exit(65), "\(result.outputText)")
        #expect(try patched.digest == before)
        #expect(try patched.rows("SELECT count(*) FROM _import_job") == "1")
    }
}
