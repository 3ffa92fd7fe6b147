import Foundation
import TestSupport
import Testing

/// With `--on-bad-source skip`, a source in which something is wrong ends there, and the others are imported.
struct BadSourceTests {
    private let directory: TemporaryDirectory
    private let files: [String]
    private let skip = ["--on-bad-source", "skip", "--entity", "t", "--progress", "none"]

    init() throws {
        directory = try TemporaryDirectory()
        let rows = (0..<2_000).map { "{\"n\":\($0)}" }
        try directory.write("[\(rows.joined(separator: ","))]", to: "a.json")
        try directory.write("[\(rows[..<1_500].joined(separator: ",")),{\"n\": oops}, 1]", to: "b.json")
        try directory.write("id,name\n1,x\n", to: "c.json")
        try directory.write(Data([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]), to: "d.json")
        try directory.write("[\(rows.joined(separator: ","))]", to: "e.json")
        files = ["a", "b", "c", "d", "e"].map { [directory] in directory.path("\($0).json") }
    }

    private func importing(_ options: [String], into store: String) throws -> ChildProcess.Result {
        try run([Project.importer, "import"] + files + ["--into", store] + skip + options)
    }

    @Test func theOthersAreImportedAndTheBadOnesNamed() throws {
        let store = directory.path("store.sqlite")
        let result = try importing([], into: store)
        #expect(result.ending == .exit(65), "\(result.errorText)")
        for name in ["b.json: line 1", "c.json: is not JSON", "d.json: is a 7z archive"] {
            #expect(result.errorText.contains(name), "\(result.errorText)")
        }
        #expect(try StoreContent.query(store, "SELECT count(*) FROM t") == "5500")
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
        let report = try run([Project.importer, "status", store, "--json"]).outputText
        #expect(report.components(separatedBy: "\"badSource\"").count == 4)
    }

    @Test(arguments: [1_000, 3_400, 3_600])
    func anInterruptionChangesNothing(rows: Int) throws {
        let (whole, killed) = (directory.path("whole.sqlite"), directory.path("killed.sqlite"))
        #expect(try importing([], into: whole).ending == .exit(65))
        let small = ["--commit-every", "100", "--chunk-size", "4K"]
        let command = [Project.importer, "import"] + files + ["--into", killed] + skip + small
        try #require(try InterruptionTests.isKilled(command, in: killed, atRows: rows, later: 1))
        #expect(try importing(small, into: killed).ending == .exit(65))
        #expect(try StoreContent.result(killed) == StoreContent.result(whole))
    }

    @Test func whereAllAreBadNothingIsLeft() throws {
        let store = directory.path("store.sqlite")
        let result = try run([Project.importer, "import", files[2], files[3], "--into", store] + skip)
        #expect(result.ending == .exit(65), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    /// What was sound of them is in; the rest comes when it is there, and until then the command says what is wrong.
    @Test func whatIsMendedGoesOnFromThere() throws {
        let store = directory.path("store.sqlite")
        try FileManager.default.createDirectory(atPath: directory.path("f"), withIntermediateDirectories: false)
        try directory.write("{\"n\":1}\n{\"n\":", to: "f/lines.ndjson")
        try directory.write("[{\"n\":10},\n {\"n\":11},{\"n\"", to: "f/array.json")
        try directory.write("<html></html>", to: "f/page.json")
        let command = [Project.importer, "import", directory.path("f"), "--into", store] + skip
        let numbers = "SELECT group_concat(n, ' ') FROM (SELECT n FROM t ORDER BY n)"
        #expect(try run(command).ending == .exit(65))
        #expect(try StoreContent.query(store, numbers) == "1 10 11")
        try directory.write("{\"n\":20}\n", to: "f/new.ndjson")
        let second = try run(command)
        #expect(second.ending == .exit(65), "\(second.errorText)")
        for name in ["lines.ndjson", "array.json", "page.json"] {
            #expect(second.errorText.contains("\(name): "), "\(second.errorText)")
        }
        #expect(try StoreContent.query(store, numbers) == "1 10 11 20")
        try directory.write("{\"n\":1}\n{\"n\":2}\n", to: "f/lines.ndjson")
        try directory.write("[{\"n\":10},\n {\"n\":11},{\"n\":12}]", to: "f/array.json")
        try directory.write("[{\"n\":30}]", to: "f/page.json")
        let third = try run(command)
        #expect(third.ending == .exit(0), "\(third.errorText)")
        #expect(try StoreContent.query(store, numbers) == "1 2 10 11 12 20 30")
        #expect(try run(command).ending == .exit(0))
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
        #expect(try StoreContent.query(store, numbers) == "1 2 10 11 12 20 30")
    }

    /// All of its records were there; only what says so was not.
    @Test func aCompressedFileThatIsWholeByNowIsSound() throws {
        let store = directory.path("store.sqlite")
        let lines = (1...500).map { "{\"n\":\($0)}\n" }.joined()
        let source = try directory.write(lines, to: "g.ndjson")
        #expect(try run(["gzip", source]).ending == .exit(0))
        let whole = try Data(contentsOf: URL(filePath: source + ".gz"))
        let command = [Project.importer, "import", source + ".gz", "--into", store] + skip
        for (bytes, ending) in [(whole.dropLast(4), Int32(65)), (whole, 0), (whole, 0)] {
            try directory.write(Data(bytes), to: "g.ndjson.gz")
            let result = try run(command)
            #expect(result.ending == .exit(ending), "\(result.errorText)")
            #expect(try StoreContent.query(store, "SELECT count(*), sum(n) FROM t") == "500|125250")
        }
    }

    @Test func goodOnesAreInAlready() throws {
        let store = directory.path("store.sqlite")
        for _ in 1...2 {
            let result = try run([Project.importer, "import", files[0], "--into", store] + skip)
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
        #expect(try StoreContent.query(store, "SELECT count(*) FROM t") == "2000")
    }

    @Test func aMirrorNeedsAllRecords() throws {
        let options = ["--mirror", "--identifier", "n"]
        #expect(try importing(options, into: directory.path("store.sqlite")).ending == .exit(64))
    }
}
