import Foundation
import TestSupport
import Testing

/// What a killed run has left goes at the next one, by the name that was recorded, and nothing else does.
struct LeftFilesTests {
    private func record(_ path: String) throws -> String {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return "\(Int64(bitPattern: UInt64(status.st_dev))), \(Int64(bitPattern: UInt64(status.st_ino)))"
    }

    /// A run that was killed between its job's end and the removal of its chunks.
    @Test(arguments: ["resume", "again", "other", "the same"])
    func chunksOfAFinishedImportGoAtTheNextRun(next: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Samples.people(count: 300, seed: 91).array, to: "people.json")
        let other = try directory.write(Samples.people(count: 20, seed: 92).array, to: "other.json")
        let store = directory.path("store.sqlite")
        let chunks = store + ".chunks"
        let command = [Project.importer, "import", source, "--into", store, "--chunk-size", "9K"]
        #expect(try run(command + ["--keep-chunks"]).ending == .exit(0))
        #expect(directory.names(in: "store.sqlite.chunks").count > 3)
        try directory.write("precious", to: "store.sqlite.chunks/notes.txt")
        try StoreContent.execute(
            store,
            "INSERT INTO _import_file SELECT token, '\(chunks)', 'chunks', 'used', 1, \(record(chunks)) FROM _import_job"
        )
        let result =
            switch next {
            case "resume": try runImporter("resume", store)
            case "again": try run(command + ["--again"])
            case "other": try runImporter("import", other, "--into", store)
            default: try run(command)
            }
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(directory.names(in: "store.sqlite.chunks") == ["notes.txt"])
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_file") == "0")
    }

    /// After a loss of power a store may have forgotten a job whose chunks are there.
    @Test(arguments: [false, true])
    func chunksOfAJobThatTheStoreHasForgottenGo(areKept: Bool) throws {
        let directory = try TemporaryDirectory()
        let first = try directory.write("[{\"n\": 1}]", to: "first.json")
        let source = try directory.write((0..<4_000).map { "{\"n\":\($0)}\n" }.joined(), to: "people.ndjson")
        let (store, saved) = (directory.path("store.sqlite"), directory.path("saved.sqlite"))
        let keeping = areKept ? ["--keep-chunks"] : []
        try #require(
            try run([Project.importer, "import", first, "--into", store, "--entity", "n"] + keeping).ending == .exit(0)
        )
        let command = [Project.importer, "import", source, "--into", store, "--entity", "n"]
        if !areKept {
            try FileManager.default.copyItem(atPath: store, toPath: saved)
            let options = ["--chunk-size", "9K", "--commit-every", "100"]
            try #require(try InterruptionTests.isKilled(command + options, in: store, atRows: 200, later: 1))
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + suffix) }
            try FileManager.default.moveItem(atPath: saved, toPath: store)
        }
        let before = directory.names(in: "store.sqlite.chunks")
        try #require(!before.isEmpty)
        let result = try run(command)
        // What was kept on purpose stays.
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(directory.names(in: "store.sqlite.chunks") == (areKept ? before : []))
        #expect(try StoreContent.rowCount(store) == 4_001)
    }

    /// Chunks whose store somebody has removed are in nobody's way, if all of them can be cut again.
    @Test(arguments: ["", "altered", "foreign", "source gone", "stream"])
    func chunksOfAStoreThatIsGoneGo(what: String) throws {
        let directory = try TemporaryDirectory()
        let lines = (0..<4_000).map { "{\"n\":\($0)}\n" }.joined()
        let source = try directory.write(lines, to: "people.ndjson")
        let store = directory.path("store.sqlite")
        let run = ["--into", store, "--entity", "people", "--chunk-size", "9K", "--commit-every", "100"]
        let command = [Project.importer, "import", what == "stream" ? "-" : source] + run
        if what == "stream" {
            let broken = try directory.write(lines + "{\"n\":", to: "broken")
            #expect(try TestSupport.run(command, input: broken).ending == .exit(65))
        } else {
            try #require(try InterruptionTests.isKilled(command, in: store, atRows: 200, later: 1))
        }
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store + suffix) }
        let chunks = directory.names(in: "store.sqlite.chunks")
        let last = try #require(chunks.last { $0.hasPrefix("chunk-") && $0.hasSuffix(".ndjson") }, "\(chunks)")
        switch what {
        case "altered": try directory.write("{}\n", to: "store.sqlite.chunks/\(last)")
        case "foreign": try directory.write("precious", to: "store.sqlite.chunks/chunk-mine.ndjson")
        case "source gone": try FileManager.default.moveItem(atPath: source, toPath: directory.path("other.ndjson"))
        default: break
        }
        let again =
            what == "source gone" ? [Project.importer, "import", directory.path("other.ndjson")] + run : command
        let result = try TestSupport.run(again, input: what == "stream" ? source : "/dev/null")
        guard what == "" else {
            #expect(result.ending == .exit(73), "\(what): \(result.errorText)")
            #expect(
                result.errorText.contains("rm -r '\(store).chunks'")
                    || result.errorText.contains("rm -r \(store).chunks")
            )
            #expect(result.errorText.contains("the only copy") == (what == "stream"))
            #expect(directory.names(in: "store.sqlite.chunks").count >= chunks.count)
            return
        }
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(
            result.errorText.contains("chunks of an import that the store does not know are removed"),
            "\(result.errorText)"
        )
        #expect(try StoreContent.query(store, "SELECT count(*) FROM people") == "4000")
        #expect(!FileManager.default.fileExists(atPath: store + ".chunks"))
    }

    /// An import that was killed at any moment before its first chunk does not hinder the next.
    @Test(arguments: ["recorded", "made", "noted", "manifest begun"])
    func anImportThatWasKilledAtItsBeginningGoesOn(moment: String) throws {
        let files = try InterruptionTests.jobs[0].files()
        let expected = try files.uninterruptedResult()
        try InterruptionTests.killed(files)
        let store = files.directory.path("store.sqlite")
        let chunks = store + ".chunks"
        try FileManager.default.removeItem(atPath: chunks)
        if moment != "recorded" { try #require(mkdir(chunks, 0o700) == 0) }
        if moment == "manifest begun" {
            try files.directory.write("{\"for", to: "store.sqlite.chunks/manifest.ndjson.partial")
        }
        let number = moment == "recorded" || moment == "made" ? "NULL, NULL" : try record(chunks)
        try StoreContent.execute(store, "UPDATE _import_file SET (device, inode) = (SELECT \(number))")
        let result = try runImporter("resume", store)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.result(store) == expected)
        #expect(!FileManager.default.fileExists(atPath: chunks))
    }

    /// A retry that was killed while it wrote what it was to read.
    @Test(arguments: [true, false])
    func theRepairFileOfAKilledRetryGoes(isWritten: Bool) throws {
        let job = try RepairJob(.lines, count: 100)
        let file = try job.directory.write(isWritten ? "{\"private\": 1}\n{" : "", to: "store.sqlite.retry.ndjson")
        let edited = try job.directory.write("edited by hand", to: "store.sqlite.retry-2.ndjson")
        let others = try job.directory.write("others'", to: "others.ndjson")
        let number = isWritten ? try record(file) : "NULL, NULL"
        try StoreContent.execute(
            job.store,
            """
            INSERT INTO _import_file VALUES ('a', '\(file)', 'repair', 'used', 1, \(number));
            INSERT INTO _import_file VALUES ('b', '\(edited)', 'repair', 'used', 1, 1, 2);
            INSERT INTO _import_file VALUES ('c', '\(others)', 'repair', 'used', 1, \(record(others)));
            """
        )
        #expect(try runImporter("resume", job.store).ending == .exit(0))
        #expect(!FileManager.default.fileExists(atPath: file))
        // Another file of that name, and one that no retry makes.
        #expect(FileManager.default.fileExists(atPath: edited))
        #expect(FileManager.default.fileExists(atPath: others))
        #expect(try StoreContent.query(job.store, "SELECT count(*) FROM _import_file") == "0")
    }

    /// The retry's file is recorded before it is made, and gone when it is finished.
    @Test func aRetryLeavesNothing() throws {
        let job = try RepairJob(.lines, count: 8_000)
        let model = try String(contentsOfFile: job.directory.path("model.json"), encoding: .utf8)
        let better = try job.directory.write(
            model.replacing("\"integer64\"", with: "\"integer64\", \"optional\": true"),
            to: "better.json"
        )
        let before = job.directory.names()
        let retry = [
            Project.importer, "retry", job.store, "--model", better, "--chunk-size", "4K", "--commit-every", "5",
        ]
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<3 {
            let child = try InterruptionTests.progressed(retry, in: job.store, &generator)
            child.signal(SIGKILL)
            #expect(child.wait().ending == .signal(SIGKILL), "the retry was too short to be killed")
            #expect(job.directory.names().contains("store.sqlite.retry.ndjson"))
        }
        let last = try run(retry)
        #expect(last.ending == .exit(0), "\(last.errorText)")
        #expect(job.directory.names() == before)
        #expect(try job.isSound())
    }
}
