import Foundation
import TestSupport
import Testing

/// An import that was interrupted is undone, which ends it.
struct UnfinishedUndoTests {
    private let patched: PatchedStore

    init() throws { patched = try PatchedStore() }

    private func load(_ arguments: String..., code: Int32 = 0) throws {
        let result = try run([Project.importer, "import", "--into", patched.store, "--quiet"] + arguments)
        #expect(result.ending == .exit(code), "\(result.errorText)")
    }

    /// Records as lines, of which the last one breaks off unless it is whole.
    private func write(_ name: String, _ records: [[String: Any]], isWhole: Bool = false) throws -> String {
        var lines = ""
        for record in records {
            let data = try JSONSerialization.data(withJSONObject: record, options: .sortedKeys)
            lines += String(decoding: data, as: UTF8.self) + "\n"
        }
        return try patched.directory.write(isWhole ? lines : lines + #"{"key": "#, to: name)
    }

    private func records(_ numbers: some Sequence<Int>, _ note: String) -> [[String: Any]] {
        numbers.map { ["id": $0, "key": "k\($0)", "note": "\(note)\($0 % 5)"] }
    }

    private var model: String {
        get throws {
            try patched.directory.write(
                """
                {"entities": {"t": {"identifier": ["key"], "attributes": {"key": {"type": "string"},
                "id": {"type": "integer64"}, "note": {"type": "string", "optional": true}}}}}
                """,
                to: "model.json"
            )
        }
    }

    private func isOver() throws {
        try patched.verify()
        #expect(!FileManager.default.fileExists(atPath: patched.store + ".chunks"))
        #expect(try runImporter("rejects", patched.store, "--json").outputText.isEmpty)
        let resumed = try runImporter("resume", patched.store)
        #expect(resumed.ending == .exit(0) && resumed.outputText.contains("was undone"), "\(resumed.outputText)")
        #expect(try patched.rows("SELECT group_concat(state) FROM _import_job").allSatisfy { "finshed,".contains($0) })
    }

    @Test(arguments: ["--undo", "--mirror"])
    func ofTablesThatHadRows(_ option: String) throws {
        try load(try write("a.ndjson", records(1...40, "a"), isWhole: true), "--entity", "t", "--model", try model)
        let before = try patched.digest
        // One of them does not fit.
        let new = records(21...60, "b") + [["key": "x", "id": "none"]]
        let file = try write("b.ndjson", new)
        try load(file, "--entity", "t", "--model", try model, "--commit-every", "7", option, code: 65)
        #expect(try patched.digest != before)
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == before)
        try isOver()
        // The job was undone, not done: its source is imported once more when it is whole.
        _ = try write("b.ndjson", records(21...60, "b"), isWhole: true)
        try load(file, "--entity", "t", "--model", try model, "--undo")
        #expect(try patched.rows("SELECT sum(note LIKE 'b%') FROM t") == "40")
    }

    /// Nothing of the rows is kept meanwhile, and their identifiers are not looked at yet.
    @Test(arguments: ["merge", "error"])
    func ofTablesThatWereEmpty(_ onConflict: String) throws {
        // Each comes twice; one has no object yet, which it waits for.
        let all = records(0..<60, "a") + records(0..<60, "b") + [["key": "late", "note": "c"]]
        let arguments = ["--entity", "t", "--model", try model, "--on-conflict", onConflict]
        let command = [Project.importer, "import", "--into", patched.store, try write("a.ndjson", all), "--undo"]
        #expect(try run(command + arguments + ["--commit-every", "9"]).ending == .exit(65))
        #expect(try patched.rows("SELECT count(*) FROM t") == "120")
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.rows("SELECT count(*) FROM t") == "0")
        try isOver()
        // Done again, the objects are what they were: each once.
        #expect(try patched.undo("--job", "2").ending == .exit(0))
        let note = onConflict == "merge" ? "b" : "a"
        #expect(try patched.rows("SELECT count(*), sum(note LIKE '\(note)%') FROM t") == "60|60")
        try patched.verify()
        // It has a part of the source only.
        #expect(try run(command + arguments).ending == .exit(65))
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.rows("SELECT count(*), sum(note LIKE '\(note)%') FROM t") == "60|60")
        #expect(try patched.undo("--job", "1").ending == .exit(0))
        #expect(try patched.rows("SELECT count(*) FROM t") == "0")
    }

    @Test func ofObjectsThatBelongToOthers() throws {
        func orders(_ numbers: Range<Int>, _ sku: String, _ lines: Int) -> [[String: Any]] {
            numbers.map { id in ["id": id, "lines": (0..<id % lines).map { ["sku": "\(sku)\($0)", "n": $0] }] }
        }
        let arguments = ["--entity", "o", "--nested", "tables", "--identifier", "id", "--undo", "--commit-every", "5"]
        let command = [Project.importer, "import", "--into", patched.store] + arguments
        #expect(try run(command + [try write("o.ndjson", orders(0..<60, "s", 4), isWhole: true)]).ending == .exit(0))
        let before = try patched.digest
        let model = try runImporter("model", "print", patched.store).outputText
        let file = try patched.directory.write(model, to: "m.json")
        let later = try write("p.ndjson", orders(40..<80, "t", 3))
        try load(later, "--entity", "o", "--model", file, "--undo", "--commit-every", "5", code: 65)
        #expect(try patched.digest != before)
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == before)
        try isOver()
        // As a first import, into tables that are empty.
        try FileManager.default.removeItem(atPath: patched.store)
        try load(later, "--entity", "o", "--model", file, "--undo", "--commit-every", "5", code: 65)
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.rows("SELECT count(*) FROM o") == "0")
        try isOver()
    }

    @Test func beforeAModelIsInferred() throws {
        let file = try write("a.ndjson", records(0..<20, "a"))
        try load(file, "--entity", "t", "--undo", code: 65)
        #expect(try patched.undo().ending == .exit(0))
        try isOver()
    }

    @Test func rowsOfALaterJobAreNotTakenAlong() throws {
        try load(try write("a.ndjson", records(0..<20, "a")), "--entity", "t", "--model", try model, "--undo", code: 65)
        let other = try write("b.ndjson", records(30..<40, "b"), isWhole: true)
        try load(other, "--entity", "t", "--model", try model)
        let before = try patched.digest
        let result = try patched.undo("--job", "1")
        #expect(result.ending == .exit(65) && result.errorText.contains("of job 2"), "\(result.errorText)")
        #expect(try patched.digest == before)
    }
}
