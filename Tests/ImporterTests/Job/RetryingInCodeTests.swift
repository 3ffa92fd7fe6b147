import Foundation
import ImportModel
import TestSupport
import Testing

@testable import Importer

/// Rejects that a program repairs itself are imported as those of a repair file are.
struct RetryingInCodeTests {
    private static let small = RunOptions(workers: 2, chunkSize: 2_000, commitEvery: 3)

    private static let model = """
        {"entities":{"item":{"records":"$","identifier":["id"],"attributes":{
            "id":{"type":"integer64"},"age":{"type":"integer16"},"name":{"type":"string"}}}}}
        """

    /// A store of which every second record was rejected, for an age that is no number.
    private struct Store {
        let directory: TemporaryDirectory
        let path: String

        init(_ count: Int = 400) throws {
            directory = try TemporaryDirectory()
            path = directory.path("store.sqlite")
            let lines = (0..<count).map { index in
                #"{"id":\#(index),"age":\#(index.isMultiple(of: 2) ? "\(index % 90)" : "\"x\""),"name":"é\u0000 \#(index)"}"#
            }
            let source = try directory.write(lines.joined(separator: "\n") + "\n", to: "item.ndjson")
            let model = try ModelDescription(parsing: Array(RetryingInCodeTests.model.utf8))
            let job = JobOptions(model: model)
            _ = try ImportPipeline(sources: [source], into: path, job: job, run: RetryingInCodeTests.small).run()
        }

        var rejects: [StoreInspection.Reject] {
            get throws {
                var rejects: [StoreInspection.Reject] = []
                try StoreInspection(store: path).forEachReject { rejects.append($0) }
                return rejects
            }
        }

        /// Each open reject with an age that fits.
        func repaired() throws -> [RepairedRecord] {
            try rejects.map { reject in
                var record = try JSONValue(parsing: reject.record)
                record["age"] = 7
                return RepairedRecord(record, of: reject)
            }
        }

        func states() throws -> String {
            try StoreContent.query(path, "SELECT state, count(*) FROM _import_reject GROUP BY state ORDER BY state")
        }

        func files() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        }

        func isSound() throws -> Bool { try StoreInspection(store: path).verify().allSatisfy(\.holds) }
    }

    private func retry(_ records: [RepairedRecord], in store: Store) -> ImportPipeline {
        ImportPipeline(retrying: records, in: store.path, run: Self.small)
    }

    @Test func givesTheStoreAndTheCountsThatARepairFileGives() async throws {
        let (one, other) = (try Store(), try Store())
        let report = try await retry(one.repaired(), in: one).run().report
        let file = other.directory.path("fix.ndjson")
        _ = try StoreInspection(store: other.path).exportRejects(as: .repairLines, toFile: file)
        let edited = try String(contentsOfFile: file, encoding: .utf8).replacing("\"age\":\"x\"", with: "\"age\":7")
        try Data(edited.utf8).write(to: URL(filePath: file))
        let expected = try await ImportPipeline(retrying: file, in: other.path, run: Self.small).run().report

        #expect([expected.recordsRead, expected.inserted, expected.repaired] == [200, 200, 200])
        #expect(report.entities == expected.entities && report.repaired == expected.repaired)
        #expect(report.ledger == expected.ledger && report.rejected == expected.rejected)
        #expect(try StoreContent.result(one.path) == StoreContent.result(other.path))
        #expect(try one.states() == "repaired|200")
        #expect(try one.isSound())
        #expect(try one.files() == ["item.ndjson", "store.sqlite"])
    }

    @Test func takesValuesOfTypesAndUnderAnotherModel() async throws {
        struct Item: Encodable {
            var id: Int
            var age: String
            var name: String?
        }
        let store = try Store(20)
        let repaired = try store.rejects.map { try RepairedRecord(Item(id: -1 - Int($0.ordinal), age: "9"), of: $0) }
        #expect(repaired.first?.json == #"{"id":-3,"age":"9"}"#)
        let text = Self.model.replacing("\"string\"", with: "\"string\",\"optional\":true")
        let model = try ModelDescription(parsing: Array(text.utf8))
        let report = try await ImportPipeline(retrying: repaired, in: store.path, model: model).run().report
        #expect([report.inserted, report.repaired, report.rejected] == [10, 10, 0])
        #expect(try StoreContent.query(store.path, "SELECT count(*), sum(age) FROM item WHERE id < 0") == "10|90")
        #expect(try store.isSound())
    }

    /// What is interrupted needs the program no more; and where that gives its records again, nothing is done twice.
    @Test(arguments: ["nothing", "the same", "those that are open", "none"])
    func anInterruptedRetryIsResumed(given: String) throws {
        let whole = try Store()
        _ = try retry(whole.repaired(), in: whole).run()
        let store = try Store()
        let repaired = try store.repaired()
        #expect(try retry(repaired, in: store).isStoppedAfterACommit())
        #expect(try store.states().contains("open|"))
        let again: ImportPipeline
        switch given {
        case "nothing": again = ImportPipeline(resuming: store.path, run: Self.small)
        case "the same": again = retry(repaired, in: store)
        case "none": again = retry([], in: store)
        default: again = try retry(store.repaired(), in: store)
        }
        let outcome = try again.run()
        #expect(outcome.report.job == 2 && outcome.report.repaired == 200 && outcome.report.recordsRead == 200)
        #expect(try StoreContent.result(store.path) == StoreContent.result(whole.path))
        #expect(try store.isSound())
        #expect(try store.files() == ["item.ndjson", "store.sqlite"])
    }

    @Test func otherRecordsThanThoseOfAnInterruptedRetryAreAJobOfTheirOwn() throws {
        let store = try Store()
        let repaired = try store.repaired()
        #expect(try retry(repaired, in: store).isStoppedAfterACommit())
        let others = try store.rejects.suffix(2).map { reject in
            var record = try JSONValue(parsing: reject.record)
            record["age"] = 8
            return RepairedRecord(record, of: reject)
        }
        let report = try retry(others, in: store).run().report
        #expect([report.job, report.recordsRead, report.inserted, report.repaired] == [3, 2, 2, 2])
        let rest = try ImportPipeline(resuming: store.path, run: Self.small).run().report
        #expect([rest.job, rest.recordsRead, rest.inserted, rest.ignored] == [2, 200, 198, 2])
        let ages = "SELECT age, count(*) FROM item WHERE id % 2 GROUP BY 1"
        #expect(try StoreContent.query(store.path, ages) == "7|198\n8|2")
        #expect(try store.states() == "repaired|200")
        #expect(try store.isSound())
        #expect(try store.files() == ["item.ndjson", "store.sqlite"])
    }

    @Test func whatDoesNotFitAgainStaysOpen() throws {
        let store = try Store(20)
        let repaired = try store.rejects.enumerated().map { index, reject in
            var record = try JSONValue(parsing: reject.record)
            record["age"] = index < 4 ? 5 : nil
            return RepairedRecord(record, of: reject)
        }
        let report = try retry(repaired, in: store).run().report
        #expect([report.recordsRead, report.inserted, report.rejected, report.repaired] == [10, 4, 6, 4])
        #expect(try store.states() == "open|6\nrepaired|4\nretried|6")
        #expect(try store.isSound())
    }

    @Test func withoutRecordsNothingIsDone() throws {
        let store = try Store(20)
        let before = try StoreContent.result(store.path)
        let outcome = try retry([], in: store).run()
        #expect(outcome.wasAlreadyFinished && outcome.report.job == 1)
        #expect(try StoreContent.result(store.path) == before)
        #expect(try store.files() == ["item.ndjson", "store.sqlite"])
    }

    /// Two for one reject, one of another store, and JSON that is none: all are named, and nothing is imported.
    @Test func namesWhatCannotBeRetried() throws {
        let (store, other) = (try Store(20), try Store(10))
        var repaired = try store.repaired()
        repaired.append(repaired[0])
        let foreign = try #require(try other.rejects.last)
        repaired.append(RepairedRecord(.object([]), of: foreign))
        repaired.append(RepairedRecord(.number("1}"), of: foreign))
        let before = try StoreContent.result(store.path)
        let pipeline = retry(repaired, in: store)
        let error = #expect(throws: ImportError.self) { try pipeline.run() }
        #expect(error?.code == .badInput)
        #expect(error?.message.contains("3 lines cannot be retried") == true, "\(error?.message ?? "")")
        #expect(try StoreContent.result(store.path) == before)
        #expect(try store.files() == ["item.ndjson", "store.sqlite"])
    }

    /// The file that a run keeps its records in is the run's, not the plan's.
    @Test(arguments: [true, false]) func aPlanWritesNothing(areStored: Bool) throws {
        let store = try Store(20)
        let model = try ModelDescription(
            parsing: Array(Self.model.replacing("integer16\"", with: "integer16\",\"optional\":true").utf8)
        )
        func pipeline() throws -> ImportPipeline {
            areStored
                ? ImportPipeline(retrying: nil, in: store.path, model: model, run: Self.small)
                : ImportPipeline(retrying: try store.repaired(), in: store.path, model: model, run: Self.small)
        }
        let bytes = try Data(contentsOf: URL(filePath: store.path))
        let planned = try pipeline()
        let plan = try planned.plan()
        #expect(plan.action == .begin)
        #expect(plan.sources.map(\.entities) == [["item"]])
        #expect(plan.sources.map(\.name) == [store.path + ".retry.ndjson"])
        #expect(try store.files() == ["item.ndjson", "store.sqlite"])
        #expect(try Data(contentsOf: URL(filePath: store.path)) == bytes)
        let report = try pipeline().run().report
        #expect(report.recordsRead == 10 && report.sources == plan.sources.map(\.name))
        if !areStored {
            // The records have been read.
            let error = #expect(throws: ImportError.self) { try planned.run() }
            #expect(error?.code == .usage)
        }
    }
}
