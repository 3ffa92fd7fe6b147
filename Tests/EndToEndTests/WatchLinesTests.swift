import Foundation
import TestSupport
import Testing

/// The live view where there is no terminal: lines, for logs and programs.
struct WatchLinesTests {
    private struct Line: Decodable {
        let state: String
        let records: Int
    }

    /// The whole lines of what was printed.
    private func lines(_ text: String) throws -> [Line] {
        try text[..<(text.lastIndex(of: "\n") ?? text.startIndex)].split(separator: "\n").map {
            try JSONDecoder().decode(Line.self, from: Data($0.utf8))
        }
    }

    /// Waits for a line that reports records.
    private func tellsOfRecords(_ child: ChildProcess, after count: Int = 0) throws {
        try wait(for: "a line", instead: { child.outputSoFar }) {
            try lines(child.outputSoFar).contains { $0.records > count } ? true : nil
        }
    }

    @Test func printsLinesFromBeforeTheBeginningToTheEnd() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let texts = try ChildProcess([Project.importer, "watch", records.store])
        let objects = try ChildProcess([Project.importer, "watch", records.store, "--json"])
        try wait(for: "a line") { texts.outputSoFar.hasPrefix("waiting for an import into ") ? true : nil }
        try wait(for: "an object") { try lines(objects.outputSoFar).first?.state == "waiting" ? true : nil }
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        try wait(for: "records") { texts.outputSoFar.contains(" records, ") ? true : nil }
        try tellsOfRecords(objects)
        records.close()
        #expect(child.wait().ending == .exit(0))
        let text = texts.wait()
        #expect(text.ending == .exit(0))
        #expect(text.errorText.isEmpty)
        #expect(text.outputText.split(separator: "\n").last?.contains("200 records, done in") == true)
        #expect(!text.outputText.contains("\u{1B}"))
        let object = objects.wait()
        #expect(object.ending == .exit(0))
        let told = try lines(object.outputText)
        #expect(told.last?.state == "finished" && told.last?.records == 200)
        #expect(told.map(\.records) == told.map(\.records).sorted())
    }

    /// Stopped and killed, a watcher comes to the same; the import waits for none.
    @Test func comesToTheSameAfterAStopAndWhenStartedAgain() throws {
        let directory = try TemporaryDirectory()
        let records = try FedRecords(directory)
        let child = try records.startImport()
        try records.feed(FedRecords.first)
        let command = [Project.importer, "watch", records.store, "--json"]
        let stopped = try ChildProcess(command)
        let killed = try ChildProcess(command)
        for watcher in [stopped, killed] { try tellsOfRecords(watcher) }
        #expect(stopped.suspend())
        killed.signal(SIGKILL)
        #expect(killed.wait().ending == .signal(SIGKILL))
        try records.feed(200)
        let again = try ChildProcess(command)
        try tellsOfRecords(again, after: FedRecords.first)
        records.close()
        #expect(child.wait().ending == .exit(0))
        stopped.resume()
        for watcher in [stopped, again] {
            let result = watcher.wait()
            #expect(result.ending == .exit(0))
            let told = try lines(result.outputText)
            #expect(told.last?.state == "finished" && told.last?.records == records.count)
            #expect(told.map(\.records) == told.map(\.records).sorted())
        }
    }

    @Test(arguments: ["", "--json"]) func endsQuietlyWhenNobodyReads(option: String) throws {
        let directory = try TemporaryDirectory()
        let store = try FedRecords.finishedStore(directory)
        let status = directory.path("status")
        let command =
            "{ '\(Project.importer)' watch '\(store)' --follow \(option); echo $? > '\(status)'; } | head -n 1"
        let result = try run(["sh", "-c", command])
        #expect(result.ending == .exit(0))
        #expect(result.errorText.isEmpty)
        #expect(result.outputText.split(separator: "\n").count == 1)
        #expect(try String(contentsOfFile: status, encoding: .utf8) == "0\n")
    }

    /// What is asked for and cannot be had is not passed over in silence.
    @Test(arguments: [[], ["--entity", "nobody"], ["--sort", "id"]]) func saysThatLinesHaveNoRecords(options: [String])
        throws
    {
        let directory = try TemporaryDirectory()
        let result = try run([Project.importer, "watch", try FedRecords.finishedStore(directory)] + options)
        #expect(result.ending == .exit(0))
        #expect(result.errorText.contains("without a terminal") == !options.isEmpty)
        #expect(result.outputText.contains("done in"))
    }

    /// Objects that came nested in others are counted, as the store's report counts them.
    @Test func countsNestedObjectsAsTheReportDoes() throws {
        let directory = try TemporaryDirectory()
        let model = try directory.write(RelationshipTests.model, to: "model.json")
        let source = try directory.write(RelationshipTests.orders, to: "orders.ndjson")
        let store = directory.path("store.sqlite")
        let command = ["import", source, "--into", store, "--model", model, "--entity", "order", "--quiet"]
        #expect(try run([Project.importer] + command).ending == .exit(0))
        let line = try runImporter("watch", store, "--json")
        #expect(line.ending == .exit(0))
        let entities = try #require(try JSONSerialization.jsonObject(with: line.output) as? [String: Any])["entities"]
        let report = try JSONSerialization.jsonObject(with: runImporter("status", store, "--json").output)
        let expected = try #require(report as? [String: Any])["entities"]
        #expect(try #require(entities as? NSDictionary) == #require(expected as? NSDictionary))
        let counts = try #require(entities as? [String: [String: Int]])
        #expect(counts.values.contains { $0["nested_inserted", default: 0] > 0 })
    }

    @Test func saysWhatIsNoStore() throws {
        let directory = try TemporaryDirectory()
        let text = try directory.write("{\"people\": []}", to: "people.json")
        let noStore = try runImporter("watch", text)
        #expect(noStore.ending == .exit(74))
        #expect(noStore.errorText.hasPrefix("importer: error: \(text):"))
        #expect(try runImporter("watch", directory.path("no/store.sqlite")).ending == .exit(66))
        #expect(try runImporter("watch", text, "--sort", "a,,b").ending == .exit(64))
    }
}
