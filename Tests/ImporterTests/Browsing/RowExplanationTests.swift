import Foundation
import ImportChanges
import ImportModel
import Importer
import TestSupport
import Testing

/// `explain` finds the very bytes of a source that a row comes from.
struct RowExplanationTests {
    private let directory: TemporaryDirectory
    private var store: String { directory.path("store.sqlite") }
    private var inspection: StoreInspection { StoreInspection(store: store) }

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ sources: [String], _ options: JobOptions = JobOptions(), chunkSize: Int = 64 << 10) throws {
        let run = RunOptions(workers: 2, chunkSize: chunkSize, commitEvery: 7)
        _ = try ImportPipeline(sources: sources, into: store, job: options, run: run).run()
    }

    private func record(of origin: RecordOrigin) -> String { String(decoding: origin.record ?? [], as: UTF8.self) }

    /// Pairs of a row id and another value.
    private func rows(_ sql: String) throws -> [(rowID: Int64, value: String)] {
        try StoreContent.query(store, sql).split(separator: "\n").map { line in
            let parts = line.split(separator: "|").map(String.init)
            return (try #require(Int64(parts[0])), parts[1])
        }
    }

    /// Where a text is in another, in bytes.
    private func range(of part: String, in text: String) throws -> Range<Int64> {
        let found = try #require(text.range(of: part))
        let first = Int64(text[..<found.lowerBound].utf8.count)
        return first..<first + Int64(part.utf8.count)
    }

    /// Rows have no identifier: each is found by its number among those of its chunk, whatever was rejected between them.
    @Test(arguments: ["lines", "array", "members"])
    func eachRowOfManyLeadsToItsRecord(form: String) throws {
        var generator = SystemRandomNumberGenerator()
        let records = (1...400).map { number in
            let isReject = Int.random(in: 0..<5, using: &generator) == 0
            let filler = String(repeating: "é", count: .random(in: 0..<400, using: &generator))
            return "{\"n\": \(isReject ? "\"none\"" : "\(number)"), \"t\": \"\(filler)\"}"
        }
        let text =
            switch form {
            case "lines": records.joined(separator: "\n") + "\n"
            case "array": "[\n" + records.joined(separator: " ,\n") + "]"
            default:
                "{" + records.enumerated().map { "\"k\($0)\": \($1)" }.joined(separator: ",\n") + "}"
            }
        let source = try directory.write(text, to: form == "lines" ? "item.ndjson" : "item.json")
        var options = JobOptions(entity: "item")
        let attributes = [("n", AttributeType.integer64), ("t", .string)].map {
            AttributeDescription(name: $0, type: $1, isOptional: true)
        }
        options.model = ModelDescription(entities: [EntityDescription(name: "item", attributes: attributes)])
        if form == "members" { options.records = [try RecordPath("$.*")] }
        try run([source], options)
        let found = try rows("SELECT rowid, n FROM item ORDER BY rowid")
        #expect(found.count > 200)
        for (rowID, value) in found.shuffled().prefix(25) {
            let number = try #require(Int64(value))
            let explanation = try inspection.explain("item", rowID: rowID, includingRecords: true)
            #expect(explanation.insertedBy == 1 && explanation.notes.isEmpty)
            let origin = try #require(explanation.origins.first)
            #expect(explanation.origins.count == 1)
            #expect(record(of: origin).hasSuffix(records[Int(number) - 1]))
            #expect(origin.bytes == (try range(of: record(of: origin), in: text)))
            #expect(origin.ordinal == number)
            #expect(origin.line == number + (form == "array" ? 1 : 0))
            #expect(origin.chunk?.contains(origin.bytes.lowerBound) == true)
        }
    }

    @Test func allRecordsOfAnObjectAreInTheirOrder() throws {
        let options = JobOptions(entity: "person", identifiers: ["person": ["id"]])
        let first = "{\"id\":1,\"name\":\"a\"}\n{\"id\":2}\n{\"age\":3,\"id\":1}\n"
        try run(
            [
                try directory.write(first, to: "a.ndjson"),
                try directory.write("{\"id\":2,\"name\":null}\n", to: "b.ndjson"),
            ],
            options
        )
        try run([try directory.write("[{\"id\":1,\"age\":4},{\"id\":9}]", to: "c.json")], options)
        let one = try inspection.explain("person", key: "1", includingRecords: true)
        #expect(
            one.origins.map(record) == ["{\"id\":1,\"name\":\"a\"}", "{\"age\":3,\"id\":1}", "{\"id\":1,\"age\":4}"]
        )
        #expect(one.origins.map(\.attributes) == [["id", "name"], ["id", "age"], ["id", "age"]])
        #expect(one.origins.map(\.job) == [1, 1, 2])
        #expect(one.origins.map { ($0.source as NSString).lastPathComponent } == ["a.ndjson", "a.ndjson", "c.json"])
        #expect(one.insertedBy == 1)
        let two = try inspection.explain("person", key: "2")
        #expect(two.origins.map(\.attributes) == [["id"], ["id", "name"]])
        #expect(two.origins.map(\.ordinal) == [2, 4])
        #expect(two.origins.allSatisfy { $0.record == nil })
        #expect(throws: ImportError.self) { try inspection.explain("person", key: "5") }
        #expect(throws: ImportError.self) { try inspection.explain("person", rowID: 77) }
    }

    @Test(arguments: ["-5", "5"]) func numbersMayBeNegative(key: String) throws {
        let options = JobOptions(entity: "n", identifiers: ["n": ["id"]])
        try run([try directory.write("{\"id\":-5,\"x\":-1.5}\n{\"id\":5,\"x\":null}\n", to: "n.ndjson")], options)
        let found = try inspection.explain("n", key: key, includingRecords: true)
        #expect(found.origins.map(record) == [key == "5" ? "{\"id\":5,\"x\":null}" : "{\"id\":-5,\"x\":-1.5}"])
        #expect(throws: ImportError.self) { try inspection.explain("n", key: "abc") }
    }

    /// With an identifier or without one, the element of a list is found in its record.
    @Test(arguments: [true, false])
    func aNestedObjectHasAPath(isIdentified: Bool) throws {
        var options = JobOptions(entity: "orders")
        options.nested = .tables
        if isIdentified { options.identifiers = ["orders": ["id"]] }
        let records = (1...60).map { order in
            let lines = (0..<order % 4).map { "{\"sku\":\"s\(order)-\($0)\",\"tags\":[{\"t\":\"x\(order)-\($0)\"}]}" }
            return "{\"id\":\(order),\"lines\":[\(lines.joined(separator: ","))]}"
        }
        try run([try directory.write("[" + records.joined(separator: ",") + "]", to: "orders.json")], options)
        let found = try rows("SELECT rowid, sku FROM orders_lines")
        #expect(found.count == 90)
        for (rowID, sku) in found.shuffled().prefix(10) {
            let origin = try #require(
                inspection.explain("orders_lines", rowID: rowID, includingRecords: true).origins.first
            )
            let parts = sku.dropFirst().split(separator: "-")
            #expect(record(of: origin) == records[Int(parts[0])! - 1])
            #expect(origin.path == "lines[\(parts[1])]")
            #expect(origin.attributes == ["sku"])
        }
        let tags = try rows("SELECT rowid, t FROM orders_lines_tags ORDER BY rowid DESC LIMIT 1")
        let last = try inspection.explain("orders_lines_tags", rowID: tags[0].rowID)
        #expect(last.origins.map(\.path) == ["lines[2].tags[0]"])
        #expect(last.origins.map(\.ordinal) == [59])
    }

    @Test func whatCannotBeReadAgainIsNoted() throws {
        let options = JobOptions(entity: "person", identifiers: ["person": ["id"]])
        let gone = try directory.write("{\"id\":1}\n", to: "gone.ndjson")
        let changed = try directory.write("{\"id\":1,\"n\":1}\n", to: "changed.ndjson")
        let grown = try directory.write("{\"id\":1,\"n\":2}\n", to: "grown.ndjson")
        try run([gone, changed, grown], options)
        try FileManager.default.removeItem(atPath: gone)
        _ = try directory.write("{\"id\":1,\"n\":7}\n", to: "changed.ndjson")
        _ = try directory.write("{\"id\":1,\"n\":2}\n{\"id\":1,\"n\":3}\n", to: "grown.ndjson")
        let explanation = try inspection.explain("person", key: "1")
        #expect(explanation.origins.map(\.ordinal) == [3])
        #expect(explanation.notes.count == 2)
        #expect(explanation.notes[0].hasSuffix("gone.ndjson (job 1) is gone"))
        #expect(explanation.notes[1].hasSuffix("changed.ndjson (job 1) has changed since"))
    }

    /// A source that is gone, has changed or cannot be read twice has no lines any more.
    @Test func aRejectOfASourceThatIsGoneHasNoLine() throws {
        let source = try directory.write("{\"id\":1}\noops\n{\"id\":2}\n{\"id\":3}\n", to: "a.ndjson")
        try run([source])
        #expect(try inspection.explain(reject: 1).line == 2)
        try FileManager.default.removeItem(atPath: source)
        let found = try inspection.explain(reject: 1)
        #expect(found.line == nil && found.reject.byteOffset == 9)
    }

    @Test func aRejectHasItsLine() throws {
        var options = JobOptions(entity: "person", identifiers: ["person": ["id"]])
        options.onConflict = .error
        try run([try directory.write("{\"id\":1}\n{\"id\":2}\n\n{\"id\":1,\"x\":1}\n", to: "a.ndjson")], options)
        let found = try inspection.explain(reject: 1)
        #expect(found.line == 4)
        #expect(found.reject.byteOffset == 19)
        let one = try inspection.explain("person", key: "1")
        #expect(one.origins.map(\.isRejected) == [false, true])
        #expect(throws: ImportError.self) { try inspection.explain(reject: 2) }
    }
}
