import Foundation
import TestSupport
import Testing

/// An import with --follow brings each line once, as it comes, whatever becomes of its file.
struct FollowTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
        try FileManager.default.createDirectory(atPath: directory.path("logs"), withIntermediateDirectories: true)
    }

    private func command(_ options: [String] = []) -> [String] {
        [Project.importer, "import", directory.path("logs"), "--into", store, "--entity", "log", "--progress", "none"]
            + options
    }

    private func follow(_ options: String...) throws -> ChildProcess {
        try ChildProcess(command(["--follow", "--commit-interval", "0.05"] + options))
    }

    private func lines(_ ids: ClosedRange<Int>) -> String { ids.map { "{\"id\":\($0)}\n" }.joined() }

    private func append(_ text: String, to name: String) throws {
        let path = directory.path("logs/\(name)")
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        let file = try #require(FileHandle(forWritingAtPath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    private func rename(_ name: String, _ other: String) throws {
        #expect(Foundation.rename(directory.path("logs/\(name)"), directory.path("logs/\(other)")) == 0)
    }

    /// What a query says; nothing where there is no store, or no table, yet.
    private func query(_ sql: String) -> String { (try? StoreContent.query(store, sql)) ?? "" }

    private func ids(_ table: String = "log") -> String {
        query("SELECT group_concat(id, ' ') FROM (SELECT id FROM \(table) ORDER BY id)")
    }

    private func waitFor(_ expected: String, of child: ChildProcess, _ read: (() -> String)? = nil) throws {
        let read = read ?? { ids() }
        try wait(for: expected, instead: { "\(read())\n\(child.account)" }) {
            if !child.isRunning { throw NeverCame("it has ended: \(child.account)") }
            return read() == expected ? true : nil
        }
    }

    /// Waits until no job is unfinished.
    private func awaitRest(of child: ChildProcess) throws {
        try waitFor("0", of: child) { query("SELECT count(*) FROM _import_job WHERE state <> 'finished'") }
    }

    private func stop(_ child: ChildProcess) -> ChildProcess.Result {
        child.signal(SIGINT)
        return child.wait()
    }

    // MARK: What comes

    @Test func newLinesAndFilesAreOneJob() throws {
        try append(lines(1...3), to: "app.ndjson")
        let child = try follow()
        try waitFor("1 2 3", of: child)
        try append(lines(4...4) + "{\"id\":", to: "app.ndjson")
        try waitFor("1 2 3 4", of: child)
        try append("5}\n", to: "app.ndjson")
        try append(lines(6...7), to: "web.ndjson")
        try waitFor("1 2 3 4 5 6 7", of: child)
        try append("{\"id\":8,\"new\":true}\n", to: "web.ndjson")
        try waitFor("1 2 3 4 5 6 7 8", of: child)
        try awaitRest(of: child)
        try waitFor("1", of: child) { query("SELECT count(*) FROM _import_job") }
        let result = stop(child)
        #expect(result.ending == .exit(130), "\(result.errorText)")
        #expect(result.errorText.contains("8 records") && result.errorText.contains("goes on"), "\(result.errorText)")
        #expect(query("SELECT record_ordinal, source FROM _import_job") == "8|2")
        #expect(query("SELECT count(*) FROM log WHERE new") == "1")
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
        // It is in already, and comes out again as one.
        let again = try run(command())
        #expect(
            again.ending == .exit(0) && again.outputText.contains("already"),
            "\(again.outputText)\(again.errorText)"
        )
        #expect(try run([Project.importer, "undo", store]).ending == .exit(0))
        #expect(ids() == "")
    }

    @Test func aFolderMayComeLater() throws {
        try FileManager.default.removeItem(atPath: directory.path("logs"))
        let child = try follow()
        try wait(for: "what it waits for", instead: { child.account }) {
            child.errorsSoFar.contains("waiting for it") ? true : nil
        }
        try FileManager.default.createDirectory(atPath: directory.path("logs/deep"), withIntermediateDirectories: true)
        try append(lines(1...2), to: "deep/a.ndjson")
        try waitFor("1 2", of: child)
        #expect(stop(child).ending == .exit(130))
    }

    /// A folder in which nothing is yet has folders in which something comes.
    @Test func anEmptyFolderMayBeFilled() throws {
        try FileManager.default.createDirectory(atPath: directory.path("logs/deep"), withIntermediateDirectories: true)
        let child = try follow()
        try wait(for: "what it waits for", instead: { child.account }) {
            child.errorsSoFar.contains("nothing is in it") ? true : nil
        }
        try append(lines(1...2), to: "deep/a.ndjson")
        try waitFor("1 2", of: child)
        #expect(stop(child).ending == .exit(130))
    }

    /// A link that leads nowhere keeps no other file waiting, and may lead somewhere later.
    @Test func aLinkMayLeadSomewhereLater() throws {
        try append(lines(1...1), to: "app.ndjson")
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("logs/link.ndjson"),
            withDestinationPath: directory.path("elsewhere.ndjson")
        )
        let child = try follow()
        try waitFor("1", of: child)
        try append(lines(2...2), to: "../elsewhere.ndjson")
        try waitFor("1 2", of: child)
        try append(lines(3...3), to: "../elsewhere.ndjson")
        try waitFor("1 2 3", of: child)
        #expect(stop(child).ending == .exit(130))
    }

    @Test func objectsOfSeveralEntitiesAreMerged() throws {
        try directory.write("[{\"id\":1,\"v\":1},{\"id\":2,\"v\":1}]", to: "logs/users.json")
        let child = try ChildProcess(
            [Project.importer, "import", directory.path("logs"), "--into", store, "--identifier", "id"]
                + ["--follow", "--commit-interval", "0.05", "--progress", "none"]
        )
        try waitFor("1|1,2|1", of: child) { users }
        try directory.write("[{\"id\":10,\"name\":\"a\"}]", to: "logs/groups.json")
        try waitFor("10", of: child) { ids("groups") }
        try directory.write("[{\"id\":2,\"v\":5},{\"id\":3,\"v\":1}]", to: "logs/users.json")
        try waitFor("1|1,2|5,3|1", of: child) { users }
        try awaitRest(of: child)
        #expect(stop(child).ending == .exit(130))
        #expect(query("SELECT count(*) FROM _import_job") == "1")
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
    }

    private var users: String { query("SELECT * FROM users ORDER BY id").replacing("\n", with: ",") }

    /// A document is one value: its beginning says nothing of what it is.
    @Test func aDocumentIsTakenWhenItIsClosed() throws {
        let file = try #require(fopen(directory.path("logs/a.json"), "w"))
        fputs("[{\"id\":1},\n", file)
        fflush(file)
        let patient = try ChildProcess(command(["--follow", "--commit-interval", "3"]))
        try append(lines(7...7), to: "b.ndjson")
        try waitFor("7", of: patient)
        #expect(ids() == "7")
        fputs("{\"id\":2}]", file)
        fclose(file)
        try waitFor("1 2 7", of: patient)
        #expect(stop(patient).ending == .exit(130))
    }

    /// A file that begins with half a line is none of one document.
    @Test(arguments: [
        ["{\"id\":1,\"v\":\"a", "b\"}\n"], ["{\"id\":1}", "\n{\"id\":", "2}\n"],
        ["{\n\"id\":1\n}\n", "{\n\"id\":", "2}\n"],
    ])
    func halvesWaitForTheirOtherHalves(parts: [String]) throws {
        try append("", to: "app.ndjson")
        let child = try follow()
        for part in parts {
            try append(part, to: "app.ndjson")
            usleep(200_000)
        }
        try append(lines(3...3), to: "app.ndjson")
        let expected = parts.joined().contains("2}") ? "1 2 3" : "1 3"
        try waitFor(expected, of: child)
        try awaitRest(of: child)
        #expect(stop(child).ending == .exit(130))
        let again = try run(command())
        #expect(
            again.ending == .exit(0) && again.outputText.contains("already"),
            "\(again.outputText)\(again.errorText)"
        )
        #expect(ids() == expected)
    }

    /// A last line that was imported without its line feed is in, whenever that comes.
    @Test func aLineFeedThatComesLaterBringsNothing() throws {
        try append(lines(1...2) + "{\"id\":3}", to: "app.ndjson")
        #expect(try run(command()).ending == .exit(0))
        let child = try follow()
        try append("\n" + lines(4...4), to: "app.ndjson")
        try waitFor("1 2 3 4", of: child)
        #expect(stop(child).ending == .exit(130))
        #expect(ids() == "1 2 3 4")
    }

    @Test func aDocumentThatIsWrittenAnewIsSaid() throws {
        try directory.write("[{\"id\":1}]\n", to: "logs/a.json")
        let child = try follow()
        try waitFor("1", of: child)
        try awaitRest(of: child)
        try directory.write("[{\"id\":1},{\"id\":2}]\n", to: "logs/a.json")
        try waitFor("1 2", of: child)
        try awaitRest(of: child)
        try directory.write("[{\"id\":1},{\"id\":3},{\"id\":4}]\n", to: "logs/a.json")
        try wait(for: "the change", instead: { child.account }) {
            child.errorsSoFar.contains("has changed since it was imported") ? true : nil
        }
        #expect(stop(child).ending == .exit(130))
        #expect(ids() == "1 2")
    }

    /// The import goes on in the file that was begun, under its new name.
    @Test func aFileThatIsRenamedWhileTheImportIsDownGoesOn() throws {
        try append(lines(1...40_000), to: "app.ndjson")
        let child = try follow("--commit-every", "500")
        try wait(for: "a commit", instead: { child.account }) { ids().isEmpty ? nil : true }
        child.signal(SIGKILL)
        _ = child.wait()
        try rename("app.ndjson", "app-1.ndjson")
        try append(lines(40_001...40_001), to: "app.ndjson")
        let second = try follow()
        try waitFor("40001|40001", of: second) { query("SELECT count(*), count(DISTINCT id) FROM log") }
        try awaitRest(of: second)
        #expect(stop(second).ending == .exit(130))
        #expect(try run(command()).ending == .exit(0))
        #expect(query("SELECT count(*) FROM log") == "40001")
    }

    // MARK: What becomes of files

    /// What a log has grown by before it was rotated is not lost, though nothing followed it then.
    @Test func aLogThatIsRotatedWhileTheImportIsDownGoesOn() throws {
        try append(lines(1...2), to: "app.ndjson")
        let child = try follow()
        try waitFor("1 2", of: child)
        #expect(stop(child).ending == .exit(130))
        try append(lines(3...4), to: "app.ndjson")
        try rename("app.ndjson", "app.ndjson.1")
        try append(lines(5...5), to: "app.ndjson")
        try append(lines(8...8), to: "notes.1")
        let next = try follow()
        try waitFor("1 2 3 4 5", of: next)
        try append(lines(6...6), to: "app.ndjson")
        try waitFor("1 2 3 4 5 6", of: next)
        #expect(stop(next).ending == .exit(130))
    }

    /// An import that was killed before it had committed anything is begun once more, as far as it was to go; then comes the rest.
    @Test func whatIsBegunOnceMoreGoesOn() throws {
        try append(lines(1...1), to: "app.ndjson")
        let first = try follow()
        try waitFor("1", of: first)
        #expect(stop(first).ending == .exit(130))
        // The job of a run that was killed before its first commit.
        try append(lines(2...3), to: "app.ndjson")
        let killed = try follow("--chunk-size", "4K")
        usleep(30_000)
        killed.signal(SIGKILL)
        _ = killed.wait()
        try append("{\"id\":", to: "app.ndjson")
        try append(lines(9...9), to: "web.ndjson")
        let next = try follow()
        try waitFor("1 2 3 9", of: next)
        try append("4}\n", to: "app.ndjson")
        try waitFor("1 2 3 4 9", of: next)
        #expect(stop(next).ending == .exit(130))
    }

    /// What is written before and after its file has another name comes in, whatever that is.
    @Test func rotationLosesNothing() throws {
        try append(lines(1...2), to: "app.ndjson")
        let child = try follow()
        try waitFor("1 2", of: child)
        try append(lines(3...3), to: "app.ndjson")
        try rename("app.ndjson", "app.ndjson.1")
        try append(lines(4...4), to: "app.ndjson.1")
        try append(lines(5...5), to: "app.ndjson")
        try waitFor("1 2 3 4 5", of: child)
        try rename("app.ndjson.1", "app.ndjson.2")
        try rename("app.ndjson", "app.ndjson.1")
        try append(lines(6...6), to: "app.ndjson.1")
        try append(lines(7...7), to: "app.ndjson")
        try waitFor("1 2 3 4 5 6 7", of: child)
        let result = stop(child)
        #expect(result.ending == .exit(130) && result.errorText.contains("app.ndjson.1 was "), "\(result.errorText)")
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
    }

    @Test func aTruncatedFileIsNewFromItsBeginning() throws {
        try append(lines(1...3), to: "app.ndjson")
        let child = try follow()
        try waitFor("1 2 3", of: child)
        try awaitRest(of: child)
        #expect(truncate(directory.path("logs/app.ndjson"), 0) == 0)
        try append(lines(4...9), to: "app.ndjson")
        try waitFor("1 2 3 4 5 6 7 8 9", of: child)
        #expect(stop(child).errorText.contains("was truncated or written anew"))
        // It is known by what it is now.
        #expect(try run(command()).outputText.contains("already"))
        #expect(ids() == "1 2 3 4 5 6 7 8 9")
    }

    @Test func anEditedFileIsSaidAndTheOthersGoOn() throws {
        try append(lines(1...3), to: "app.ndjson")
        let child = try follow()
        try waitFor("1 2 3", of: child)
        try awaitRest(of: child)
        try directory.write("{\"id\":1}\n{\"id\":22}\n{\"id\":3}\n", to: "logs/app.ndjson")
        try append(lines(4...4), to: "web.ndjson")
        try waitFor("1 2 3 4", of: child)
        try wait(for: "the change", instead: { child.account }) {
            child.errorsSoFar.contains("has changed since it was imported") ? true : nil
        }
        #expect(stop(child).ending == .exit(130))
        #expect(ids() == "1 2 3 4")
    }

    @Test func aBadFileIsSaidAndTheOthersGoOn() throws {
        try append("a,b\n1,2\n", to: "bad.json")
        try append(lines(1...1), to: "app.ndjson")
        let child = try follow()
        try waitFor("1", of: child)
        try wait(for: "the fault", instead: { child.account }) {
            child.errorsSoFar.contains("bad.json") ? true : nil
        }
        try append(lines(2...2), to: "app.ndjson")
        try waitFor("1 2", of: child)
        #expect(stop(child).ending == .exit(130))
    }

    // MARK: Ends

    @Test func whatIsKilledGoesOn() throws {
        try append(lines(1...2_000), to: "app.ndjson")
        let all = { query("SELECT count(*), count(DISTINCT id) FROM log") }
        for round in 1...6 {
            let child = try follow("--chunk-size", "4K", "--commit-every", "50")
            usleep(UInt32(20_000 * round))
            try append(lines(1_000 * round + 1_001...1_000 * round + 2_000), to: "app.ndjson")
            usleep(UInt32(15_000 * round))
            child.signal(SIGKILL)
            _ = child.wait()
        }
        let last = try follow()
        try waitFor("8000|8000", of: last, all)
        // All may have been there before it began: it takes signals once it has taken a line.
        try append(lines(8_001...8_001), to: "app.ndjson")
        try waitFor("8001|8001", of: last, all)
        try awaitRest(of: last)
        #expect(stop(last).ending == .exit(130))
        #expect(try run(command()).ending == .exit(0))
        #expect(all() == "8001|8001")
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
    }

    /// What was not read of a log before it was truncated is lost, and nothing else.
    @Test func aLogThatIsTruncatedWhileTheImportIsDownKeepsNothingUp() throws {
        let model = try directory.write(
            #"{"entities":{"log":{"records":"$","attributes":{"id":{"type":"integer64"}}}}}"#,
            to: "log.model.json"
        )
        let options = ["--model", model, "--chunk-size", "4K", "--commit-every", "50", "--progress", "none"]
        let command =
            [Project.importer, "import", directory.path("logs"), "--into", store, "--follow"]
            + ["--commit-interval", "0.05"] + options
        try append(lines(1...200_000), to: "app.ndjson")
        let killed = try ChildProcess(command)
        try wait(for: "a commit", instead: { killed.account }) { ids() == "" ? nil : true }
        killed.signal(SIGKILL)
        _ = killed.wait()
        let before = Int(query("SELECT count(*) FROM log")) ?? 0
        try directory.write(lines(1_000_001...1_000_010), to: "logs/app.ndjson")
        try append(lines(2_000_000...2_000_000), to: "web.ndjson")
        for round in 1...6 {
            let again = try ChildProcess(command)
            usleep(UInt32(25_000 * round))
            again.signal(SIGKILL)
            _ = again.wait()
        }
        let next = try ChildProcess(command)
        try append(lines(2_000_001...2_000_001), to: "web.ndjson")
        try waitFor("12", of: next) { query("SELECT count(*) FROM log WHERE id > 1000000") }
        try awaitRest(of: next)
        #expect(stop(next).ending == .exit(130))
        let count = query("SELECT count(*) FROM log WHERE id <= 1000000")
        #expect(Int(count) ?? 0 >= before)
        // As far as it was read, without a gap.
        #expect(query("SELECT max(id) FROM log WHERE id <= 1000000") == count)
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
    }

    @Test func anotherImportIsRefused() throws {
        try append(lines(1...1), to: "app.ndjson")
        let child = try follow()
        try waitFor("1", of: child)
        try directory.write("[{\"id\":1}]", to: "other.json")
        let other = try run([Project.importer, "import", directory.path("other.json"), "--into", store])
        #expect(other.ending == .exit(75), "\(other.errorText)")
        #expect(stop(child).ending == .exit(130))
        #expect(
            try run([Project.importer, "import", directory.path("other.json"), "--into", store]).ending == .exit(0)
        )
    }

    /// What is kept to undo one job is its own.
    @Test func withUndoEachCommitIsAJob() throws {
        try append(lines(1...1), to: "app.ndjson")
        let child = try follow("--undo")
        try waitFor("1", of: child)
        try awaitRest(of: child)
        try append(lines(2...2), to: "app.ndjson")
        try waitFor("1 2", of: child)
        try awaitRest(of: child)
        #expect(stop(child).ending == .exit(130))
        #expect(try run([Project.importer, "undo", store]).ending == .exit(0))
        #expect(ids() == "1")
    }

    @Test(arguments: [
        "--again", "--restart", "--strip", "--dry-run", "--keep-chunks", "--mirror", "--limit=1", "--skip=1",
        "--max-errors=1",
    ])
    func whatNeedsAnEndIsRefused(option: String) throws {
        try append(lines(1...1), to: "app.ndjson")
        let result = try run(command(["--follow", option]))
        #expect(result.ending == .exit(64), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test func aStreamIsRefused() throws {
        let result = try run([Project.importer, "import", "-", "--into", store, "--entity", "a", "--follow"])
        #expect(result.ending == .exit(64) && result.errorText.contains("--follow"), "\(result.errorText)")
    }

    @Test func theIntervalNeedsFollow() throws {
        for options in [["--commit-interval", "1"], ["--follow", "--commit-interval", "0"]] {
            #expect(try run(command(options)).ending == .exit(64))
        }
    }
}

/// A server's schema is followed as a store is.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGFollowTests {
    @Test func linesAndRotatedFilesComeOnce() throws {
        let directory = try TemporaryDirectory()
        let database = try PGDatabase()
        let path = directory.path("logs/app.ndjson")
        try FileManager.default.createDirectory(atPath: directory.path("logs"), withIntermediateDirectories: true)
        try directory.write("{\"id\":1}\n{\"id\":2}\n", to: "logs/app.ndjson")
        let child = try database.start(
            ["import", directory.path("logs"), "--into", database.url, "--entity", "log", "--follow"]
                + ["--commit-interval", "0.1", "--progress", "none"]
        )
        func waitFor(_ expected: String) throws {
            try wait(for: expected, instead: { child.account }) {
                if !child.isRunning { throw NeverCame("it has ended: \(child.account)") }
                let ids = try? database.query("SELECT string_agg(id::text, ' ' ORDER BY id) FROM log")
                return ids == expected ? true : nil
            }
        }
        try waitFor("1 2")
        try directory.write("{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id", to: "logs/app.ndjson")
        try waitFor("1 2 3")
        #expect(rename(path, path + ".1") == 0)
        try directory.write("{\"id\":5}\n", to: "logs/app.ndjson")
        let file = try #require(FileHandle(forWritingAtPath: path + ".1"))
        try file.seekToEnd()
        try file.write(contentsOf: Data("\":4}\n".utf8))
        try file.close()
        try waitFor("1 2 3 4 5")
        try wait(for: "one job", instead: { child.account }) {
            try database.query("SELECT count(*) FROM _import_job") == "1" ? true : nil
        }
        child.signal(SIGTERM)
        #expect(child.wait().ending == .exit(143))
        #expect(try database.query("SELECT sum(records_read), max(position) FROM _import_count") == "5|0")
        #expect(try database.isVerified())
    }
}
