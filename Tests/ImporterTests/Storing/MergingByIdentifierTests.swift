import Foundation
import ImportModel
import TestSupport
import Testing

@testable import Importer

/// Records with an identifier merge into the object that has it, by what they mention and nothing else.
struct MergingByIdentifierTests {
    private static let model = """
        {"entities": {"item": {"records": "$[*]", "identifier": ["key"], "attributes": {
          "key": {"type": "string"},
          "a": {"type": "integer64", "optional": true},
          "b": {"type": "string", "default": "none"},
          "must": {"type": "double"}
        }}}}
        """

    private func run(_ records: String, _ run: RunOptions = RunOptions()) throws -> (ImportReport, String) {
        let job = try LibraryImport(records)
        let model = try ModelDescription(parsing: Array(Self.model.utf8))
        let report = try job.pipeline(JobOptions(model: model), run).run().report
        let rows = try StoreContent.query(
            job.store,
            "SELECT key, quote(a), quote(b), quote(must) FROM item ORDER BY rowid"
        )
        return (report, rows.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    @Test func aMissingKeyLeavesTheStoredValueAndANullDoesNot() throws {
        let (report, rows) = try run(
            """
            [{"key":"x","a":1,"b":"one","must":1}, {"key":"y","a":2,"must":2},
             {"key":"x","must":3}, {"key":"y","a":null}, {"key":"x"}]
            """
        )
        #expect(rows == "x|1|'one'|3.0\ny|NULL|'none'|2.0")
        #expect(report.inserted == 2)
        #expect(report.updated == 2)
        #expect(report.unchanged == 1)
    }

    /// What an object must have may be left out by a record that merges, and not by one that inserts.
    @Test func anInsertThatLacksSomethingIsARejectInSourceOrder() throws {
        let (report, rows) = try run(
            "[{\"key\":\"x\"}, {\"key\":\"x\",\"must\":1}, {\"must\":2}, {\"key\":\"x\",\"a\":7}]"
        )
        #expect(rows == "x|7|'none'|1.0")
        #expect(report.rejected == 2)
        #expect(report.recordsRead == 4)
    }

    /// The same whatever the workers, the chunks and the commits.
    @Test func isTheResultOfTakingRecordsOneAfterTheOther() throws {
        var random = SeededGenerator(seed: 7)
        var rows: [String: (a: String, b: String, must: String)] = [:]
        var order: [String] = []
        var records: [String] = []
        for _ in 0..<400 {
            let key = "k\(Int.random(in: 0..<40, using: &random))"
            var members = ["\"key\":\"\(key)\""]
            var row = rows[key] ?? ("NULL", "'none'", "")
            if Bool.random(using: &random) {
                let value = Int.random(in: 0..<5, using: &random)
                members.append(value == 0 ? "\"a\":null" : "\"a\":\(value)")
                row.a = value == 0 ? "NULL" : "\(value)"
            }
            if Bool.random(using: &random) {
                members.append("\"b\":\"v\(members.count)\"")
                row.b = "'v\(members.count - 1)'"
            }
            if Bool.random(using: &random) {
                members.append("\"must\":2.5")
                row.must = "2.5"
            }
            records.append("{" + members.joined(separator: ",") + "}")
            guard row.must != "" else { continue }
            if rows[key] == nil { order.append(key) }
            rows[key] = row
        }
        let expected = order.compactMap { key in rows[key].map { "\(key)|\($0.a)|\($0.b)|\($0.must)" } }
        let text = "[" + records.joined(separator: ",") + "]"
        for (workers, chunkSize, commitEvery) in [(1, 8 << 20, 10_000), (2, 1, 1), (4, 500, 7)] {
            let options = RunOptions(workers: workers, chunkSize: chunkSize, commitEvery: commitEvery)
            let (report, rows) = try run(text, options)
            #expect(rows == expected.joined(separator: "\n"))
            #expect(report.recordsRead == 400)
            #expect(report.inserted == Int64(expected.count))
        }
    }
}
