import Foundation
import TestSupport
import Testing

/// What a person sees of a job: its plan, its progress, its counts, and what is left of it.
struct JobTests {
    @Test func mergesWhatComesAgain() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(
            """
            [{"id":1,"a":"x","b":1,"c":true},{"id":2,"a":"y"},{"id":1,"b":null},{"id":2,"a":"y","b":5},{"id":3,"b":null},
             {"id":"1","a":"z"},{"id":4,"a":null}]
            """,
            to: "source.json"
        )
        for identifier in ["id", "key"] {
            let model = try directory.write(
                """
                {"entities": {"T": {"identifier": ["\(identifier)"], "attributes": {
                  "\(identifier)": {"type": "\(identifier == "id" ? "integer64" : "string")", "from": "id"},
                  "a": {"type": "string", "optional": true},
                  "b": {"type": "integer16", "optional": true, "default": 5},
                  "c": {"type": "boolean", "optional": true}}}}}
                """,
                to: "model.json"
            )
            let store = directory.path("\(identifier).sqlite")
            let report = directory.path("report.json")
            let result = try runImporter("import", source, "--into", store, "--model", model, "--report", report)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            // A key that is missing leaves what is stored, a null does not; a default is for what is inserted.
            let rows = try StoreContent.query(store, "SELECT \(identifier), a, b, c FROM T ORDER BY 1")
            #expect(rows == "1|z||1\n2|y|5|\n3|||\n4||5|")
            let counts = try Report(Data(contentsOf: URL(filePath: report)))
            #expect(counts.read == 7)
            #expect(counts.inserted == 4)
            #expect(counts.updated == 2)
            #expect(counts.unchanged == 1)
        }
    }

    @Test func writesNothingOnADryRun() throws {
        let files = try ImportJob.withModel(count: 100)[0].files()
        let before = files.directory.names()
        let result = try run(files.command(into: "store.sqlite", ["--dry-run"]))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(!(result.outputText + result.errorText).isEmpty)
        #expect(files.directory.names() == before)
    }

    @Test func keepsTheChunksWhenAsked() throws {
        let files = try ImportJob.withModel(count: 100)[0].files()
        let result = try run(files.command(into: "store.sqlite", ["--keep-chunks", "--chunk-size", "2K"]))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let kept = files.directory.names(in: "store.sqlite.chunks")
        #expect(kept.contains("manifest.ndjson"))
        #expect(kept.filter { $0.hasPrefix("chunk-") }.count > 5)
    }

    /// The splitter waits for the workers, and what they have imported goes: disk use is bounded.
    @Test func keepsFewChunksWaiting() throws {
        let files = try ImportJob.withModel(count: 6_000)[0].files()
        let store = files.directory.path("store.sqlite")
        let program = try SteppedProgram(
            files.command(into: "store.sqlite", ["--chunk-size", "4K", "--commit-every", "5", "--workers", "2"]),
            every: 97,
            below: files.directory.path
        )
        try #require(try program.step(untilRows: 500, in: store))
        let child = program.released()
        let waiting = files.directory.names(in: "store.sqlite.chunks").filter { $0.hasPrefix("chunk-") }
        #expect(waiting.count <= 16, "\(waiting.count) of about 250 chunks")
        let status = try Report(runImporter("status", store, "--json").output)
        #expect(status.state == "running")
        #expect(status.read >= 500)
        child.resume()
        #expect(child.wait().ending == .exit(0))
    }

    @Test func takesNoMoreMemoryForMoreRecords() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(Samples.model(records: "$"), to: "model.json")
        let lines = Samples.people(count: 4_000, seed: 61).ndjson
        var peaks: [Int] = []
        for copies in [2, 12] {
            let source = try directory.write(String(repeating: lines, count: copies), to: "source-\(copies).ndjson")
            let store = directory.path("store-\(copies).sqlite")
            let command = [
                "import", source, "--into", store, "--model", model, "--chunk-size", "128K", "--workers", "2",
            ]
            peaks.append(try peakMemory(of: [Project.importer] + command))
        }
        #expect(peaks[1] < 128 << 20)
        #expect(Double(peaks[1]) < Double(peaks[0]) * 1.2, "\(peaks)")
    }

    @Test func refusesADamagedChunkThatCannotBeCutAgain() throws {
        let files = try ImportJob.inferred(count: 8_000)[0].files()
        let store = files.directory.path("store.sqlite")
        try InterruptionTests.killed(files)
        let before = try StoreContent.result(store)
        let chunks = "store.sqlite.chunks"
        for name in files.directory.names(in: chunks) where name.hasPrefix("chunk-") {
            let path = files.directory.path("\(chunks)/\(name)")
            var bytes = try Data(contentsOf: URL(filePath: path))
            if let place = bytes.lastIndex(of: UInt8(ascii: "1")) { bytes[place] = UInt8(ascii: "2") }
            try bytes.write(to: URL(filePath: path))
        }
        try FileManager.default.moveItem(atPath: files.sources[0], toPath: files.sources[0] + ".away")
        let refused = try runImporter("resume", store)
        guard case .exit(let code) = refused.ending, [65, 66, 74].contains(code) else {
            Issue.record("\(refused.ending) \(refused.errorText)")
            return
        }
        #expect(try StoreContent.isWhole(store))
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "0")
        try FileManager.default.moveItem(atPath: files.sources[0] + ".away", toPath: files.sources[0])
        #expect(try runImporter("resume", store).ending == .exit(0))
        #expect(try StoreContent.result(store) == files.uninterruptedResult())
        #expect(before.count > 64)
    }

    @Test func addsAnotherSourceAsANewJob() throws {
        let directory = try TemporaryDirectory()
        let first = try directory.write(Samples.people(count: 100, seed: 71).array, to: "first.json")
        let second = try directory.write(Samples.people(count: 100, seed: 72).array, to: "second.json")
        let model = try directory.write(Samples.model(identifier: "guid"), to: "model.json")
        let store = directory.path("store.sqlite")
        for source in [first, second] {
            let result = try runImporter("import", source, "--into", store, "--model", model)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try runImporter("verify", store).ending == .exit(0))
        }
        #expect(try StoreContent.query(store, "SELECT max(id) FROM person") == "99")
        let before = try StoreContent.digest(store)
        let again = directory.path("again.json")
        let result = try runImporter("import", second, "--into", store, "--model", model, "--again", "--report", again)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let counts = try Report(Data(contentsOf: URL(filePath: again)))
        #expect(counts.read == 100 && counts.inserted == 0)
        #expect(try StoreContent.query(store, "SELECT count(*) FROM person").isEmpty == false)
        #expect(before.count == 64)
    }

    @Test func noticesARejectThatIsGone() throws {
        let files = try ImportJob.withModel(count: 200)[0].files()
        _ = try files.uninterruptedResult()
        let store = files.directory.path("whole.sqlite")
        #expect(try runImporter("verify", store).ending == .exit(0))
        try Python.run(
            text: """
                import sqlite3, sys
                c = sqlite3.connect(sys.argv[1])
                c.execute("DELETE FROM _import_reject WHERE rowid = (SELECT min(rowid) FROM _import_reject)"); c.commit()
                """,
            [store]
        )
        #expect(try runImporter("verify", store).ending != .exit(0))
    }

    @Test func listsEachRejectWithItsPlaceAndItsErrors() throws {
        let directory = try TemporaryDirectory()
        let text = #"[{"id":1,"guid":"a"},{"id":"x","guid":5,"age":70000,"note":"\u001b[31m"},{"guid":"c"}]"#
        let source = try directory.write(text, to: "source.json")
        let model = try directory.write(Samples.model(), to: "model.json")
        let store = directory.path("store.sqlite")
        try runImporter("import", source, "--into", store, "--model", model)
        let listed = try runImporter("rejects", store, "--json")
        #expect(listed.ending == .exit(0))
        // The places of the second and the third record, and of what is wrong in them; all errors, not just the first.
        let offset = try #require(text.utf8.firstRange(of: Array("{\"id\":\"x\"".utf8))).lowerBound
        let place = text.utf8.distance(from: text.utf8.startIndex, to: offset)
        #expect(listed.outputText.contains("\(place)"))
        for word in ["id", "age", "created"] { #expect(listed.outputText.contains("\"\(word)\"")) }
        let plain = try runImporter("rejects", store)
        #expect(!plain.output.contains(0x1b) && !plain.outputText.isEmpty)
    }

    @Test func helpsWithEveryCommandThatWorks() throws {
        let help = try runImporter("--help")
        #expect(help.ending == .exit(0))
        for command in ["import", "resume", "status", "split", "infer", "rejects", "verify"] {
            #expect(help.outputText.contains(command))
            #expect(try runImporter(command, "--help").ending == .exit(0))
        }
    }
}
