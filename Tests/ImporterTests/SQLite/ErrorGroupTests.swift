import Foundation
import GRDB
import ImportModel
import Importer
import TestSupport
import Testing

/// Errors that are alike are counted together, whichever worker decoded them.
struct ErrorGroupTests {
    private static let runs = [
        RunOptions(workers: 1, chunkSize: 1, commitEvery: 1), RunOptions(workers: 2, chunkSize: 3_000, commitEvery: 3),
        RunOptions(workers: 4, chunkSize: 1 << 20, commitEvery: 10_000),
    ]

    @Test func arrayIndicesDoNotMakeOtherGroups() {
        for (path, expected) in [
            ("items[12].price", "items[].price"), ("a[0][1]", "a[][]"), ("['a[2]'].b[3]", "['a[2]'].b[]"),
            (#"['it\'s[4]'][5]"#, #"['it\'s[4]'][]"#), ("plain.path", "plain.path"), ("", ""), ("['7']", "['7']"),
        ] {
            #expect(ErrorCounts.Key.withoutIndices(path) == expected)
        }
    }

    /// 40 records, each with 30 attributes of 1,200 that do not fit.
    @Test func theFirstThousandGroupsAreCountedOneByOne() throws {
        let attributes = (0..<1_200).map { "\"a\($0)\": {\"type\": \"integer16\", \"optional\": true}" }
        let model = "{\"entities\": {\"item\": {\"attributes\": {\(attributes.joined(separator: ","))}}}}"
        let records = (0..<80).map { record in
            "{" + (0..<30).map { "\"a\(($0 + record * 30) % 1_200)\":\"x\"" }.joined(separator: ",") + "}"
        }
        for run in Self.runs {
            let job = try LibraryImport(records.joined(separator: "\n") + "\n", named: "item.ndjson")
            let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
            let report = try job.pipeline(options, run).run().report
            #expect(report.errors.count == 1_001)
            #expect(report.errors.prefix(1_000).map(\.keyPath) == (0..<1_000).map { "a\($0)" })
            #expect(report.errors.prefix(1_000).allSatisfy { $0.count == 2 })
            #expect(report.errors.prefix(1_000).enumerated().allSatisfy { $1.first.record == Int64($0 / 30 + 1) })
            let last = try #require(report.errors.last)
            #expect(last.keyPath == ErrorGroup.others)
            #expect(last.count == 400)
            #expect(last.first.record == 34)
            #expect(try StoreInspection(store: job.store).verify().allSatisfy(\.holds))
        }
    }

    @Test func verifyFindsErrorsThatNoGroupCounts() throws {
        let job = try LibraryImport("{\"id\":1}\n{\"id\":\"x\"}\n{\"id\":2}\n{\"id\":\"y\"}\n", named: "item.ndjson")
        let model = "{\"entities\": {\"item\": {\"attributes\": {\"id\": {\"type\": \"integer16\"}}}}}"
        _ = try job.pipeline(JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))).run()
        let store = StoreInspection(store: job.store)
        #expect(try store.verify().allSatisfy(\.holds))
        let database = try DatabaseQueue(path: job.store)
        try database.write { try $0.execute(sql: "UPDATE _import_ledger SET count = count + 1 WHERE is_error") }
        #expect(try store.verify().filter { !$0.holds }.map(\.name) == ["job 1: the groups count every error"])
    }

    @Test func beginningAnewForgetsTheGroupsOfTheFirstTry() throws {
        let job = try LibraryImport("{\"id\":1}\n{\"id\":\"x\"}\n", named: "item.ndjson")
        let model = try ModelDescription(
            parsing: Array("{\"entities\": {\"item\": {\"attributes\": {\"id\": {\"type\": \"integer16\"}}}}}".utf8)
        )
        #expect(throws: ImportError.self) {
            try job.pipeline(JobOptions(model: model, maxErrors: .percent(1))).run()
        }
        let report = try job.pipeline(JobOptions(model: model), RunOptions(restart: true)).run().report
        #expect(report.errors.map(\.count) == [1])
        #expect(try StoreContent.query(job.store, "SELECT count(*) FROM _import_ledger WHERE is_error") == "1")
    }
}
