import Foundation
import TestSupport
import Testing

/// A finished store is in WAL mode only where it was before, or while somebody has it open.
struct WALModeTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
        try directory.write("[{\"id\":1},{\"id\":2}]", to: "thing.json")
        try directory.write("[{\"id\":3},{\"id\":4}]", to: "more.json")
    }

    private func importFile(_ name: String, _ options: String...) throws -> ChildProcess.Ending {
        let result = try run(
            [Project.importer, "import", directory.path(name), "--into", store, "--entity", "thing"] + options
        )
        return result.ending
    }

    /// The header says it: 1 for a rollback journal, 2 for a WAL (<https://www.sqlite.org/fileformat.html>, 1.3.3).
    private var isInWALMode: Bool {
        get throws { try Array(Data(contentsOf: URL(filePath: store))[18...19]) != [1, 1] }
    }

    private func python(_ script: String) throws -> String {
        let result = try Python.run(text: "import sqlite3, sys\n" + script, [store])
        try #require(result.ending == .exit(0), "\(result.errorText)")
        return result.outputText
    }

    @Test func aFinishedStoreLeavesIt() throws {
        for (name, count) in [("thing.json", "2"), ("more.json", "4")] {
            #expect(try importFile(name) == .exit(0))
            #expect(try !isInWALMode)
            #expect(directory.names().filter { $0.hasPrefix("store.sqlite") } == ["store.sqlite"])
            #expect(try StoreContent.query(store, "SELECT count(*) FROM thing") == count)
        }
        #expect(
            try runImporter(
                "import",
                directory.path("more.json"),
                "--into",
                store,
                "--entity",
                "thing",
                "--index",
                "id"
            ).ending == .exit(0)
        )
        #expect(try !isInWALMode)
    }

    /// Nothing beside a file can be made in a folder that cannot be written to, and a file there cannot be locked for writing.
    @Test func aFinishedStoreIsReadFromAFolderThatCannotBeWrittenTo() throws {
        #expect(try importFile("thing.json") == .exit(0))
        #expect(chmod(store, 0o444) == 0 && chmod(directory.path, 0o555) == 0)
        defer { chmod(directory.path, 0o700) }
        let prefix = geteuid() == 0 ? ["setpriv", "--reuid", "65534", "--clear-groups"] : []
        // The folder's owner only may look into it.
        #expect(chmod(directory.path, 0o555) == 0)
        for command in [["fetch", store, "thing"], ["status", store], ["verify", store], ["rejects", store]] {
            let result = try run(prefix + [Project.importer] + command)
            #expect(result.ending == .exit(0), "\(command): \(result.errorText)")
        }
    }

    @Test func anInterruptedStoreStaysInIt() throws {
        try directory.write("{\"id\":1}\n{\"id\":", to: "cut.ndjson")
        #expect(try importFile("cut.ndjson") == .exit(65))
        #expect(try isInWALMode)
        try directory.write("{\"id\":1}\n{\"id\":2}\n", to: "cut.ndjson")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try !isInWALMode)
    }

    @Test func aStoreThatWasInItBeforeItsFirstImportStays() throws {
        _ = try python(
            "d = sqlite3.connect(sys.argv[1]); d.execute('PRAGMA journal_mode = WAL'); d.execute('CREATE TABLE mine (a)')"
        )
        for name in ["thing.json", "more.json"] {
            #expect(try importFile(name) == .exit(0))
            #expect(try isInWALMode)
        }
    }

    @Test func aDatabaseThatWasNotInItIsLeftSoByAnImportThatFails() throws {
        _ = try python("sqlite3.connect(sys.argv[1]).execute('CREATE VIEW thing AS SELECT 1 AS id')")
        #expect(try importFile("thing.json") != .exit(0))
        #expect(try !isInWALMode)
    }

    @Test func aStoreThatSomebodyHasOpenStaysInIt() throws {
        #expect(try importFile("thing.json") == .exit(0))
        let reader = try ChildProcess([
            Project.python, "-c",
            """
            import sqlite3, sys, time
            while True:
                database = sqlite3.connect(sys.argv[1], isolation_level=None)
                if database.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
                    database.execute("SELECT count(*) FROM sqlite_master").fetchone()
                    print("reading", flush=True)
                    time.sleep(600)
                database.close()
            """, store,
        ])
        defer { reader.signal(SIGKILL) }
        // Cut off, it leaves the store in WAL mode, in which the reader then has it open.
        try directory.write("{\"id\":5}\n{\"id\":", to: "cut.ndjson")
        #expect(try importFile("cut.ndjson") == .exit(65))
        while reader.isRunning, !reader.outputSoFar.contains("reading") { usleep(1_000) }
        try directory.write("{\"id\":5}\n{\"id\":6}\n", to: "cut.ndjson")
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try isInWALMode)
        #expect(try StoreContent.query(store, "SELECT count(*) FROM thing") == "4")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// Nobody need be kept from entering WAL mode.
    @Test func theWaitForAWriterIsInterrupted() throws {
        let writer = try ChildProcess([
            Project.python, "-c",
            """
            import sqlite3, sys, time
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            c.execute('PRAGMA journal_mode = WAL'); c.execute('BEGIN IMMEDIATE'); c.execute('CREATE TABLE other (a)')
            print('writing', flush=True); time.sleep(600)
            """, store,
        ])
        defer { writer.signal(SIGKILL) }
        while writer.isRunning, !writer.outputSoFar.contains("writing") { usleep(1_000) }
        let importer = try ChildProcess([
            Project.importer, "import", directory.path("thing.json"), "--into", store, "--entity", "thing",
        ])
        Thread.sleep(forTimeInterval: 2)
        importer.signal(SIGINT)
        let start = ContinuousClock.now
        #expect(importer.wait().ending == .exit(130))
        #expect(start.duration(to: .now) < .seconds(20))
    }

    /// One that writes for a moment is waited for as one that reads is, also by those who want to stop.
    @Test(arguments: ["IMMEDIATE", "EXCLUSIVE"])
    func aWriterIsWaitedFor(lock: String) throws {
        #expect(try importFile("thing.json") == .exit(0))
        let ready = directory.path("ready")
        let script = """
            import sqlite3, sys, time
            c = sqlite3.connect(sys.argv[1], isolation_level=None)
            c.execute('BEGIN \(lock)'); c.execute('CREATE TABLE IF NOT EXISTS other (a)')
            open(sys.argv[2], 'w').close(); time.sleep(float(sys.argv[3])); c.execute('COMMIT')
            """
        let path = try directory.write(script, to: "writer.py")
        func writer(for seconds: String) throws -> ChildProcess {
            try? FileManager.default.removeItem(atPath: ready)
            let writer = try ChildProcess(["python3", path, store, ready, seconds])
            try wait(for: "the writer") { FileManager.default.fileExists(atPath: ready) ? true : nil }
            return writer
        }
        let moment = try writer(for: "2")
        #expect(try importFile("more.json") == .exit(0))
        moment.wait()
        #expect(try StoreContent.query(store, "SELECT count(*) FROM thing") == "4")
        guard lock == "IMMEDIATE" else { return }
        let long = try writer(for: "600")
        let importer = try ChildProcess([
            Project.importer, "import", directory.path("more.json"), "--into", store, "--entity", "thing", "--again",
        ])
        Thread.sleep(forTimeInterval: 1)
        importer.signal(SIGINT)
        #expect(importer.wait().ending == .exit(130))
        long.signal(SIGKILL)
        long.wait()
    }
}
