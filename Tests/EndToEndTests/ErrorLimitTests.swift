import Foundation
import TestSupport
import Testing

/// An import that is not finished can be given another limit of rejects.
struct ErrorLimitTests {
    private static let model = #"{"entities":{"T":{"attributes":{"id":{"type":"integer64"}}}}}"#

    /// One of five records does not fit.
    private static func lines(_ count: Int, bad: (Int) -> Bool = { $0 % 5 == 0 }) -> String {
        (1...count).map { bad($0) ? "{\"id\":\"x\"}\n" : "{\"id\":\($0)}\n" }.joined()
    }

    private static func command(_ directory: TemporaryDirectory, _ text: String, _ options: [String]) throws -> [String]
    {
        let source = try directory.write(text, to: "t.ndjson")
        let model = try directory.write(model, to: "m.json")
        let store = directory.path("s.sqlite")
        return [Project.importer, source, "--into", store, "--entity", "T", "--model", model] + options
    }

    private static func limit(_ store: String) throws -> String {
        try StoreContent.query(
            store,
            "SELECT json_extract(content, '$.maxErrors') FROM _import_document WHERE id = (SELECT options FROM _import_job)"
        )
    }

    @Test(arguments: ["none", "25%", "1000"], [false, true])
    func aFailedPercentageIsAcceptedByAResumeAndTheLimitIsKept(_ limit: String, _ byImport: Bool) throws {
        let directory = try TemporaryDirectory()
        let command = try Self.command(directory, Self.lines(100), [])
        let store = directory.path("s.sqlite")
        let failed = try run(command + ["--max-errors", "10%"])
        #expect(failed.ending == .exit(65))
        #expect(failed.errorText.contains("resume \(store) --max-errors none"), "\(failed.errorText)")
        // Without a limit, the one that it was begun with holds.
        #expect(try runImporter("resume", store).ending == .exit(65))
        #expect(try run(command).ending == .exit(65))
        let new = ["--max-errors", limit]
        let result = try byImport ? run(command + new) : run([Project.importer, "resume", store] + new)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try Report(runImporter("status", store, "--json").output).state == "finished")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM T") == "80")
        #expect(try !Self.limit(store).contains("percent\":{\"_0\":10}"))
        // It is finished under any limit: nothing is imported once more.
        #expect(try run(command + ["--max-errors", "10%"]).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM T") == "80")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func aCountThatStoppedAnImportIsRaisedAndTheResultIsThatOfOneRun() throws {
        let directory = try TemporaryDirectory()
        let command = try Self.command(directory, Self.lines(300), [])
        let store = directory.path("s.sqlite")
        let first = try run(command + ["--max-errors", "3"])
        #expect(first.ending == .exit(65))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "3")
        #expect(try runImporter("resume", store, "--max-errors", "7").ending == .exit(65))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "7")
        // What was given last is kept.
        #expect(try runImporter("resume", store).ending == .exit(65))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "7")
        #expect(try runImporter("resume", store, "--max-errors", "none").ending == .exit(0))
        let whole = try TemporaryDirectory()
        #expect(try run(Self.command(whole, Self.lines(300), [])).ending == .exit(0))
        #expect(try StoreContent.result(store) == StoreContent.result(whole.path("s.sqlite")))
    }

    @Test func aLimitBelowWhatWasRejectedAlreadyFails() throws {
        let directory = try TemporaryDirectory()
        let text = Self.lines(20) { $0 <= 5 }
        let command = try Self.command(directory, text + "{\"id\":", ["--max-errors", "none"])
        let store = directory.path("s.sqlite")
        #expect(try run(command).ending == .exit(65))
        try directory.write(text + "{\"id\":7}\n", to: "t.ndjson")
        let result = try runImporter("resume", store, "--max-errors", "4")
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("5 of 21 records were rejected"), "\(result.errorText)")
        #expect(try runImporter("resume", store, "--max-errors", "5").ending == .exit(0))
    }

    /// `none` takes what fits, also where the first 1,000 records do not.
    @Test func noneIsNoLimitAtAll() throws {
        let text = Self.lines(1_200) { $0 <= 1_100 }
        let directory = try TemporaryDirectory()
        let command = try Self.command(directory, text, [])
        let stopped = try run(command)
        #expect(stopped.ending == .exit(65))
        #expect(stopped.errorText.contains("records were all rejected"))
        let resumed = try runImporter("resume", directory.path("s.sqlite"), "--max-errors", "none")
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        let whole = try TemporaryDirectory()
        #expect(try run(Self.command(whole, text, ["--max-errors", "none"])).ending == .exit(0))
        #expect(
            try StoreContent.result(directory.path("s.sqlite")) == StoreContent.result(whole.path("s.sqlite"))
        )
    }

    @Test func anImportThatStopsAtTheFirstErrorIsNotGivenALimit() throws {
        let directory = try TemporaryDirectory()
        let command = try Self.command(directory, Self.lines(20), ["--on-error", "stop"])
        #expect(try run(command).ending == .exit(65))
        let store = directory.path("s.sqlite")
        let result = try runImporter("resume", store, "--max-errors", "none")
        #expect(result.ending == .exit(64))
        #expect(result.errorText.contains("--on-error stop"), "\(result.errorText)")
    }

    /// A stream need not be piped in again where all of it is in the store.
    @Test func aFailedStreamIsAcceptedWithoutIt() throws {
        let directory = try TemporaryDirectory()
        var command = try Self.command(directory, Self.lines(50), ["--max-errors", "10%"])
        let source = command[1]
        command[1] = "-"
        let failed = try run(command, input: source)
        #expect(failed.ending == .exit(65), "\(failed.errorText)")
        let store = directory.path("s.sqlite")
        let result = try runImporter("resume", store, "--max-errors", "none")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM T") == "40")
    }
}
