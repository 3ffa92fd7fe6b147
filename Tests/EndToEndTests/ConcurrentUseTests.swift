import Foundation
import TestSupport
import Testing

/// Others may look at a store while it is filled, but only one may fill it.
struct ConcurrentUseTests {
    @Test func tellsASecondImportAtOnceAndTouchesNothing() throws {
        let files = try ImportJob.withModel(count: 5_000)[0].files()
        let expected = try files.uninterruptedResult()
        let store = files.directory.path("store.sqlite")
        let command = files.command(into: "store.sqlite", ["--commit-every", "20", "--chunk-size", "1M"])
        var generator = SeededGenerator(seed: 1)
        let first = try InterruptionTests.progressed(command, in: store, &generator)
        let second = try run(command)
        #expect(second.ending == .exit(75), "\(second.errorText)")
        let resumed = try run([Project.importer, "resume", store])
        #expect(resumed.ending == .exit(75), "\(resumed.errorText)")
        first.resume()
        let result = first.wait()
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.result(store) == expected)
    }

    @Test(arguments: [50, 200])
    func showsWholeCommitsOnly(commitEvery: Int) throws {
        // One chunk, so that no commit is shorter than the others; no faults, so that every record is a row.
        let people = Samples.people(count: 6_000, seed: 21)
        let job = ImportJob(
            name: "array",
            source: Data(people.array.utf8),
            fileName: "people.json",
            model: Samples.model()
        )
        let files = try job.files()
        let store = files.directory.path("store.sqlite")
        let program = try SteppedProgram(
            files.command(into: "store.sqlite", ["--commit-every", "\(commitEvery)", "--chunk-size", "100M"]),
            every: 23,
            below: files.directory.path
        )
        var seen: [Int] = []
        while program.child.isRunning {
            if let count = try StoreContent.rowCountNow(store), count != seen.last { seen.append(count) }
            guard program.step() else { break }
        }
        #expect(program.child.wait().ending == .exit(0))
        #expect(seen.allSatisfy { $0 % commitEvery == 0 })
        #expect(seen == seen.sorted())
        #expect(seen.count > 3, "the reader saw too little: \(seen)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM person") == "6000")
    }

    /// A reader that holds its snapshot for the whole import does not hold it up, unless it keeps the store from entering WAL
    /// mode.
    @Test(arguments: [true, false])
    func doesNotWaitForAReader(isInWALMode: Bool) throws {
        let files = try ImportJob.withModel(count: 300)[0].files()
        let store = files.directory.path("whole.sqlite")
        _ = try files.uninterruptedResult()
        let before = try StoreContent.result(store)
        let reader = try ChildProcess([
            Project.python, "-c",
            """
            import sqlite3, sys, time
            c = sqlite3.connect(sys.argv[1]); c.isolation_level = None
            c.execute("PRAGMA journal_mode = " + sys.argv[2])
            c.execute("BEGIN"); c.execute("SELECT count(*) FROM person").fetchone()
            print("reading", flush=True); time.sleep(6000)
            """, store, isInWALMode ? "WAL" : "DELETE",
        ])
        while reader.isRunning, !reader.outputSoFar.contains("reading") { usleep(1_000) }
        let more = try files.directory.write(
            Data(Samples.people(count: 100, seed: 22).array.utf8),
            to: "more.json"
        )
        let model = files.directory.path("model.json")
        let result = try runImporter("import", more, "--into", store, "--model", model)
        #expect(result.ending == .exit(isInWALMode ? 0 : 75), "\(result.errorText)")
        reader.signal(SIGKILL)
        reader.wait()
        if !isInWALMode { #expect(try StoreContent.result(store) == before) }
    }
}
