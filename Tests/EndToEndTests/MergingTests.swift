import Foundation
import TestSupport
import Testing

/// Records with the same identifier come to what taking them one after the other comes to.
struct MergingTests {
    static let policies = ["merge", "replace", "ignore", "error"]

    private static let model = """
        {"entities": {"thing": {"records": "$", "identifier": ["key", "part"], "attributes": {
          "key": {"type": "string"}, "part": {"type": "integer32"}, "needed": {"type": "string"},
          "count": {"type": "integer64", "optional": true, "default": 7},
          "note": {"type": "string", "optional": true},
          "mine": {"type": "string", "optional": true, "owner": "local"}}}}}
        """
    static let columns = "key, part, needed, count, note, mine"

    /// Records of a few objects, each with some of the keys, nulls among them.
    ///
    /// - Parameter areComplete: whether all have what a new object needs.
    static func records(_ count: Int, seed: UInt64, areComplete: Bool) -> [String] {
        RecordGenerator.records(count, seed: seed) { make in
            let object = make.number(below: count / 4)
            var members = ["\"part\": \(object % 3)"]
            members.append(make.chance(2) ? "\"key\": null" : "\"key\": \"k\(object / 3)\u{e9}\"")
            if areComplete || make.chance(70) { members.append("\"needed\": \(make.text("n", below: 3))") }
            if make.chance(50) {
                members.append("\"count\": \(make.chance(30) ? "null" : "\(make.number(below: 3))")")
            }
            if make.chance(50) { members.append("\"note\": \(make.chance(30) ? "null" : make.text("a", below: 3))") }
            if make.chance(50) { members.append("\"mine\": \(make.text("m", below: 9))") }
            return members
        }
    }

    /// Sources with the model that they are imported by.
    static func files(_ sources: [[String]]) throws -> ImportFiles {
        try ImportFiles(records: sources, model: model, options: ["--entity", "thing"])
    }

    /// What the slow reading says.
    static func expected(_ policy: String, of files: ImportFiles) throws -> String {
        try ImportFiles.expected(by: "merge_model.py", [policy] + files.sources)
    }

    /// What the store says.
    static func content(_ store: String) throws -> String {
        let rows = try StoreContent.query(store, "SELECT \(columns) FROM thing ORDER BY rowid")
        let counts = try StoreContent.query(
            store,
            """
            SELECT sum(inserted) || ' ' || sum(updated) || ' ' || sum(unchanged) || ' ' || sum(ignored)
                || ' ' || sum(rejected) FROM _import_entity
            """
        )
        return (rows.isEmpty ? "" : rows + "\n") + counts
    }

    @Test(arguments: policies, [true, false])
    func agreesWithTakingOneRecordAfterTheOther(policy: String, areComplete: Bool) throws {
        let files = try Self.files([
            Self.records(300, seed: 21, areComplete: areComplete),
            Self.records(200, seed: 22, areComplete: areComplete),
        ])
        let expected = try Self.expected(policy, of: files)
        var results: Set<String> = []
        for workers in ["1", "2", "4"] {
            for (chunkSize, commitEvery) in [("1", "1"), ("2000", "7"), ("8M", "10000"), ("500", "1000")] {
                let store = files.directory.path("\(workers)-\(chunkSize).sqlite")
                let options = [
                    "--workers", workers, "--chunk-size", chunkSize, "--commit-every", commitEvery, "--on-conflict",
                    policy,
                ]
                let result = try run(files.command(into: store, options))
                #expect(result.ending == .exit(0), "\(result.errorText)")
                #expect(try Self.content(store) == expected, "\(options)")
                #expect(try runImporter("verify", store).ending == .exit(0))
                results.insert(try StoreContent.result(store))
            }
        }
        // Row ids, rejects and ledger too.
        #expect(results.count == 1)
    }

    @Test(arguments: policies)
    func agreesWhereTheObjectsCameWithAnEarlierImport(policy: String) throws {
        let files = try Self.files([
            Self.records(300, seed: 23, areComplete: false), Self.records(300, seed: 24, areComplete: false),
        ])
        let store = files.directory.path("store.sqlite")
        for source in files.sources {
            let options = ["--on-conflict", policy, "--chunk-size", "3000", "--commit-every", "11"]
            let result = try run(files.command([source], into: store, options))
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
        #expect(try Self.content(store) == Self.expected(policy, of: files))
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func readsTheSameFileTwiceWithoutChangingAnything() throws {
        let files = try Self.files([Self.records(300, seed: 25, areComplete: true)])
        let once = Set(Self.records(300, seed: 25, areComplete: true)).count
        #expect(once > 100)
        let store = files.directory.path("store.sqlite")
        #expect(try run(files.command(into: store)).ending == .exit(0))
        let first = try StoreContent.digest(store)
        // The second time an object may go through all of its states again, and ends in the same one.
        #expect(try run(files.command(into: store, ["--again"])).ending == .exit(0))
        #expect(try StoreContent.digest(store) == first)
        #expect(try StoreContent.query(store, "SELECT inserted FROM _import_entity WHERE job = 2") == "0")
    }

    /// NUL, an empty text and texts that only look the same are all of them texts of their own.
    @Test func tellsTextsApartByTheirBytes() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(
            """
            {"entities": {"t": {"identifier": ["k"], "attributes": {
              "k": {"type": "string"}, "v": {"type": "string", "optional": true}}}}}
            """,
            to: "model.json"
        )
        let source = try directory.write(
            #"""
            [{"k":"a\u0000b","v":"x\u0000y"},{"k":"a\u0000c","v":"1"},{"k":"","v":"2"},{"k":"\u00e9","v":"3"},
             {"k":"e\u0301","v":"4"},{"k":"a\u0000b","v":"x\u0000z"},{"k":"E","v":"5"},{"k":"e","v":null}]
            """#,
            to: "t.json"
        )
        let store = directory.path("t.sqlite")
        #expect(try run([Project.importer, "import", source, "--into", store, "--model", model]).ending == .exit(0))
        #expect(
            try StoreContent.query(store, "SELECT hex(k), hex(v) FROM t ORDER BY rowid")
                == "610062|78007A\n610063|31\n|32\nC3A9|33\n65CC81|34\n45|35\n65|"
        )
    }

    /// Another import finds what an interrupted one has left, and makes one object of what is one.
    @Test func settlesWhatAnInterruptedImportHasLeft() throws {
        let records = Self.records(400, seed: 26, areComplete: true)
        // The first source breaks off: its import stays unfinished.
        let files = try Self.files([records, Self.records(100, seed: 27, areComplete: true)])
        let whole = try String(contentsOfFile: files.sources[0], encoding: .utf8)
        try String(whole.dropLast(20)).write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        let store = files.directory.path("store.sqlite")
        #expect(try run(files.command([files.sources[0]], into: store)).ending == .exit(65))
        #expect(try runImporter("verify", store).ending == .exit(0))
        #expect(try run(files.command([files.sources[1]], into: store)).ending == .exit(0))
        let keys = "SELECT count(*) - count(DISTINCT key || '|' || part) FROM thing"
        #expect(try StoreContent.query(store, keys) == "0")
        #expect(try runImporter("verify", store).ending == .exit(0))
        // Mended, it continues.
        try whole.write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        #expect(try run(files.command([files.sources[0]], into: store)).ending == .exit(0))
        #expect(try StoreContent.query(store, keys) == "0")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// Killed anywhere near its end, while one object is made of the rows that are one, it is begun again.
    @Test func isTheSameAfterKillsAtTheEnd() throws {
        let files = try Self.files([Self.records(6_000, seed: 28, areComplete: true)])
        let options = ["--commit-every", "500", "--chunk-size", "60K"]
        let whole = files.directory.path("whole.sqlite")
        #expect(try run(files.command(into: whole, options)).ending == .exit(0))
        let expected = try StoreContent.result(whole)
        #expect(try Self.content(whole) == Self.expected("merge", of: files))
        var killed = 0
        for attempt in 0..<6 {
            let store = files.directory.path("store-\(attempt).sqlite")
            let command = files.command(into: store, options)
            if try InterruptionTests.isKilled(command, in: store, atRows: 5_500, later: attempt * 2) { killed += 1 }
            #expect(try run(command).ending == .exit(0))
            #expect(try StoreContent.result(store) == expected)
            #expect(try runImporter("verify", store).ending == .exit(0))
        }
        #expect(killed > 1)
    }
}
