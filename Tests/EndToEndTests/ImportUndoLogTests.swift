import Foundation
import TestSupport
import Testing

/// `importer import --undo`: what an import has done is taken back.
struct ImportUndoLogTests {
    private let patched: PatchedStore

    init() throws { patched = try PatchedStore() }

    private func write(_ name: String, _ records: [[String: Any]]) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: records)
        return try patched.directory.write(String(decoding: data, as: UTF8.self), to: name)
    }

    private func load(_ arguments: String...) throws {
        let result = try run([Project.importer, "import", "--into", patched.store, "--quiet"] + arguments)
        #expect(result.ending == .exit(0), "\(result.errorText)")
    }

    @Test(arguments: [1, 7, 10_000], ["id", "key"])
    func bringsBackWhatWasThere(_ commitEvery: Int, _ identifier: String) throws {
        func records(_ numbers: some Sequence<Int>, _ note: String) -> [[String: Any]] {
            numbers.map { ["id": $0, "key": "k\($0)", "note": "\(note)\($0 % 5)"] }
        }
        let first = try write("first.json", records(1...40, "a"))
        let second = try write("second.json", records(stride(from: 60, to: 20, by: -1), "b"))
        let third = try write("third.json", records(100...110, "c"))
        try load(first, "--entity", "t", "--identifier", identifier)
        let before = try patched.digest
        try load(second, "--entity", "t", "--undo", "--commit-every", "\(commitEvery)", "--workers", "3")
        let after = try patched.digest
        #expect(before != after)
        // What another import has added since stays.
        try load(third, "--entity", "t")
        let report = try patched.report("undo", "--job", "2")
        #expect(patched.counts(report) == ["records_read": 40, "updated": 20, "deleted": 20])
        #expect(try patched.rows("SELECT count(*), sum(note LIKE 'b%') FROM t") == "51|0")
        #expect(try patched.undo("--job", "4").ending == .exit(0))
        #expect(try patched.rows("SELECT count(*), sum(note LIKE 'b%') FROM t") == "71|40")
        try patched.verify()
        // What is undone is not what the store has: the same import is done once more.
        #expect(try patched.undo("--job", "2").ending == .exit(0))
        try load(second, "--entity", "t")
        #expect(try patched.rows("SELECT count(*), sum(note LIKE 'b%') FROM t") == "71|40")
    }

    /// What has only inserted rows is known by their row ids, without `--undo`.
    @Test(arguments: [1, 30]) func withoutHavingAskedInsertedRowsGo(_ commitEvery: Int) throws {
        let first = try write("first.json", (0..<50).map { ["key": "k\($0 % 40)", "note": $0] })
        let second = try write("second.json", (100..<180).map { ["key": "k\($0)", "note": $0] })
        try load(first, "--entity", "t", "--identifier", "key")
        let before = try patched.digest
        try load(second, "--entity", "t", "--commit-every", "\(commitEvery)")
        let after = try patched.digest
        #expect(try patched.counts(patched.report("undo")) == ["records_read": 80, "deleted": 80])
        #expect(try patched.digest == before)
        #expect(try patched.undo("--job", "3").ending == .exit(0))
        #expect(try patched.digest == after)
        // The first import has merged records in a table that was empty: all of its rows are its own.
        #expect(try patched.undo("--job", "2").ending == .exit(0))
        #expect(try patched.undo("--job", "1").ending == .exit(0))
        #expect(try patched.rows("SELECT count(*) FROM t") == "0")
        try patched.verify()
    }

    /// So are those of one that was interrupted, which is over then.
    @Test(arguments: [[], ["--identifier", "key"], ["--identifier", "note", "--workers", "1"]])
    func ofAnInterruptedImportInsertedRowsGo(_ options: [String]) throws {
        let first = try write("first.json", (0..<50).map { ["key": "k\($0)", "note": $0] })
        let second = try write("second.json", (100..<800).map { ["key": "k\($0)", "note": $0] })
        let store = patched.store
        try load(first, "--entity", "t")
        let before = try patched.digest
        let command =
            [Project.importer, "import", second, "--into", store, "--entity", "t", "--commit-every", "50"] + options
        #expect(try InterruptionTests.isKilled(command, in: store, atRows: 200, later: 0))
        let result = try patched.undo()
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try patched.rows("SELECT count(*), max(note) FROM t") == "50|49")
        if options.isEmpty { #expect(try patched.digest == before) }
        try patched.verify()
    }

    @Test(arguments: [
        "UPDATE t SET note = 'other' WHERE key = 'k3'", "DELETE FROM t WHERE key = 'k3'",
        "CREATE TEMP TABLE o AS SELECT * FROM t; DELETE FROM t; INSERT INTO t SELECT * FROM o ORDER BY note DESC",
    ])
    func insertedRowsThatSomebodyHasChangedStay(_ change: String) throws {
        let file = try write("a.json", (0..<20).map { ["key": "k\($0)", "note": $0] })
        try load(file, "--entity", "t", "--identifier", "key")
        try patched.make("s.db", change)
        let before = try patched.digest
        let result = try patched.undo()
        #expect(result.ending == .exit(65) && result.errorText.contains("--undo"), "\(result.errorText)")
        #expect(try patched.digest == before)
        #expect(try patched.rows("SELECT name FROM sqlite_master WHERE name GLOB '_import_undo*'") == "")
    }

    /// A later import has made them its own.
    @Test func insertedRowsThatALaterImportHasChangedStay() throws {
        let first = try write("first.json", (0..<20).map { ["key": "k\($0)", "note": 1] })
        let second = try write("second.json", [["key": "k3", "note": 2]])
        try load(first, "--entity", "t", "--identifier", "key")
        try load(second, "--entity", "t", "--identifier", "key")
        #expect(try patched.undo("--job", "1").ending == .exit(65))
        #expect(try patched.undo("--job", "2").ending == .exit(65))
        #expect(try patched.rows("SELECT count(*) FROM t") == "20")
    }

    @Test func ofAnEmptyTableAllRowsGo() throws {
        let file = try write("a.json", (0..<200).map { ["key": "k\($0 % 50)", "note": $0] })
        try load(file, "--entity", "t", "--identifier", "key", "--undo")
        #expect(try patched.rows("SELECT first_rowid, last_rowid FROM _import_undo_range") == "1|50")
        #expect(try patched.rows("SELECT count(*) FROM _import_undo") == "0")
        let after = try patched.digest
        #expect(try patched.counts(patched.report("undo")) == ["records_read": 50, "deleted": 50])
        #expect(try patched.rows("SELECT count(*) FROM t") == "0")
        #expect(try patched.undo("--job", "2").ending == .exit(0))
        #expect(try patched.digest == after)
        try patched.verify()
    }

    @Test func rowsThatAnotherProgramHasRenumberedAreNotTouched() throws {
        let file = try write("a.json", (0..<20).map { ["key": "k\($0)", "note": $0] })
        try load(file, "--entity", "t", "--identifier", "key", "--undo")
        try patched.make(
            "s.db",
            "CREATE TEMP TABLE o AS SELECT * FROM t; DELETE FROM t; INSERT INTO t SELECT * FROM o ORDER BY note DESC"
        )
        let before = try patched.digest
        let result = try patched.undo()
        #expect(result.ending == .exit(65) && result.errorText.contains("VACUUM"), "\(result.errorText)")
        #expect(try patched.digest == before)
    }

    @Test func whatBelongsToAnObjectComesBackToo() throws {
        func orders(_ numbers: Range<Int>, _ sku: String, _ lines: Int) -> [[String: Any]] {
            numbers.map { id in ["id": id, "lines": (0..<id % lines).map { ["sku": "\(sku)\($0)", "n": $0] }] }
        }
        try load(
            try write("o.json", orders(0..<60, "s", 4)),
            "--entity",
            "o",
            "--nested",
            "tables",
            "--identifier",
            "id"
        )
        let before = try patched.digest
        let later = try write("p.json", orders(40..<80, "t", 3))
        try load(later, "--entity", "o", "--nested", "tables", "--undo", "--commit-every", "5")
        #expect(try patched.digest != before)
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.digest == before)
        try patched.verify()
    }

    @Test func whatWaitsForAnObjectWaitsAgainAfterARedo() throws {
        let model = try patched.directory.write(
            """
            {"entities": {
              "d": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"people": {"entity": "p", "toMany": true, "inverse": "dept"}}},
              "p": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
                "relationships": {"dept": {"entity": "d", "optional": true, "inverse": "people"}}}
            }}
            """,
            to: "m.json"
        )
        try load(try write("d.json", [["id": 1, "people": [7, 8]]]), "--entity", "d", "--model", model, "--undo")
        #expect(try patched.rows("SELECT count(*) FROM _import_link") == "2")
        #expect(try patched.undo().ending == .exit(0))
        #expect(try patched.rows("SELECT count(*) FROM _import_link") == "0")
        #expect(try patched.undo("--job", "2").ending == .exit(0))
        try load(try write("p.json", [["id": 7], ["id": 8]]), "--entity", "p", "--model", model)
        #expect(try patched.rows("SELECT count(*) FROM _import_link") == "0")
        let people = try runImporter("fetch", patched.store, "p", "--include", "dept", "--format", "ndjson").outputText
        let lines = people.split(separator: "\n")
        #expect(lines.count == 2 && lines.allSatisfy { $0.contains(#""dept":{"id":1"#) }, "\(people)")
    }

    /// Its state stays `finished`; that it is undone is said beside it, until it is done again.
    @Test func statusSaysWhatIsUndone() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"id\":1}]", to: "a.json")
        let store = directory.path("store.sqlite")
        #expect(try runImporter(source, "--into", store, "--undo").ending == .exit(0))
        func job() throws -> [String: Any] {
            let record = try JSONSerialization.jsonObject(
                with: runImporter("status", store, "--json", "--job", "1").output
            )
            return try #require(record as? [String: Any])
        }
        #expect(try job()["undone_by"] == nil)
        #expect(try runImporter("undo", store).ending == .exit(0))
        #expect(try job()["undone_by"] as? Int == 2 && job()["state"] as? String == "finished")
        #expect(try runImporter("status", store).outputText.contains("  1  undone"))
        #expect(try runImporter("status", store, "--job", "1").outputText.contains("undone by job 2"))
        #expect(try runImporter("undo", store, "--job", "2").ending == .exit(0))
        #expect(try job()["undone_by"] == nil)
    }
}
