import Foundation
import TestSupport
import Testing

/// `importer strip`: what is left of a store is what its owner would have made.
struct StripTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("s.sqlite")
    }

    private func load(_ text: String, _ name: String, _ arguments: String...) throws {
        let file = try directory.write(text, to: name)
        let result = try run([Project.importer, "import", file, "--into", store, "--quiet"] + arguments)
        #expect(result.ending == .exit(0), "\(result.errorText)")
    }

    private func strip(_ arguments: String...) throws -> ChildProcess.Result {
        try run([Project.importer, "strip", store] + arguments)
    }

    private func own(_ store: String) throws -> String {
        try StoreContent.query(
            store,
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name GLOB '_import_*'"
        )
    }

    private static let records = (1...500).map { #"{"id": "k\#($0)", "n": \#($0)}"# }
        .joined(separator: "\n")

    @Test(arguments: [([], 8), (["--identifier", "id"], 8), (["--identifier", "n", "--index", "id"], 9)])
    func leavesTheRowsAsTheyAre(_ arguments: [String], tables: Int) throws {
        let file = try directory.write(Self.records, to: "t.ndjson")
        #expect(try run([Project.importer, "import", file, "--into", store, "--quiet"] + arguments).ending == .exit(0))
        #expect(try own(store) == "\(tables)")
        let (before, whole) = (try StoreContent.digest(store), try Data(contentsOf: URL(filePath: store)))
        let copy = directory.path("copy.sqlite")
        #expect(try strip("--to", copy).ending == .exit(0))
        #expect(try own(copy) == "0" && StoreContent.digest(copy) == before && StoreContent.isWhole(copy))
        #expect(try Data(contentsOf: URL(filePath: store)) == whole)
        let result = try strip("--json")
        #expect(result.ending == .exit(0))
        #expect(result.outputText.contains("\"tables\" : \(tables)\n"), "\(result.outputText)")
        #expect(try own(store) == "0" && StoreContent.digest(store) == before && StoreContent.isWhole(store))
        #expect(try StoreContent.query(store, "PRAGMA journal_mode") == "delete")
        #expect(try Data(contentsOf: URL(filePath: store)).count < whole.count)
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(files.sorted() == ["copy.sqlite", "s.sqlite", "t.ndjson"])
        // A later import treats the table as one that is there.
        try load(#"{"id": "new", "n": 501}"#, "t2.ndjson", "--entity", "t")
        #expect(try StoreContent.rowCount(store) == 501)
    }

    /// Row ids with gaps stay, and the file is as large as it was.
    @Test func leavesRowIDsThatHaveGaps() throws {
        try load(Self.records, "t.ndjson")
        try StoreContent.execute(store, "DELETE FROM t WHERE n % 3 = 0")
        let before = try StoreContent.digest(store)
        let result = try strip()
        #expect(result.ending == .exit(0) && result.outputText.contains("not vacuumed"), "\(result.outputText)")
        #expect(try StoreContent.digest(store) == before && own(store) == "0")
    }

    @Test func nothingGoesThatIsNeeded() throws {
        #expect(try strip().ending == .exit(66))
        try load(Self.records + "\n{\"id\":}", "t.ndjson")
        let before = try Data(contentsOf: URL(filePath: store))
        let refused = try strip()
        #expect(refused.ending == .exit(64) && refused.errorText.contains("--allow-loss"), "\(refused.errorText)")
        #expect(try Data(contentsOf: URL(filePath: store)) == before)
        let taken = try directory.write("mine", to: "taken")
        #expect(try strip("--allow-loss", "--to", taken).ending == .exit(73))
        #expect(try strip("--allow-loss").ending == .exit(0))
        #expect(try strip().ending == .exit(66))
    }

    @Test func atTheEndOfAnImport() throws {
        try load(Self.records, "t.ndjson", "--strip")
        #expect(try own(store) == "0" && StoreContent.rowCount(store) == 500)
    }

    @Test func notWhileAJobIsUnfinished() throws {
        let cut = try directory.write("[" + Self.records.replacing("\n", with: ",") + ",{\"id\"", to: "cut.json")
        #expect(try run([Project.importer, "import", cut, "--into", store, "--quiet"]).ending == .exit(65))
        let result = try strip("--allow-loss")
        #expect(result.ending == .exit(64) && result.errorText.contains("resume"), "\(result.errorText)")
        #expect(try own(store) != "0")
    }
}
