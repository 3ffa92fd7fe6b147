import Foundation
import TestSupport
import Testing

/// An exit code of 0 says that something was accepted, or that nothing was to be.
struct NothingTakenTests {
    private static let model = #"{"entities":{"T":{"attributes":{"id":{"type":"integer64"}}}}}"#

    /// Files, standard input and a chunk directory.
    enum Input: String, CaseIterable {
        case file, stream, chunks
    }

    private static func run(
        _ text: String,
        as input: Input,
        records: String? = nil,
        in directory: TemporaryDirectory,
        into store: String,
        _ options: [String]
    ) throws -> ChildProcess.Result {
        // The same again is the same file, not one with the same content.
        let source = directory.path("t.ndjson")
        if !FileManager.default.fileExists(atPath: source) { try directory.write(text, to: "t.ndjson") }
        let paths = records.map { ["--records", $0] } ?? []
        let into = ["--into", store, "--entity", "T"] + options
        switch input {
        case .file: return try TestSupport.run([Project.importer, source] + into + paths)
        case .stream: return try TestSupport.run([Project.importer, "-"] + into + paths, input: source)
        case .chunks:
            let chunks = directory.path("cut")
            if !FileManager.default.fileExists(atPath: chunks) {
                _ = try TestSupport.run([Project.importer, "split", source, "--to", chunks] + paths)
            }
            return try TestSupport.run([Project.importer, chunks] + into)
        }
    }

    @Test(arguments: Input.allCases)
    func anImportWhoseRecordsAreAllRejectedEndsWith65AndIsFinished(_ input: Input) throws {
        let directory = try TemporaryDirectory()
        let model = ["--model", try directory.write(Self.model, to: "m.json")]
        let store = directory.path("s.sqlite")
        let text = "{\"id\":\"a\"}\n{\"id\":\"b\"}\n"
        let result = try Self.run(text, as: input, in: directory, into: store, model + ["--json"])
        #expect(result.ending == .exit(65), "\(result.errorText)")
        #expect(result.errorText.contains("every record was rejected"), "\(result.errorText)")
        #expect(try Report(result.output).state == "finished")
        #expect(result.outputText.contains("\"message\" : \"every record was rejected\""))
        #expect(try StoreContent.query(store, "SELECT state, count(*) FROM _import_reject") == "open|2")
        guard input != .stream else { return }
        // The same again says so again, and changes nothing.
        let again = try Self.run(text, as: input, in: directory, into: store, model)
        #expect(again.ending == .exit(65))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_job") == "1")
        #expect(try runImporter("resume", store).ending == .exit(65))
        #expect(try runImporter("status", store).ending == .exit(0))
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test func aRetryWhoseRecordsAreAllRejectedAgainEndsWith65AndOneThatRepairsWith0() throws {
        let directory = try TemporaryDirectory()
        let model = ["--model", try directory.write(Self.model, to: "m.json")]
        let store = directory.path("s.sqlite")
        let text = "{\"id\":\"a\"}\n{\"id\":\"b\"}\n"
        _ = try Self.run(text, as: .file, in: directory, into: store, model)
        let fix = directory.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", fix).ending == .exit(0))
        let vain = try runImporter("retry", store, fix)
        #expect(vain.ending == .exit(65), "\(vain.errorText)")
        #expect(try runImporter("retry", store, fix).ending == .exit(65))
        let lines = try String(contentsOfFile: fix, encoding: .utf8).replacing("\"id\":\"a\"", with: "\"id\":1")
        let better = try directory.write(lines, to: "better.ndjson")
        let retry = try runImporter("retry", store, better)
        #expect(retry.ending == .exit(0), "\(retry.errorText)")
        // One of the two is accepted now, so the first import's records are no longer all lost.
        let again = try Self.run(text, as: .file, in: directory, into: store, model)
        #expect(again.ending == .exit(0), "\(again.errorText)")
    }

    @Test func aResumeThatTakesNothingEndsWith65() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let model = ["--model", try directory.write(Self.model, to: "m.json")]
        let broken = try Self.run("{\"id\":\"a\"}\n{\"id\":", as: .file, in: directory, into: store, model)
        #expect(broken.ending == .exit(65))
        try directory.write("{\"id\":\"a\"}\n{\"id\":\"b\"}\n", to: "t.ndjson")
        let result = try runImporter("resume", store)
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("every record was rejected"), "\(result.errorText)")
    }

    @Test func rejectsWithinWhatIsAllowedAreNoFailure() throws {
        let directory = try TemporaryDirectory()
        let model = ["--model", try directory.write(Self.model, to: "m.json")]
        for options in [[], ["--max-errors", "50%"], ["--max-errors", "1"], ["--max-errors", "none"]] {
            let store = directory.path("\(options.last ?? "").sqlite")
            let text = "{\"id\":\"a\"}\n{\"id\":2}\n"
            let result = try Self.run(text, as: .file, in: directory, into: store, model + options)
            #expect(result.ending == .exit(0), "\(result.errorText)")
        }
    }

    // MARK: Record paths

    @Test(
        arguments: Input.allCases,
        [
            ("{\"items\":[]}", "$.items[*]", Int32(0)), ("[]", "$[*]", 0), ("{\"items\":{}}", "$.items.*", 0),
            ("{\"a\":[{\"items\":[]}]}", "$.a[*].items[*]", 0), ("{\"a\":[1,{\"items\":[]},2]}", "$.a[*].items[*]", 0),
            ("{\"items\":[{\"id\":1}]}", "$.items[*]", 0), ("{\"item\":{\"id\":1}}", "$.item", 0),
            ("{\"things\":[]}", "$.items[*]", 65), ("{}", "$.items[*]", 65), ("{\"items\":{}}", "$.items[*]", 65),
            ("{\"items\":[]}", "$.items.*", 65), ("{\"items\":null}", "$.items[*]", 65), ("{}", "$[*]", 65),
            ("{\"a\":[]}", "$.a[*].items[*]", 65), ("{}", "$.item", 65), ("{\"items\":[[]]}", "$.items[*].x", 65),
        ]
    )
    func aRecordPathThatMatchesNothingIsToldFromAnEmptyCollection(
        _ input: Input,
        _ sample: (text: String, path: String, code: Int32)
    ) throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("s.sqlite")
        let result = try Self.run(sample.text, as: input, records: sample.path, in: directory, into: store, ["--json"])
        #expect(result.ending == .exit(sample.code), "\(sample): \(result.errorText)")
        let says = result.errorText.contains("nothing was found at the record path")
        #expect(says == (sample.code == 65), "\(sample)")
        // Where nothing was found, nothing is left.
        #expect(FileManager.default.fileExists(atPath: store) == (sample.code == 0), "\(sample)")
        if sample.code == 0 { #expect(try Report(result.output).state == "finished") }
        guard input == .chunks else { return }
        let split = directory.path("again")
        let cut = try runImporter("split", directory.path("t.ndjson"), "--records", sample.path, "--to", split)
        #expect(cut.ending == .exit(sample.code), "\(sample): \(cut.errorText)")
    }

    /// One of several paths, and one of several sources.
    @Test func aPathIsAskedOfAllSourcesTogether() throws {
        let directory = try TemporaryDirectory()
        let one = try directory.write("{\"users\":[{\"id\":1}],\"error\":\"busy\"}", to: "one.json")
        let other = try directory.write("{\"error\":\"busy\"}", to: "other.json")
        let store = directory.path("s.sqlite")
        let users = ["--records", "$.users[*]"]
        let both = try TestSupport.run([Project.importer, one, other, "--entity", "T", "--into", store] + users)
        #expect(both.ending == .exit(0), "\(both.errorText)")
        #expect(both.outputText.contains("1 × not found in a source"), "\(both.outputText)")
        let typo = directory.path("typo.sqlite")
        let paths = users + ["--records", "$.ordres[*]"]
        let result = try TestSupport.run([Project.importer, one, "--into", typo] + paths)
        #expect(result.ending == .exit(65))
        #expect(result.errorText.contains("$.ordres[*]"), "\(result.errorText)")
        #expect(try StoreContent.query(typo, "SELECT count(*) FROM users") == "1")
    }

    /// What was found before an interruption is not looked for again after it.
    @Test func anEmptyCollectionIsRememberedAcrossAResume() throws {
        let directory = try TemporaryDirectory()
        let rows = (1...50).map { "{\"id\":\($0)}" }.joined(separator: ",")
        let whole = "{\"none\":[],\"items\":[\(rows)]}"
        let source = try directory.write(String(whole.dropLast(40)), to: "t.json")
        let store = directory.path("s.sqlite")
        let model = try directory.write(
            """
            {"entities":{"none":{"records":"$.none[*]","attributes":{"id":{"type":"integer64"}}},
             "items":{"records":"$.items[*]","attributes":{"id":{"type":"integer64"}}}}}
            """,
            to: "m.json"
        )
        let cut = try runImporter(source, "--into", store, "--model", model, "--chunk-size", "100")
        #expect(cut.ending == .exit(65), "\(cut.errorText)")
        try directory.write(whole, to: "t.json")
        let result = try runImporter("resume", store)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_ledger WHERE kind = 'notFound'") == "0")
    }
}
