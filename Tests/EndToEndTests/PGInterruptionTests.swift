import Foundation
import TestSupport
import Testing

/// An import into a server that is stopped in whatever way goes on, and every record is there once.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGInterruptionTests {
    static let run = ["--chunk-size", "4K", "--workers", "1"]

    /// Records with and without an identifier.
    static func files(identifier: Bool, seed: UInt64 = 51) throws -> ImportFiles {
        if identifier { return try MergingTests.files([MergingTests.records(2_000, seed: seed, areComplete: false)]) }
        return try ImportJob.withModel(count: 900)[0].files()
    }

    /// Starts an import that waits after its first chunks, while it cuts its source.
    static func halted(
        _ database: PGDatabase,
        _ files: ImportFiles,
        _ options: [String] = [],
        done: Int = 3
    ) throws -> (program: ChildProcess, holder: PostgreSQLSession) {
        try database.halted(database.command(files, nil, run + options), done: done)
    }

    /// Asks a program to stop, and waits until it has heard it.
    static func interrupt(_ program: ChildProcess) throws {
        program.signal(SIGINT)
        try wait(for: "the interruption", instead: { program.account }) {
            !program.isRunning || program.errorsSoFar.contains("stopping after") ? true : nil
        }
    }

    /// The database holds what a SQLite store of the same sources does, and nothing is left behind.
    static func check(_ database: PGDatabase, _ files: ImportFiles) throws {
        let same = try files.storeOfTheSame()
        for table in try StoreContent.tables(same.path) {
            #expect(try database.difference(of: table, from: same.path).isEmpty)
        }
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        let status = try ComparableReport(database.importer(["status", database.url, "--json"]).output)
        #expect(status == same.report)
        #expect(try database.isVerified())
        #expect(files.directory.names(in: "server.chunks").isEmpty)
    }

    @Test(arguments: Cases.few(1, of: [true, false]))
    func anInterruptedImportIsResumed(identifier: Bool) throws {
        let files = try Self.files(identifier: identifier)
        let database = try PGDatabase()
        let (program, holder) = try Self.halted(database, files)
        try Self.interrupt(program)
        holder.end()
        let stopped = program.wait()
        #expect(stopped.ending == .exit(130), "\(stopped.errorText)")
        #expect(stopped.errorText.contains("resume"))
        let status = try Report(database.importer(["status", database.url, "--json"]).output)
        #expect(status.state == "interrupted")
        #expect(try database.isVerified())
        // The leases have gone back: nobody waits for them.
        let leases = "SELECT count(*) FROM _import_chunk WHERE state <> 'done' AND lease_until > clock_timestamp()"
        #expect(try database.query(leases) == "0")
        let result = try database.importer(["resume", database.url])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        try Self.check(database, files)
    }

    @Test(arguments: [(false, true), (true, false)])
    func aKilledImportIsResumed(identifier: Bool, bySameCommand: Bool) throws {
        let files = try Self.files(identifier: identifier)
        let database = try PGDatabase()
        // Somewhere among the changes of the first chunks' files, whatever is registered and done by then.
        let stopped = try SteppedProgram(
            [Project.importer] + database.command(files, nil, Self.run),
            every: 20,
            below: files.directory.path,
            environment: database.server.environment
        )
        stopped.child.signal(SIGKILL)
        #expect(stopped.child.wait().ending == .signal(SIGKILL))
        try database.forgetDeadProcesses()
        #expect(try database.isVerified())
        try database.kill(Self.halted(database, files, done: 6))
        #expect(try database.isVerified())
        let again = bySameCommand ? database.command(files) : ["resume", database.url]
        let result = try database.importer(again)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        try Self.check(database, files)
        // Once finished, it is not done again.
        let more = try database.importer(database.command(files))
        #expect(more.ending == .exit(0))
        #expect(more.outputText.contains("already"), "\(more.outputText)\(more.errorText)")
        #expect(try database.query("SELECT count(*) FROM _import_job") == "1")
    }

    @Test func aSecondImportIsToldAtOnce() throws {
        let files = try Self.files(identifier: false)
        let database = try PGDatabase()
        let (first, holder) = try Self.halted(database, files)
        for arguments in [database.command(files), ["resume", database.url]] {
            let second = try database.importer(arguments)
            #expect(second.ending == .exit(75), "\(second.errorText)")
            #expect(second.errorText.contains(database.url))
        }
        holder.end()
        #expect(first.wait().ending == .exit(0), "\(first.account)")
        try Self.check(database, files)
    }

    /// Both commit chunks.
    @Test(arguments: Cases.few(1, of: [true, false]))
    func anotherProcessTakesPart(identifier: Bool) throws {
        let files = try Self.files(identifier: identifier)
        let database = try PGDatabase()
        let (first, holder) = try Self.halted(database, files)
        let worker = try database.start(["work", database.url, "--workers", "1"])
        try database.waitAtGate(worker, 3)
        holder.end()
        #expect(first.wait().ending == .exit(0), "\(first.account)")
        #expect(worker.wait().ending == .exit(0), "\(worker.account)")
        #expect(try database.query("SELECT count(DISTINCT owner) FROM _import_chunk WHERE state = 'done'") == "2")
        try Self.check(database, files)
    }

    /// What is sealed is imported though the process that cut it is dead.
    @Test func othersFinishWhatIsSealed() throws {
        let files = try Self.files(identifier: false)
        let database = try PGDatabase()
        try database.kill(Self.halted(database, files))
        let done = try database.chunks("done")
        let folder = files.directory.path("server.chunks")
        let moved = files.directory.path("moved")
        try FileManager.default.moveItem(atPath: folder, toPath: moved)
        let wrong = try database.importer(["work", database.url, "--wait", "0", "--chunks", folder])
        #expect(wrong.ending == .exit(66), "\(wrong.errorText)")
        #expect(wrong.errorText.contains(folder))
        let other = files.directory.path("other")
        #expect(try runImporter("split", files.sources[0], "--to", other, "--quiet").ending == .exit(0))
        let mistaken = try database.importer(["work", database.url, "--wait", "0", "--chunks", other])
        #expect(mistaken.ending == .exit(65), "\(mistaken.errorText)")
        #expect(try database.chunks("done") == done)
        try database.forgetDeadProcesses()
        let worker = try database.importer(["work", database.url, "--wait", "0", "--chunks", moved])
        #expect(worker.ending == .exit(75), "\(worker.errorText)")
        #expect(try database.chunks("sealed") == 0)
        #expect(try database.chunks("done") > done)
        #expect(try database.isVerified())
        try FileManager.default.moveItem(atPath: moved, toPath: folder)
        let result = try database.importer(["resume", database.url])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        try Self.check(database, files)
    }

    @Test(arguments: Cases.few(1, of: [true, false]))
    func aServerThatDiesComesBack(identifier: Bool) throws {
        let server = try PostgreSQLServer()
        let files = try Self.files(identifier: identifier)
        let database = try PGDatabase(on: server)
        let (program, holder) = try Self.halted(database, files)
        // What it was doing is gone when it goes on.
        #expect(program.suspend())
        try server.crash()
        holder.end()
        try server.start()
        // What was registered and not yet on the disk may be gone, too, and comes back in one transaction.
        let next = try database.shutGate(where: PGDatabase.isDone(after: 6))
        program.resume()
        try database.waitAtGate(program, 1)
        // It does not find the server at once.
        try server.crash()
        next.end()
        try server.start()
        let result = program.wait()
        #expect(result.ending == .exit(0), "\(result.errorText)")
        try Self.check(database, files)
    }

    /// Stops an import that waits for what a session holds, by a signal or, for 0, by its server's crash, and lets it come to its end.
    static func stop(
        _ program: ChildProcess,
        by signal: Int32,
        _ holder: PostgreSQLSession,
        _ database: PGDatabase
    ) throws {
        switch signal {
        case 0: try database.server.crash()
        case SIGINT: try interrupt(program)
        default:
            program.signal(signal)
            program.wait()
        }
        holder.end()
        if signal == 0 { try database.server.start() }
        let result = program.wait()
        let ending: ChildProcess.Ending = signal == 0 ? .exit(0) : signal == SIGKILL ? .signal(SIGKILL) : .exit(130)
        #expect(result.ending == ending, "\(result.errorText)")
        guard signal != 0 else { return }
        try database.forgetDeadProcesses()
        #expect(try database.isVerified())
        let resumed = try database.importer(["resume", database.url])
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
    }

    /// Stopped while it makes objects of what is staged, it has made all of them, or none.
    @Test(arguments: Cases.few(2, of: [SIGKILL, 0, SIGINT]))
    func isStoppedWhileItSettles(signal: Int32) throws {
        let files = try MergingTests.files([
            MergingTests.records(100, seed: 61, areComplete: true),
            MergingTests.records(900, seed: 62, areComplete: false),
        ])
        let (first, second) = ([files.sources[0]], [files.sources[1]])
        let server = try signal == 0 ? PostgreSQLServer() : .shared()
        let database = try PGDatabase(on: server)
        try database.imported(files, first)
        let before = try database.rows(of: "thing")
        let holder = try database.holdBack("thing")
        let program = try database.start(database.command(files, second) + Self.run)
        try wait(for: "the settling", instead: { program.account }) { try database.heldBack("thing") > 0 ? true : nil }
        #expect(try database.query("SELECT count(*) FROM _import_chunk WHERE job = 2 AND state <> 'done'") == "0")
        #expect(try database.rows(of: "thing") == before)
        try Self.stop(program, by: signal, holder, database)
        _ = try files.storeOfTheSame(first)
        let same = try files.storeOfTheSame(second)
        #expect(try database.difference(of: "thing", from: same.path).isEmpty)
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        #expect(try ComparableReport(database.importer(["status", database.url, "--json"]).output) == same.report)
        #expect(try database.isVerified())
    }

    /// A server that stays away is 69, and the import is resumed once it is there.
    @Test func aServerThatStaysAwayIsSaid() throws {
        let server = try PostgreSQLServer()
        let files = try Self.files(identifier: false)
        let database = try PGDatabase(on: server)
        let (program, holder) = try Self.halted(database, files, ["--reconnect", "0"])
        try server.crash()
        holder.end()
        let lost = program.wait()
        #expect(lost.ending == .exit(69), "\(lost.errorText)")
        try server.start()
        try database.forgetDeadProcesses()
        let result = try database.importer(["resume", database.url])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        try Self.check(database, files)
    }

    /// Whatever has become of a COMMIT whose answer did not come.
    @Test(
        arguments: Cases.few(
            2,
            of: [(PostgreSQLProxy.Cut.after, true), (.late, false), (.before, true), (.after, false)]
        )
    )
    func connectionsAreCutInCommit(_ cut: PostgreSQLProxy.Cut, identifier: Bool) throws {
        let files = try Self.files(identifier: identifier)
        let proxy = try PostgreSQLProxy(
            to: .shared(),
            cutting: cut,
            probability: 0.2,
            seed: 7,
            delay: cut == .late ? 0.2 : 0
        )
        let database = try PGDatabase(through: proxy)
        let result = try database.importer(database.command(files) + ["--chunk-size", "8K"])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(proxy.commits.count { $0 == cut } > 2)
        try Self.check(database, files)
    }

    /// Rows of chunks that nobody has committed yet may go with a server's memory; they come back with the next ones.
    @Test func chunksThatTheServerForgetsAreRegisteredAgain() throws {
        let files = try TemporaryDirectory()
        let lines = (1...3_000).map { "{\"id\": \($0), \"text\": \"\(String(repeating: "x", count: 1_000))\"}\n" }
        let model = """
            {"entities": {"thing": {"records": "$", "attributes": {"id": {"type": "integer64"}, "text": {"type": "string"}}}}}
            """
        let (first, second) = (
            try files.write(lines.prefix(2_000).joined(), to: "first"),
            try files.write(lines.dropFirst(2_000).joined(), to: "second")
        )
        let (pipe, gate) = (files.path("pipe"), files.path("gate"))
        try #require(mkfifo(pipe, 0o600) == 0 && mkfifo(gate, 0o600) == 0)
        let database = try PGDatabase()
        try database.execute("CREATE TABLE thing (id bigint, text text)")
        let holder = try database.holdBack("thing")
        let producer = try ChildProcess(["/bin/sh", "-c", "cat '\(first)' '\(gate)' '\(second)' > '\(pipe)'"])
        let program = try database.start(
            ["import", "-", "--into", database.url, "--model", files.write(model, to: "model.json"), "--chunks"]
                + [files.path("chunks"), "--chunk-size", "64K", "--workers", "1"],
            input: pipe
        )
        try wait(for: "chunks", instead: { program.account }) {
            try database.chunks("sealed") > 15 && database.heldBack("thing") == 1 ? true : nil
        }
        // What registers chunks again waits for the one that is held back, and then nobody reads any more.
        let opened = try wait(for: "the end of the first records", instead: { program.account }) {
            let end = open(gate, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            return end < 0 ? nil : end
        }
        let last = "(SELECT max(number) FROM _import_chunk WHERE owner = '')"
        try database.execute("DELETE FROM _import_chunk WHERE number = \(last)")
        let ours = "SELECT oid FROM pg_database WHERE datname = current_database()"
        let locks = "pg_locks WHERE locktype = 'advisory' AND database = (\(ours))"
        try database.execute("SELECT pg_terminate_backend(pid) FROM \(locks)")
        close(opened)
        holder.end()
        let result = program.wait()
        producer.wait()
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try database.query("SELECT count(*), count(DISTINCT id) FROM thing") == "3000|3000")
        #expect(try database.isVerified())
    }

    /// An import whose process is dead, and that others have gone on with: a chunk is not done, and one after it is.
    ///
    /// - Returns: also the number of that chunk, and its file.
    static func withGap(_ files: ImportFiles) throws -> (database: PGDatabase, gap: String, file: String) {
        let database = try PGDatabase()
        try database.kill(halted(database, files))
        let gap = try database.query("SELECT min(number) FROM _import_chunk WHERE state = 'sealed'")
        try database.execute("UPDATE _import_chunk SET lease_until = 'infinity' WHERE number = \(gap)")
        let worker = try database.importer(["work", database.url, "--wait", "0"])
        #expect(worker.ending == .exit(75), "\(worker.errorText)")
        #expect(try database.query("SELECT max(number) > \(gap) FROM _import_chunk WHERE state = 'done'") == "t")
        try database.forgetDeadProcesses()
        let name = "chunk-\(String(repeating: "0", count: 6 - gap.count))\(gap).ndjson"
        return (database, gap, files.directory.path("server.chunks") + "/" + name)
    }

    /// Only this one can be cut again.
    @Test(arguments: [(false, true), (true, false)])
    func aChunkThatIsGoneOrAlteredIsCutAgain(identifier: Bool, isGone: Bool) throws {
        let files = try Self.files(identifier: identifier)
        let (database, gap, file) = try Self.withGap(files)
        if isGone {
            try FileManager.default.removeItem(atPath: file)
        } else {
            var bytes = try Data(contentsOf: URL(filePath: file))
            bytes[bytes.count / 2] ^= 1
            try bytes.write(to: URL(filePath: file))
        }
        let result = try database.importer(["resume", database.url])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("is gone or altered: it is cut again"), "\(result.errorText)")
        #expect(try database.query("SELECT state FROM _import_chunk WHERE number = \(gap)") == "done")
        try Self.check(database, files)
    }

    /// Settling looks at records of chunks that are done.
    @Test func aChunkThatIsDoneIsCutAgainForSettling() throws {
        let files = try Self.files(identifier: true)
        let database = try PGDatabase()
        try database.kill(Self.halted(database, files))
        let folder = files.directory.path("server.chunks")
        for name in files.directory.names(in: "server.chunks") where name.hasPrefix("chunk-") {
            try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        let result = try database.importer(["resume", database.url])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("is gone or altered: it is cut again"), "\(result.errorText)")
        try Self.check(database, files)
    }

    @Test func aChunkWhoseSourceHasChangedIsNotCutAgain() throws {
        let files = try Self.files(identifier: false)
        let (database, gap, file) = try Self.withGap(files)
        let range = "SELECT first_byte + (end_byte - first_byte) / 2 FROM _import_chunk WHERE number = \(gap)"
        let place = try #require(Int(database.query(range)))
        let done = try database.chunks("done")
        try FileManager.default.removeItem(atPath: file)
        var bytes = try Data(contentsOf: URL(filePath: files.sources[0]))
        bytes[place] = bytes[place] == 0x31 ? 0x32 : 0x31
        try bytes.write(to: URL(filePath: files.sources[0]))
        let result = try database.importer(["resume", database.url])
        #expect(result.ending == .exit(65), "\(result.errorText)")
        #expect(result.errorText.contains("differ from those that were"), "\(result.errorText)")
        #expect(try database.chunks("done") == done)
        #expect(try database.isVerified())
    }

    /// A worker whose lease is over finds the file gone that another one is done with, and goes on with what is left.
    @Test func aChunkThatAnotherHasCommittedNeedsNoFile() throws {
        let files = try Self.files(identifier: false)
        let (database, gap, file) = try Self.withGap(files)
        try FileManager.default.removeItem(atPath: file)
        // Whoever takes it is too late.
        try database.execute(
            """
            CREATE FUNCTION overtake() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                UPDATE _import_chunk SET state = 'done', owner = 'another' WHERE number = NEW.number; RETURN NULL;
            END $$;
            CREATE TRIGGER overtake AFTER UPDATE ON _import_chunk FOR EACH ROW
                WHEN (NEW.number = \(gap) AND NEW.state = 'sealed' AND NEW.owner <> OLD.owner) EXECUTE FUNCTION overtake()
            """
        )
        let worker = try database.importer(["work", database.url, "--wait", "0"])
        #expect(worker.ending == .exit(75), "\(worker.errorText)")
        #expect(try database.query("SELECT state, owner FROM _import_chunk WHERE number = \(gap)") == "done|another")
        #expect(!worker.errorText.contains(file), "\(worker.errorText)")
    }
}
