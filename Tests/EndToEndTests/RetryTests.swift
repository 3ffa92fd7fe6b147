import Foundation
import TestSupport
import Testing

/// What was rejected can be repaired: exported, edited, imported again, each record once.
struct RetryTests {
    private static let small = ["--commit-every", "20", "--chunk-size", "8K", "--workers", "2"]

    @Test(arguments: RepairJob.Shape.allCases)
    func isTheMendedSourceOnceAllIsRepaired(_ shape: RepairJob.Shape) throws {
        let job = try RepairJob(shape, count: 600)
        #expect(try job.states() == ["open": 300])
        try job.export()
        let retry = try run([Project.importer, "retry", job.store, job.edited, "--json"] + Self.small)
        try #require(retry.ending == .exit(0), "\(retry.errorText)")
        let report = try Report(retry.output)
        #expect(report.read == 300 && report.rejected == 0)
        #expect(report.read == report.inserted + report.updated + report.unchanged + report.ignored)
        #expect(try job.states() == ["repaired": 300])
        #expect(try job.isSound())
        #expect(try job.isMended())
        // The import's own counts stay, and say what was repaired.
        let rejected = try StoreContent.query(job.store, "SELECT sum(rejected) FROM _import_entity WHERE job = 1")
        #expect(rejected == "300")
        #expect(try runImporter("rejects", job.store).outputText.isEmpty)
    }

    @Test(arguments: RepairJob.Shape.allCases)
    func rawRejectsAreTheSourcesVeryBytes(_ shape: RepairJob.Shape) throws {
        let job = try RepairJob(shape, count: 400)
        let raw = try runImporter("rejects", job.store, "--raw")
        try job.directory.write(raw.output, to: "raw.bin")
        // By entity, as their order in the store is that of the source.
        try RepairJob.check("raw", job.directory.path("raw.bin"), job.directory.path)
        #expect(try runImporter("rejects", job.store, "--raw", "--to", job.exported).ending == .exit(0))
        #expect(try Data(contentsOf: URL(filePath: job.exported)) == raw.output)
    }

    @Test func aModelLeavesFilesAlone() throws {
        let job = try RepairJob(.lines, count: 100)
        let edited = job.store + ".retry.ndjson"
        try Data("edited by hand".utf8).write(to: URL(filePath: edited))
        let better = try job.directory.write(
            try String(contentsOfFile: job.directory.path("model.json"), encoding: .utf8)
                .replacing("\"integer64\"", with: "\"integer64\", \"optional\": true"),
            to: "better.json"
        )
        #expect(try runImporter("retry", job.store, "--model", better).ending == .exit(0))
        #expect(try String(contentsOfFile: edited, encoding: .utf8) == "edited by hand")
        #expect(!FileManager.default.fileExists(atPath: job.store + ".retry-2.ndjson"))
    }

    /// A table that never had a row is made again as the better model says, its primary key too.
    @Test func aModelMendsTheTypesOfATableThatIsStillEmpty() throws {
        let directory = try TemporaryDirectory()
        func model(_ type: String, _ identifier: String) throws -> String {
            try directory.write(
                """
                {"entities": {"r": {"records": "$", "identifier": ["\(identifier)"], "attributes": {
                  "id": {"type": "\(type)"}, "n": {"type": "integer64"}}}}}
                """,
                to: "\(type)-\(identifier).json"
            )
        }
        let source = try directory.write("{\"id\":\"x\",\"n\":1}\n{\"id\":\"y\",\"n\":2}\n", to: "r.ndjson")
        let store = directory.path("r.sqlite")
        _ = try runImporter(source, "--into", store, "--model", try model("integer64", "id"))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM r") == "0")
        // What the better model cannot take either leaves the table as empty as it was.
        _ = try runImporter("retry", store, "--model", try model("date", "n"))
        let retry = try runImporter("retry", store, "--model", try model("string", "id"))
        #expect(retry.ending == .exit(0), "\(retry.errorText)")
        #expect(try StoreContent.query(store, "SELECT id, n, typeof(id) FROM r") == "x|1|text\ny|2|text")
        let columns = try StoreContent.query(store, "SELECT name, type, pk FROM pragma_table_info('r')")
        #expect(columns == "id|TEXT|1\nn|INTEGER|0")
        #expect(try runImporter("verify", store).ending == .exit(0))
        // Once there are rows the types stay.
        let late = try directory.write("{\"id\":\"z\"}\n", to: "late.ndjson")
        _ = try runImporter(late, "--into", store, "--entity", "r", "--model", try model("string", "id"))
        let refused = try runImporter("retry", store, "--model", try model("integer64", "id"))
        #expect(refused.ending == .exit(65))
        #expect(refused.errorText.contains("r.id is integer now and string in the store"), "\(refused.errorText)")
    }

    @Test func makesAnIdentifierOfWhereTheRejectStood() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(
            """
            {"entities": {"thing": {"records": "$", "identifier": ["id"], "attributes": {
              "id": {"type": "uuid", "generated": true}, "count": {"type": "integer64"}}}}}
            """,
            to: "model.json"
        )
        let store = directory.path("store.sqlite")
        let source = try directory.write("{\"count\":\"x\"}\n{\"count\":\"y\"}\n", to: "things.ndjson")
        #expect(try runImporter(source, "--into", store, "--model", model).ending == .exit(65))
        // Two repaired records with the same bytes at the same place of their files are two objects all the same.
        for reject in 1...2 {
            let line = "{\"reject\": \(reject), \"record\": {\"count\":5}}\n"
            let file = try directory.write(line, to: "fix\(reject).ndjson")
            #expect(try runImporter("retry", store, file).ending == .exit(0))
        }
        #expect(try StoreContent.query(store, "SELECT count(*), sum(count) FROM thing") == "2|10")
    }

    @Test func leavesOpenWhatIsLeftOut() throws {
        let job = try RepairJob(.lines, count: 600)
        try job.export(every: 3)
        #expect(try runImporter("retry", job.store, job.edited).ending == .exit(0))
        #expect(try job.states() == ["open": 200, "repaired": 100])
        #expect(try job.isSound())
        // The same again changes nothing, under another name or time neither.
        let before = try StoreContent.text(job.store)
        let again = try runImporter("retry", job.store, job.edited)
        #expect(again.ending == .exit(0))
        #expect(again.outputText.contains("already"))
        let bytes = try Data(contentsOf: URL(filePath: job.edited))
        try job.directory.write(bytes, to: "edited.ndjson")
        #expect(try runImporter("retry", job.store, job.edited).outputText.contains("already"))
        let copy = try job.directory.write(bytes, to: "copy.ndjson")
        let copied = try runImporter("retry", job.store, copy, "--json")
        #expect(try Report(copied.output).ignored == 100)
        #expect(try StoreContent.text(job.store) == before)
        // The rest is repaired by a second export.
        try job.export()
        #expect(try runImporter("retry", job.store, job.edited).ending == .exit(0))
        #expect(try job.states() == ["repaired": 300])
        #expect(try job.isSound())
        #expect(try job.isMended())
    }

    /// What was not JSON is a string in the export; as such it must not be taken for repaired.
    @Test(arguments: RepairJob.Shape.allCases)
    func keepsOpenWhatWasNotEdited(_ shape: RepairJob.Shape) throws {
        let job = try RepairJob(shape, count: 300)
        let before = try StoreContent.text(job.store)
        #expect(try runImporter("rejects", job.store, "--to", job.exported).ending == .exit(0))
        let retry = try runImporter("retry", job.store, job.exported, "--json")
        #expect(try Report(retry.output).rejected == 150)
        #expect(try job.states() == ["open": 150, "retried": 150])
        #expect(try StoreContent.text(job.store) == before)
        #expect(try job.isSound())
        // What stands for another is not exported again.
        let second = job.directory.path("second.ndjson")
        #expect(try runImporter("rejects", job.store, "--to", second).ending == .exit(0))
        #expect(try Data(contentsOf: URL(filePath: second)) == Data(contentsOf: URL(filePath: job.exported)))
        let all = try runImporter("rejects", job.store, "--all", "--json").outputText
        #expect(all.split(separator: "\n").count == 300)
    }

    /// Where a string is a record, the text of what was not JSON would fit as it is.
    @Test func doesNotTakeTheTextOfABrokenLineForARecord() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("\"a\"\n\"b\n\"c\"\n", to: "words.ndjson")
        let store = directory.path("store.sqlite")
        #expect(try runImporter("import", source, "--into", store).ending == .exit(0))
        let file = directory.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", file).ending == .exit(0))
        let unedited = try runImporter("retry", store, file, "--json")
        #expect(try Report(unedited.output).rejected == 1)
        #expect(try StoreContent.query(store, "SELECT value FROM words") == "a\nc")
        let text = try String(contentsOf: URL(filePath: file), encoding: .utf8)
        try directory.write(text.replacing(#""record": "\"b""#, with: #""record": "b""#), to: "fix.ndjson")
        #expect(try Report(runImporter("retry", store, file, "--json").output).inserted == 1)
        #expect(try StoreContent.query(store, "SELECT value FROM words") == "a\nc\nb")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test(arguments: [1, 2, 3])
    func isTheSameAfterKills(seed: Int) throws {
        let job = try RepairJob(.lines, count: 8_000)
        try job.export()
        var generator = SeededGenerator(seed: UInt64(seed))
        let retry = [Project.importer, "retry", job.store, job.edited] + Self.small
        let resume = [Project.importer, "resume", job.store] + Self.small
        for kill in 0..<4 {
            let command = kill % 2 == 0 ? retry : resume
            let child = try InterruptionTests.progressed(command, in: job.store, &generator)
            child.signal(SIGKILL)
            #expect(child.wait().ending == .signal(SIGKILL), "the retry was too short to be killed")
            #expect(try StoreContent.isWhole(job.store))
            #expect(try job.isSound())
        }
        let last = try run(seed % 2 == 0 ? retry : resume)
        try #require(last.ending == .exit(0), "\(last.errorText)")
        #expect(try job.states() == ["repaired": 4_000])
        #expect(try job.isSound())
        #expect(try job.isMended())
    }

    /// After what is imported the file may be edited further while the retry is interrupted.
    @Test func readsAChangedFileAnewBehindTheMarker() throws {
        let job = try RepairJob(.lines, count: 8_000)
        try job.export()
        var generator = SeededGenerator(seed: 4)
        let retry = [Project.importer, "retry", job.store, job.edited] + Self.small
        let child = try InterruptionTests.progressed(retry, in: job.store, &generator)
        child.signal(SIGKILL)
        #expect(child.wait().ending == .signal(SIGKILL), "the retry was too short to be killed")
        let text = try String(contentsOf: URL(filePath: job.edited), encoding: .utf8)
        let lines = text.split(separator: "\n")
        let fewer = lines.dropLast(1_000) + lines.suffix(500).reversed()
        try job.directory.write(fewer.joined(separator: "\n\n") + "\n", to: "edited.ndjson")
        let last = try run(retry)
        try #require(last.ending == .exit(0), "\(last.errorText)")
        #expect(try job.states() == ["open": 500, "repaired": 3_500])
        #expect(try job.isSound())
        let rest = try job.directory.write(text, to: "rest.ndjson")
        #expect(try runImporter("retry", job.store, rest).ending == .exit(0))
        #expect(try job.isMended())
    }

    @Test func triesStoredRejectsUnderAnotherModel() throws {
        let job = try RepairJob(.lines, count: 600)
        let model = try String(contentsOf: URL(filePath: job.directory.path("model.json")), encoding: .utf8)
        let better = try job.directory.write(
            model.replacing("\"integer64\"", with: "\"integer64\", \"optional\": true"),
            to: "better.json"
        )
        let open = try runImporter("rejects", job.store, "--json").outputText.split(separator: "\n")
        let fitting = open.count { line in
            line.contains("\"key_path\":\"id\"") && !line.contains("\"key_path\":\"age\"")
        }
        let retry = try runImporter("retry", job.store, "--model", better, "--json")
        try #require(retry.ending == .exit(0), "\(retry.errorText)")
        #expect(fitting > 0)
        #expect(try Report(retry.output).inserted == fitting)
        #expect(try job.states()["repaired"] == fitting)
        #expect(try job.isSound())
        #expect(!FileManager.default.fileExists(atPath: job.store + ".retry.ndjson"))
        let before = try StoreContent.result(job.store)
        let wrong = try job.directory.write(model.replacing("\"integer64\"", with: "\"string\""), to: "wrong.json")
        #expect(try runImporter("retry", job.store, "--model", wrong).ending == .exit(65))
        #expect(!FileManager.default.fileExists(atPath: job.store + ".retry.ndjson"))
        #expect(try StoreContent.result(job.store) == before)
        let again = try runImporter("retry", job.store, "--model", better)
        #expect(again.ending == .exit(0))
        #expect(again.outputText.contains("nothing was changed"))
        #expect(try StoreContent.result(job.store) == before)
    }

    @Test func namesEveryLineThatCannotBeRetried() throws {
        let job = try RepairJob(.lines, count: 60)
        let lines = [
            "{\"reject\": 1, \"record\": {\"id\": 1, \"name\": \"a\", \"age\": 1}}", "{\"reject\": 2}", "nonsense",
            "{\"record\": 1}", "", "{\"reject\": 1, \"record\": 1}", "{\"reject\": 1000, \"record\": 1}", "[]",
            "{\"reject\": 3, \"record\": 1, \"record\": 2}", "{\"reject\": \"4\", \"record\": 1}",
            "{\"reject\": 5, \"job\": 7, \"record\": 1}", "{\"reject\": 6, \"record\": 1} {}",
        ]
        let file = try job.directory.write(lines.joined(separator: "\n"), to: "bad.ndjson")
        let before = try StoreContent.result(job.store)
        let result = try runImporter("retry", job.store, file)
        #expect(result.ending == .exit(65))
        for line in [2, 3, 4, 6, 7, 8, 9, 10, 11, 12] { #expect(result.errorText.contains("\n  line \(line) ")) }
        #expect(!result.errorText.contains("\n  line 1 ") && !result.errorText.contains("\n  line 5 "))
        #expect(try StoreContent.result(job.store) == before)
        #expect(try StoreContent.query(job.store, "SELECT count(*) FROM _import_job") == "1")
        #expect(try runImporter("status", job.store, "--json").outputText.contains("finished"))
    }

    @Test func asksForOneModelAtATime() throws {
        let job = try RepairJob(.array, count: 40)
        let other = try job.directory.write(
            "{\"entities\": {\"Other\": {\"attributes\": {\"x\": {\"type\": \"date\"}}}}}",
            to: "o.json"
        )
        let source = try job.directory.write("[{\"x\": 1}]", to: "o.data.json")
        // Its only record does not fit, neither now nor when it is retried as it is.
        #expect(try runImporter("import", source, "--into", job.store, "--model", other).ending == .exit(65))
        try runImporter("rejects", job.store, "--to", job.exported)
        let both = try runImporter("retry", job.store, job.exported)
        #expect(both.ending == .exit(64))
        #expect(both.errorText.contains("jobs 1, 2") && both.errorText.contains("--job"))
        #expect(try runImporter("rejects", job.store, "--to", job.exported).ending == .exit(73))
        #expect(try runImporter("rejects", job.store, "--to", job.exported, "--force", "--job", "2").ending == .exit(0))
        #expect(try String(contentsOf: URL(filePath: job.exported), encoding: .utf8).split(separator: "\n").count == 1)
        #expect(try runImporter("retry", job.store, job.exported).ending == .exit(65))
    }

    /// A record's key is not among its bytes, and still is what it was when the record is tried again.
    @Test(arguments: ["json", "string"])
    func keepsTheKeysOfRepairedRecords(type: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"{"a\"é\n": {"n": "x"}, "b": {"n": 2}}"#, to: "k.json")
        let attributes = #""k": {"type": "\#(type)", "from": "$key"}, "n": {"type": "integer64"}"#
        let model = try directory.write(
            #"{"entities": {"t": {"records": "$.*", "attributes": {\#(attributes)}}}}"#,
            to: "model.json"
        )
        let store = directory.path("k.sqlite")
        #expect(try run([Project.importer, "import", source, "--into", store, "--model", model]).ending == .exit(0))
        let file = directory.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", file).ending == .exit(0))
        let lines = try String(contentsOfFile: file, encoding: .utf8)
        try lines.replacing(#""n": "x""#, with: #""n": 1"#).write(toFile: file, atomically: true, encoding: .utf8)
        let retried = try runImporter("retry", store, file)
        #expect(retried.ending == .exit(0), "\(retried.errorText)")
        let key = type == "json" ? "json_extract(k, '$')" : "k"
        #expect(
            try StoreContent.query(store, "SELECT hex(\(key)), n FROM t ORDER BY n") == "6122C3A90A|1\n62|2"
        )
    }

    /// Nor is it lost where the record is refused only for an object that is there.
    @Test func keepsTheKeysOfRecordsWhoseObjectIsThere() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"{"a": {"n": 1}, "b\"é" :  {"n": 1}}"#, to: "k.json")
        let model = try directory.write(
            """
            {"entities": {"t": {"records": "$.*", "identifier": ["n"], "attributes": {
              "k": {"type": "string", "from": "$key"}, "n": {"type": "integer64"}}}}}
            """,
            to: "model.json"
        )
        let store = directory.path("k.sqlite")
        let command = [Project.importer, "import", source, "--into", store, "--model", model, "--on-conflict", "error"]
        #expect(try run(command).ending == .exit(0))
        let file = directory.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", file).ending == .exit(0))
        let lines = try String(contentsOfFile: file, encoding: .utf8)
        try lines.replacing(#""n": 1"#, with: #""n": 2"#).write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try runImporter("retry", store, file).ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT k, n FROM t ORDER BY n") == "a|1\nb\"é|2")
    }
}
