import Foundation
import TestSupport
import Testing

/// Folders, patterns, archives and lists are imported as the files in them.
struct FolderTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
        try FileManager.default.createDirectory(atPath: directory.path("f"), withIntermediateDirectories: false)
    }

    private func importing(_ arguments: [String], into store: String? = nil) throws -> ChildProcess.Result {
        try run([Project.importer, "import"] + arguments + ["--into", store ?? self.store, "--progress", "none"])
    }

    private func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }

    /// Each member is a source of its own, compressed or not, however many there are.
    @Test func anArchiveGrowsAndShrinks() throws {
        let store = directory.path("store.sqlite")
        try directory.write("{\"n\":1}\n", to: "1.ndjson")
        try directory.write("{\"n\":2}\n", to: "2.ndjson")
        #expect(try run(["gzip", directory.path("2.ndjson")]).ending == .exit(0))
        for (members, numbers) in [
            (["1.ndjson"], "1"), (["1.ndjson", "2.ndjson.gz"], "1 2"), (["2.ndjson.gz"], "1 2"),
        ] {
            #expect(
                try run(["tar", "-cf", directory.path("all.tar"), "-C", directory.path(".")] + members).ending
                    == .exit(0)
            )
            let result = try run([Project.importer, "import", directory.path("all.tar"), "--into", store, "-q"])
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(
                try StoreContent.query(store, "SELECT group_concat(n, ' ') FROM (SELECT n FROM \"all\" ORDER BY n)")
                    == numbers
            )
        }
    }

    @Test func aRenamedMemberIsInAlready() throws {
        let archive = directory.path("all.tar")
        try directory.write("{\"n\":1}\n", to: "1.ndjson")
        try directory.write("{\"n\":1}\n", to: "2.ndjson")
        for member in ["1.ndjson", "2.ndjson"] {
            #expect(try run(["tar", "-cf", archive, "-C", directory.path("."), member]).ending == .exit(0))
            let result = try importing([archive, "--entity", "t"])
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try query("SELECT count(*) FROM t") == "1")
        }
    }

    @Test func recordsHaveThePathOfTheirSource() throws {
        try directory.write("{\"a\":1}\n{\"a\":oops}\n{\"a\":2}\n", to: "f/1.ndjson")
        try directory.write("{\"a\":3}\n", to: "f/2.ndjson")
        let result = try importing([directory.path("f"), "--file-column", "file"])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("2 sources: one kind, at $: into the table f"), "\(result.errorText)")
        let path = directory.path("f")
        #expect(
            try query("SELECT a || ' ' || file FROM f") == "1 \(path)/1.ndjson\n2 \(path)/1.ndjson\n3 \(path)/2.ndjson"
        )
        let rejects = try run([Project.importer, "rejects", store])
        #expect(rejects.outputText.contains("1.ndjson at byte 8, record 2"), "\(rejects.outputText)")
    }

    /// The keys of other levels are where they were.
    @Test func thePathIsBesideTheKeysOfRecords() throws {
        try directory.write(#"{"x":{"u":{"a":1},"v":{"a":2}},"y":{"w":{"a":3}}}"#, to: "f/1.json")
        let result = try importing([
            directory.path("f/1.json"), "--file-column", "file", "--records", "$.*.*", "--entity", "t",
        ])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let path = directory.path("f/1.json")
        #expect(
            try query("SELECT key, key_2, a, file FROM t ORDER BY a") == "u|x|1|\(path)\nv|x|2|\(path)\nw|y|3|\(path)"
        )
    }

    @Test func aModelGetsThePathOfTheSource() throws {
        try directory.write("[{\"a\":1}]", to: "f/1.json")
        let model = try directory.write(#"{"entities":{"t":{"attributes":{"a":{"type":"integer64"}}}}}"#, to: "m.json")
        let options = ["--model", model, "--file-column", "file"]
        #expect(try importing([directory.path("f")] + options).ending == .exit(0))
        #expect(try query("SELECT a, file FROM t") == "1|\(directory.path("f/1.json"))")
        let printed = try run([Project.importer, "infer", directory.path("f"), "--file-column", "file", "--quiet"])
        let inferred = try directory.write(printed.outputText, to: "inferred.json")
        let again = ["--model", inferred, "--file-column", "file"]
        #expect(try importing([directory.path("f")] + again, into: directory.path("s2.sqlite")).ending == .exit(0))
    }

    /// What came into the folder meanwhile comes after it.
    @Test func anInterruptedImportOfAFolderGoesOnWithTheFilesThatItBeganWith() throws {
        for number in 1...4 {
            let lines = (0..<2_000).map { "{\"n\":\(number * 10_000 + $0),\"t\":\"x\"}\n" }.joined()
            try directory.write(lines, to: "f/\(number).ndjson")
        }
        let options = [directory.path("f"), "--file-column", "file"]
        let small = ["--commit-every", "100", "--chunk-size", "10K"]
        #expect(try importing(options, into: directory.path("whole.sqlite")).ending == .exit(0))
        let command = [Project.importer, "import"] + options + small + ["--into", store]
        try #require(try InterruptionTests.isKilled(command, in: store, atRows: 3_000, later: 2))
        try directory.write("{\"n\":1,\"t\":\"new\"}\n", to: "f/0.ndjson")
        let result = try importing(options + small)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.outputText.split(separator: "Imported").count == 2, "\(result.outputText)")
        #expect(try StoreContent.query(store, "SELECT rowid FROM f WHERE t = 'new'") == "8001")
        let rows = "SELECT n, t, file FROM f WHERE t = 'x' ORDER BY rowid"
        #expect(try StoreContent.query(store, rows) == StoreContent.query(directory.path("whole.sqlite"), rows))
    }

    @Test func chunksThatAreInTheFolderAreNoSources() throws {
        try directory.write("[{\"a\":1}]", to: "f/1.json")
        let split = try run([Project.importer, "split", directory.path("f"), "--to", directory.path("f/cut")])
        #expect(split.ending == .exit(0), "\(split.errorText)")
        let result = try importing([directory.path("f")])
        #expect(result.errorText.contains("left out: cut/"), "\(result.errorText)")
        #expect(try query("SELECT count(*) FROM \"1\"") == "1")
        let other = directory.path("s2.sqlite")
        #expect(try importing([directory.path("f/cut"), directory.path("f/1.json")], into: other).ending == .exit(66))
        #expect(try importing([directory.path("f/cut")], into: other).ending == .exit(0))
        #expect(try StoreContent.query(other, "SELECT a FROM \"1\"") == "1")
    }

    @Test func severalCollectionsAreAnEntityEach() throws {
        try directory.write(#"{"users":[{"id":1},{"id":2}],"at":3,"orders":[{"no":5,"user":1}]}"#, to: "f/dump.json")
        let result = try importing([directory.path("f/dump.json")])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("records at $.users[*], $.orders[*] (2 collections)"), "\(result.errorText)")
        #expect(try query("SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM orders)") == "2|1")
        // Another night, one of them is empty: the table stays.
        try directory.write(#"{"users":[{"id":3}],"at":3,"orders":[]}"#, to: "f/dump2.json")
        #expect(try importing([directory.path("f/dump2.json")]).ending == .exit(0))
        #expect(try query("SELECT group_concat(id) FROM users") == "1,2,3")
    }
}
