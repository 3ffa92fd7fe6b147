import Foundation
import TestSupport
import Testing

/// Sources, stores and chunk directories that are not what they should be.
struct BadPlaceTests {
    /// Codes that say what is wrong with a file: no input, cannot create, I/O error, or an argument that cannot be meant.
    static let documented: Set<Int32> = [64, 65, 66, 73, 74]

    private func importing(into store: String, _ options: [String] = []) throws -> ChildProcess.Result {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Samples.people(count: 50, seed: 51).array, to: "people.json")
        return try run([Project.importer, "import", source, "--into", store] + options)
    }

    private func expectDocumented(_ result: ChildProcess.Result, naming name: String) {
        guard case .exit(let code) = result.ending else {
            Issue.record("\(result.ending)")
            return
        }
        #expect(Self.documented.contains(code), "\(code): \(result.errorText)")
        #expect(result.errorText.contains(name), "\(result.errorText)")
    }

    @Test func saysThatASourceIsNotThere() throws {
        let directory = try TemporaryDirectory()
        let result = try runImporter("import", directory.path("none.json"), "--into", directory.path("store.sqlite"))
        #expect(result.ending == .exit(66), "\(result.errorText)")
        #expect(result.errorText.contains("none.json"))
        #expect(directory.names().isEmpty)
    }

    @Test func saysThatAStoreIsNotThere() throws {
        let directory = try TemporaryDirectory()
        for command in ["resume", "status", "rejects", "verify"] {
            let result = try runImporter(command, directory.path("none.sqlite"))
            #expect(result.ending == .exit(66), "\(command): \(result.errorText)")
            #expect(result.errorText.contains("none.sqlite"))
        }
        #expect(directory.names().isEmpty)
    }

    @Test func leavesAFileThatIsNoStoreAlone() throws {
        let directory = try TemporaryDirectory()
        let text = String(repeating: "This is a letter, and not a database. ", count: 200)
        let store = try directory.write(text, to: "letter.txt")
        expectDocumented(try importing(into: store), naming: "letter.txt")
        for command in ["resume", "status", "rejects", "verify"] {
            expectDocumented(try runImporter(command, store), naming: "letter.txt")
        }
        #expect(try String(contentsOf: URL(filePath: store), encoding: .utf8) == text)
    }

    @Test func refusesADirectoryForAStore() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.path("place"), withIntermediateDirectories: true)
        expectDocumented(try importing(into: directory.path("place")), naming: "place")
        #expect(directory.names(in: "place").isEmpty)
        expectDocumented(try runImporter("status", directory.path("place")), naming: "place")
        expectDocumented(try importing(into: directory.path("missing/store.sqlite")), naming: "missing")
    }

    @Test func importsIntoADatabaseOfOthersWithoutTouchingIt() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("other.sqlite")
        try run(["sqlite3", store, "CREATE TABLE mine(a); INSERT INTO mine VALUES (1), (2); PRAGMA journal_mode=WAL;"])
        guard FileManager.default.fileExists(atPath: store) else { return }
        let result = try importing(into: store)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT sum(a) FROM mine") == "3")
        #expect(try StoreContent.tables(store) == ["mine", "people"])
    }

    @Test(.enabled(if: FullDiskTests.isPermitted, "mounting is not permitted here"))
    func refusesAReadOnlyStore() throws {
        let disk = try #require(try FullDiskTests.Disk(megabytes: 8))
        let store = disk.path + "/store.sqlite"
        #expect(try importing(into: store).ending == .exit(0))
        let before = try StoreContent.digest(store)
        try run(["mount", "-o", "remount,ro", disk.path])
        expectDocumented(try importing(into: store, ["--again"]), naming: "store.sqlite")
        try run(["mount", "-o", "remount,rw", disk.path])
        #expect(try StoreContent.digest(store) == before)
    }

    @Test func doesNotFollowALinkThatStandsForTheChunks() throws {
        let directory = try TemporaryDirectory()
        let target = directory.path("target")
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        try directory.write("keep", to: "target/manifest.ndjson")
        let store = directory.path("store.sqlite")
        try FileManager.default.createSymbolicLink(atPath: store + ".chunks", withDestinationPath: target)
        expectDocumented(try importing(into: store), naming: "store.sqlite.chunks")
        expectDocumented(try importing(into: store, ["--chunks", store + ".chunks"]), naming: "store.sqlite.chunks")
        let source = try directory.write("[{\"a\":1}]", to: "source.json")
        expectDocumented(
            try runImporter("split", source, "--to", store + ".chunks"),
            naming: "store.sqlite.chunks"
        )
        #expect(directory.names(in: "target") == ["manifest.ndjson"])
        #expect(try String(contentsOf: URL(filePath: target + "/manifest.ndjson"), encoding: .utf8) == "keep")
    }

    /// A link with a chunk's name in the chunk directory is replaced or refused, never written through.
    @Test func doesNotWriteThroughALinkWithAChunksName() throws {
        let directory = try TemporaryDirectory()
        let victim = try directory.write("keep", to: "victim")
        try FileManager.default.createDirectory(
            atPath: directory.path("chunks"),
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        for name in ["chunk-000001.ndjson", "chunk-000001.ndjson.tmp", ".chunk-000001.ndjson", "manifest.ndjson"] {
            try FileManager.default.createSymbolicLink(
                atPath: directory.path("chunks/\(name)"),
                withDestinationPath: victim
            )
        }
        let source = try directory.write("[{\"a\":1}]", to: "source.json")
        let split = try runImporter("split", source, "--to", directory.path("chunks"))
        if case .signal = split.ending { Issue.record("\(split.ending)") }
        let imported = try runImporter(
            "import",
            source,
            "--into",
            directory.path("store.sqlite"),
            "--chunks",
            directory.path("chunks")
        )
        if case .signal = imported.ending { Issue.record("\(imported.ending)") }
        #expect(try String(contentsOf: URL(filePath: victim), encoding: .utf8) == "keep")
    }

    @Test func importsAChunkDirectoryThatSplitMade() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Samples.people(count: 500, seed: 52).array, to: "people.json")
        let chunks = directory.path("chunks")
        #expect(try runImporter("split", source, "--to", chunks, "--chunk-size", "10K").ending == .exit(0))
        let model = try directory.write(Samples.model(), to: "model.json")
        let split = directory.path("split.sqlite")
        let result = try runImporter("import", chunks, "--into", split, "--model", model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let whole = directory.path("whole.sqlite")
        try runImporter("import", source, "--into", whole, "--model", model)
        #expect(try StoreContent.digest(split) == StoreContent.digest(whole))
        #expect(FileManager.default.fileExists(atPath: chunks + "/manifest.ndjson"))
    }

    @Test func refusesADirectoryThatHoldsNoChunks() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.path("empty"), withIntermediateDirectories: true)
        let result = try runImporter("import", directory.path("empty"), "--into", directory.path("store.sqlite"))
        expectDocumented(result, naming: "empty")
    }
}
