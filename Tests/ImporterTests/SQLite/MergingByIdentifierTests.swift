import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportModel

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

    /// What a new object would need is missing in the last record, so the ones before it in its batch are merged then.
    @Test func countsEachRecordOnceWhereObjectsMustBeKnownBeforeTheEnd() throws {
        let (report, rows) = try run(
            #"[{"key":"k","must":1},{"key":"k","must":2},{"key":"k","must":2},{"key":"z"},{"key":"k","a":3}]"#
        )
        #expect(rows == "k|3|'none'|2.0")
        #expect([report.recordsRead, report.inserted, report.updated] == [5, 1, 2])
        #expect([report.unchanged, report.ignored, report.rejected] == [1, 0, 1])
    }

    @Test(arguments: [("string", "\"d\""), ("integer64", "4")])
    func anIdentifierThatIsNotMentionedIsItsDefault(_ type: String, _ value: String) throws {
        let job = try LibraryImport("[{\"a\":1},{\"a\":2},{\"a\":2}]")
        let text = """
            {"entities": {"item": {"records": "$[*]", "identifier": ["key"], "attributes": {
              "a": {"type": "integer64"}, "key": {"type": "\(type)", "default": \(value)}}}}}
            """
        let options = JobOptions(model: try ModelDescription(parsing: Array(text.utf8)))
        // The first time a text is settled at the end, and then it is looked up.
        for counts in [[1, 1, 1], [0, 2, 1]] {
            let report = try job.pipeline(options, RunOptions(again: true)).run().report
            #expect([report.inserted, report.updated, report.unchanged] == counts.map(Int64.init))
            #expect(try StoreContent.query(job.store, "SELECT count(*), min(a) FROM item") == "1|2")
        }
    }

    @Test func aTableMayHaveAsManyColumnsAsSQLiteAllows() throws {
        let count = ModelReader.mostAttributes
        func members(_ value: (Int) -> String) -> String {
            (0..<count).map { "\"c\($0)\": \(value($0))" }.joined(separator: ", ")
        }
        let other = members { $0 == 7 ? "1" : "\($0 + 1)" }
        let job = try LibraryImport("[{\(members { "\($0)" })}, {\(other)}, {\"c7\": 7, \(members { "\($0)" })}]")
        let text = """
            {"entities": {"item": {"records": "$[*]", "identifier": ["c7"], "attributes": {
              \(members { _ in "{\"type\": \"string\"}" })}}}}
            """
        let options = JobOptions(model: try ModelDescription(parsing: Array(text.utf8)))
        for counts in [[2, 0, 1], [0, 0, 3]] {
            let report = try job.pipeline(options, RunOptions(again: true)).run().report
            #expect([report.inserted, report.updated, report.unchanged] == counts.map(Int64.init))
        }
        let sums = try StoreContent.query(job.store, "SELECT c0, c7, c1999 FROM item ORDER BY rowid")
        #expect(sums == "0|7|1999\n1|1|2000")
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

    /// Objects that come in the order in which they are stored are found next to each other; others by their identifier.
    @Test(arguments: ["string", "uri", "double"])
    func findsObjectsInAnyOrder(type: String) throws {
        func key(_ index: Int) -> String { type == "double" ? "\(index).5" : "\"k\(index)\"" }
        func records(_ indexes: [Int], _ value: (Int) -> Int) -> String {
            "[\(indexes.map { "{\"key\": \(key($0)), \"value\": \(value($0))}" }.joined(separator: ","))]"
        }
        let text = """
            {"entities": {"item": {"records": "$[*]", "identifier": ["key"], "attributes": {
              "key": {"type": "\(type)"}, "value": {"type": "integer64"}}}}}
            """
        let options = JobOptions(model: try ModelDescription(parsing: Array(text.utf8)))
        let job = try LibraryImport(records(Array(0..<60), { $0 }))
        _ = try job.pipeline(options, RunOptions(commitEvery: 7)).run()
        // Some gone, some swapped, one given twice, one new amid the others, one changed.
        let order =
            [0, 1, 2, 3, 9, 8, 10, 11, 12, 12, 13, 100, 14, 15, 40, 41, 42, 16, 17] + Array((18..<60).reversed())
        try Data(records(order, { $0 == 15 ? -15 : $0 }).utf8).write(to: URL(filePath: job.source))
        let report = try job.pipeline(options, RunOptions(commitEvery: 5, again: true)).run().report
        #expect([report.inserted, report.updated, report.unchanged] == [1, 1, Int64(order.count) - 2])
        let wrong = "SELECT count(*) FROM item WHERE value <> rowid - 1 AND value NOT IN (-15, 100)"
        #expect(try StoreContent.query(job.store, wrong) == "0")
        #expect(try StoreContent.query(job.store, "SELECT count(*), sum(value) FROM item") == "61|\(1770 - 30 + 100)")
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
