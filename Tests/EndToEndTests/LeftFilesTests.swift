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

    /// A store and chunks that were interrupted by a version that recorded no files.
    @Test(arguments: ["kept", "chunks gone", "restart"])
    func goesOnWithWhatAnOlderVersionHasLeft(fate: String) throws {
        let files = try InterruptionTests.jobs[0].files()
        let expected = try files.uninterruptedResult()
        try InterruptionTests.killed(files)
        let store = files.directory.path("store.sqlite")
        try StoreContent.execute(
            store,
            "DROP TABLE _import_file; UPDATE _import_meta SET value = 3 WHERE key = 'format'"
        )
        let manifest = URL(filePath: store + ".chunks/manifest.ndjson")
        let text = try String(contentsOf: manifest, encoding: .utf8)
            .replacing(/(,"reserved":\[[\[\],0-9]*\])?,"check":"[0-9a-f]{16}"\}/, with: "}")
            .replacing("\"format\":2", with: "\"format\":1")
        try text.write(to: manifest, atomically: false, encoding: .utf8)
        try files.directory.write("{\"half\":", to: "store.sqlite.chunks/chunk-000001.ndjson.partial")
        if fate == "chunks gone" { try FileManager.default.removeItem(atPath: store + ".chunks") }
        let result = try run(
            files.command(into: "store.sqlite", fate == "restart" ? ["--restart"] : [])
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.result(store) == expected)
        #expect(!FileManager.default.fileExists(atPath: store + ".chunks"))
        #expect(try StoreContent.query(store, "SELECT value FROM _import_meta WHERE key = 'format'") != "3")
    }
}
