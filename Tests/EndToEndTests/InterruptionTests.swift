import Foundation
import TestSupport
import Testing

/// An import that is stopped, at any moment and in any way, continues where it was and ends with the same store.
struct InterruptionTests {
    static let run = ["--commit-every", "20", "--chunk-size", "40K"]
    static let count = 8_000

    static let jobs = [
        ImportJob.withModel(count: count)[0], ImportJob.withModel(count: count)[2],
        ImportJob.inferred(count: count)[1], ImportJob.inferred(count: count)[4],
        ImportJob.parts(count: count)[0], ImportJob.generated(count: count)[1],
    ]

    /// Starts an import and lets it commit some rows, and go on to some moment of a later commit.
    ///
    /// - Returns: the import, which is stopped there.
    static func progressed(
        _ command: [String],
        in store: String,
        _ generator: inout SeededGenerator
    ) throws -> ChildProcess {
        let wanted = try (StoreContent.rowCountLeft(store) ?? 0) + 20 * (1 + generator.next(8))
        let program = try SteppedProgram(
            command,
            every: 7 + generator.next(40),
            below: URL(filePath: store).deletingLastPathComponent().path
        )
        let hasCome = try program.step(untilRows: wanted, in: store)
        try #require(hasCome, "\(program.child.wait().ending) \(program.child.wait().errorText)")
        return program.released()
    }

    /// Runs an import until the store's user tables hold so many rows and some more has been done, and kills it.
    ///
    /// - Parameter later: how many dozen changes of files are made then.
    /// - Returns: whether it was killed; not so if it ended before.
    static func isKilled(_ command: [String], in store: String, atRows rows: Int, later: Int) throws -> Bool {
        let folder = URL(filePath: store).deletingLastPathComponent().path
        let program = try SteppedProgram(command, every: 12, below: folder)
        guard try program.step(untilRows: rows, in: store) else { return false }
        for _ in 0..<later { guard program.step() else { return false } }
        program.child.signal(SIGKILL)
        return program.child.wait().ending == .signal(SIGKILL)
    }

    /// Starts an import, lets it commit some rows and kills it.
    static func killed(_ files: ImportFiles) throws {
        var generator = SeededGenerator(seed: 9)
        let command = files.command(into: "store.sqlite", run)
        let child = try progressed(command, in: files.directory.path("store.sqlite"), &generator)
        child.signal(SIGKILL)
        #expect(child.wait().ending == .signal(SIGKILL), "the import was too short to be killed")
    }

    /// Before all records are looked at and imported again, what is in is compared with what there is, also within a chunk.
    @Test(arguments: ["", "oops", "{\"n\":1}\n", "[{\"n\":0}]", "{\"m\":0}\n"])
    func aFileThatHasChangedBeforeTheMarkerTakesNothingAway(now: String) throws {
        let directory = try TemporaryDirectory()
        let lines = (0..<400).map { "{\"n\":\($0)}\n" }.joined()
        let source = try directory.write(lines, to: "r.ndjson")
        let store = directory.path("store.sqlite")
        let command = [Project.importer, source, "--into", store, "--commit-every", "20"]
        try #require(try Self.isKilled(command, in: store, atRows: 40, later: 0))
        let before = try StoreContent.query(store, "SELECT * FROM r")
        try directory.write(now, to: "r.ndjson")
        let refused = try TestSupport.run(command)
        #expect(refused.ending == .exit(65), "\(refused.errorText)")
        #expect(try StoreContent.query(store, "SELECT * FROM r") == before)
        try directory.write(lines + "{\"n\":0.5}\n", to: "r.ndjson")
        let resumed = try TestSupport.run(command)
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*), sum(n) FROM r") == "401|79800.5")
    }

    @Test(arguments: jobs, [1, 2])
    func isTheSameAfterKills(_ job: ImportJob, seed: Int) throws {
        let files = try job.files()
        let expected = try files.uninterruptedResult()
        let store = files.directory.path("store.sqlite")
        var generator = SeededGenerator(seed: UInt64(seed))
        let start = files.command(into: "store.sqlite", Self.run)
        let resume = [Project.importer, "resume", store] + Self.run
        for kill in 0..<5 {
            let command = kill % 2 == 0 ? start : resume
            let child = try Self.progressed(command, in: store, &generator)
            child.signal(SIGKILL)
            #expect(child.wait().ending == .signal(SIGKILL), "the import was too short to be killed")
        }
        // Every kill left a store that says where it is.
        #expect(try StoreContent.isWhole(store))
        #expect(try Report(runImporter("status", store, "--json").output).state == "interrupted")
        let last = try TestSupport.run(seed % 2 == 0 ? start : resume)
        #expect(last.ending == .exit(0), "\(last.errorText)")
        #expect(try StoreContent.result(store) == expected)
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test(arguments: [1, 2, 3])
    func isTheSameAfterKillsWhileTheModelIsInferred(seed: Int) throws {
        let files = try ImportJob.inferred(count: Self.count)[0].files()
        let expected = try files.uninterruptedResult()
        let store = files.directory.path("store.sqlite")
        var generator = SeededGenerator(seed: UInt64(seed))
        let options = ["--commit-every", "20", "--chunk-size", "20K"]
        let start = files.command(into: "store.sqlite", options)
        var sealed = 0
        for _ in 0..<3 {
            let wanted = sealed + 1 + generator.next(6)
            let program = try SteppedProgram(start, every: 3 + generator.next(9), below: files.directory.path)
            while sealed < wanted {
                try #require(program.step(), "\(program.child.wait().errorText)")
                let names = files.directory.names(in: "store.sqlite.chunks")
                sealed = names.count { $0.hasPrefix("chunk-") && $0.hasSuffix(".ndjson") }
            }
            program.child.signal(SIGKILL)
            #expect(program.child.wait().ending == .signal(SIGKILL), "the import was too short to be killed")
            #expect(try StoreContent.rowCount(store) == 0)
        }
        let last = try TestSupport.run(start)
        #expect(last.ending == .exit(0), "\(last.errorText)")
        #expect(try StoreContent.result(store) == expected)
    }

    @Test(arguments: zip([SIGINT, SIGTERM, SIGHUP], [Int32(130), 143, 129]))
    func finishesTheCommitAndSaysHowToResume(signal: Int32, code: Int32) throws {
        for job in [Self.jobs[0], Self.jobs[2]] {
            let files = try job.files()
            let expected = try files.uninterruptedResult()
            let store = files.directory.path("store.sqlite")
            var generator = SeededGenerator(seed: UInt64(signal))
            for _ in 0..<2 {
                let command = files.command(into: "store.sqlite", Self.run)
                let child = try Self.progressed(command, in: store, &generator)
                child.signal(signal)
                child.resume()
                let result = child.wait()
                #expect(result.ending == .exit(code), "\(result.errorText)")
                #expect(result.errorText.contains("resume"))
                #expect(try Report(runImporter("status", store, "--json").output).state == "interrupted")
                #expect(try runImporter("verify", store).ending == .exit(0))
            }
            let last = try runImporter("resume", store)
            #expect(last.ending == .exit(0), "\(last.errorText)")
            #expect(try StoreContent.result(store) == expected)
        }
    }

    @Test func stopsAtOnceWhenAskedTwice() throws {
        let files = try Self.jobs[0].files()
        let expected = try files.uninterruptedResult()
        let store = files.directory.path("store.sqlite")
        var generator = SeededGenerator(seed: 5)
        let command = files.command(into: "store.sqlite", Self.run)
        let child = try Self.progressed(command, in: store, &generator)
        child.signal(SIGINT)
        child.resume()
        child.signal(SIGINT)
        let ending = child.wait().ending
        #expect(ending == .exit(130) || ending == .signal(SIGINT))
        #expect(try StoreContent.isWhole(store))
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try StoreContent.result(store) == expected)
    }

    /// What becomes of the chunk directory between two runs is no more than lost time.
    @Test(arguments: ["gone", "manifest gone", "chunk damaged", "chunk gone", "manifest torn", "left over"])
    func goesOnWhateverBecameOfTheChunks(fate: String) throws {
        for job in [Self.jobs[0], Self.jobs[2]] {
            let files = try job.files()
            let expected = try files.uninterruptedResult()
            let store = files.directory.path("store.sqlite")
            try Self.killed(files)
            try damage(files.directory, "store.sqlite.chunks", fate)
            let last = try runImporter("resume", store)
            #expect(last.ending == .exit(0), "\(job.name), \(fate): \(last.errorText)")
            #expect(try StoreContent.result(store) == expected, "\(job.name), \(fate)")
        }
    }

    private func damage(_ directory: TemporaryDirectory, _ chunks: String, _ fate: String) throws {
        let manifest = directory.path(chunks + "/manifest.ndjson")
        let sealed = directory.names(in: chunks).filter { $0.hasPrefix("chunk-") && $0.hasSuffix(".ndjson") }
        switch fate {
        case "gone": try FileManager.default.removeItem(atPath: directory.path(chunks))
        case "manifest gone": try FileManager.default.removeItem(atPath: manifest)
        case "manifest torn":
            var bytes = try Data(contentsOf: URL(filePath: manifest))
            bytes.removeLast(7)
            try bytes.write(to: URL(filePath: manifest))
        case "chunk gone":
            for name in sealed { try FileManager.default.removeItem(atPath: directory.path("\(chunks)/\(name)")) }
        case "chunk damaged":
            // A digit for a digit: still JSON, so only the checksum can tell.
            for name in sealed {
                let path = directory.path("\(chunks)/\(name)")
                var bytes = try Data(contentsOf: URL(filePath: path))
                if let place = bytes.lastIndex(of: UInt8(ascii: "1")) { bytes[place] = UInt8(ascii: "2") }
                try bytes.write(to: URL(filePath: path))
            }
        default:
            try directory.write("{\"half\":", to: "\(chunks)/chunk-009999.ndjson")
            try directory.write("{\"half\":", to: "\(chunks)/chunk-000001.ndjson.partial")
        }
    }

    @Test func refusesASourceThatHasChangedBeforeTheMarker() throws {
        let files = try Self.jobs[0].files()
        let store = files.directory.path("store.sqlite")
        try Self.killed(files)
        let before = try StoreContent.result(store)
        var bytes = Self.jobs[0].source
        let place = try #require(bytes.firstIndex(of: UInt8(ascii: "A")))
        bytes[place] = UInt8(ascii: "B")
        try files.directory.write(bytes, to: "people.json")
        let refused = try runImporter("resume", store)
        #expect(refused.ending != .exit(0))
        #expect(refused.errorText.contains("people.json"))
        #expect(try StoreContent.result(store) == before)
        // Mended again, it continues.
        try files.directory.write(Self.jobs[0].source, to: "people.json")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try StoreContent.result(store) == files.uninterruptedResult())
    }

    @Test func refusesOtherJobOptionsButTakesOtherRunOptions() throws {
        let files = try Self.jobs[0].files()
        let store = files.directory.path("store.sqlite")
        try Self.killed(files)
        let refused = try TestSupport.run(
            files.command(into: "store.sqlite", Self.run + ["--max-record-bytes", "100000"])
        )
        #expect(refused.ending == .exit(64), "\(refused.errorText)")
        let other = ["--workers", "3", "--chunk-size", "7K", "--commit-every", "11"]
        #expect(try TestSupport.run(files.command(into: "store.sqlite", other)).ending == .exit(0))
        #expect(try StoreContent.result(store) == files.uninterruptedResult())
    }

    @Test func changesNothingWhenItIsFinished() throws {
        let files = try ImportJob.withModel(count: 200)[0].files()
        let expected = try files.uninterruptedResult()
        let again = try TestSupport.run(files.command(into: "whole.sqlite"))
        #expect(again.ending == .exit(0), "\(again.errorText)")
        #expect((again.errorText + again.outputText).contains("already"))
        #expect(try runImporter("resume", files.directory.path("whole.sqlite")).ending == .exit(0))
        #expect(try StoreContent.result(files.directory.path("whole.sqlite")) == expected)
    }
}
