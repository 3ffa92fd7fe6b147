import Foundation
import GRDB
import ImportModel
import TestSupport
import Testing

@testable import Importer

/// Rows about which nothing has to be asked are inserted by one statement a batch, and the same comes of it.
struct InsertingAtOnceTests {
    /// Attributes of every kind, more than one word of a presence mask has bits.
    private static let width = 150

    private func model() throws -> ModelDescription {
        let kinds = ["string", "integer64", "double", "boolean", "binary", "json"]
        let attributes = (0..<Self.width).map { index in
            let fallback = index.isMultiple(of: 7) ? ", \"default\": \(index % 6 == 0 ? "\"d\(index)\"" : "1")" : ""
            let takes = index.isMultiple(of: 7) && (3...4).contains(index % 6) ? "" : fallback
            return "\"c\(index)\": {\"type\": \"\(kinds[index % 6])\", \"optional\": true\(takes)}"
        }
        let text = """
            {"entities": {"item": {"records": "$[*]", "attributes": {\(attributes.joined(separator: ", "))}}}}
            """
        return try ModelDescription(parsing: Array(text.utf8))
    }

    /// The value of an attribute as JSON and as SQLite writes it (`quote`), text in hexadecimal.
    private func value(_ index: Int, _ random: inout SeededGenerator) -> (json: String, stored: String) {
        if Int.random(in: 0..<5, using: &random) == 0 { return ("null", "null|") }
        switch index % 6 {
        case 0:
            let texts = [("\"\"", ""), ("\"a\\u0000b\"", "610062"), ("\"\u{e4}'\"", "C3A427"), ("\"x\\ty\"", "780979")]
            let (json, hex) = texts[Int.random(in: 0..<4, using: &random)]
            return (json, "text|\(hex)")
        case 1:
            let number = Int64.random(in: .min ... .max, using: &random)
            return ("\(number)", "integer|" + hex("\(number)"))
        case 2:
            let number = Int.random(in: -1000...1000, using: &random)
            return ("\(number).5", "real|" + hex("\(number).5"))
        case 3:
            let isTrue = Bool.random(using: &random)
            return ("\(isTrue)", "integer|" + hex(isTrue ? "1" : "0"))
        case 4:
            let bytes = (0..<Int.random(in: 0...3, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
            }
            let stored = bytes.map { String(format: "%02X", $0) }.joined()
            return ("\"\(Data(bytes).base64EncodedString())\"", "blob|\(stored)")
        default:
            return ("[1,\"k\"]", "text|" + hex("[1,\"k\"]"))
        }
    }

    private func hex(_ text: String) -> String { text.utf8.map { String(format: "%02X", $0) }.joined() }

    @Test func storesWhatEachRecordMentionsAndDefaults() throws {
        var random = SeededGenerator(seed: 2_012)
        let model = try model()
        var records: [String] = []
        var expected: [String] = []
        for _ in 0..<60 {
            var members: [String] = []
            for index in 0..<Self.width {
                let fallback = model.entities[0].attributes[index].defaultValue == nil ? "null|" : nil
                if Bool.random(using: &random) {
                    let (json, stored) = value(index, &random)
                    members.append("\"c\(index)\": \(json)")
                    expected.append(stored)
                } else if let fallback {
                    expected.append(fallback)
                } else {
                    let text = index % 6 == 0 ? "d\(index)" : index % 6 == 2 ? "1.0" : "1"
                    let kind = ["text", "integer", "real", "", "", "text"][index % 6]
                    expected.append("\(kind)|" + hex(text))
                }
            }
            records.append("{\(members.shuffled(using: &random).joined(separator: ", "))}")
        }
        let job = try LibraryImport("[\(records.joined(separator: ",\n"))]")
        let report = try job.pipeline(JobOptions(model: model), RunOptions(commitEvery: 7)).run().report
        #expect(report.inserted == 60)
        let columns = (0..<Self.width).map { "typeof(c\($0)) || '|' || hex(c\($0))" }
        let sql = "SELECT \(columns.joined(separator: " || ',' || ")) FROM item ORDER BY rowid"
        let found = try StoreContent.query(job.store, sql).split { $0 == "," || $0 == "\n" }.map(String.init)
        #expect(found.count == expected.count)
        for (place, (found, expected)) in zip(found, expected).enumerated() where found != expected {
            Issue.record("row \(place / Self.width), c\(place % Self.width): \(found), not \(expected)")
        }
    }

    /// Where the largest row id is nearly reached, SQLite chooses others at random, and that is noticed.
    @Test func goesOnWhereRowIDsEnd() throws {
        let job = try LibraryImport("[{\"c0\": \"a\"}]")
        let options = JobOptions(model: try model())
        _ = try job.pipeline(options).run()
        let store = try StoreConnection.writer(job.store, durability: .normal)
        try store.inDatabase { try $0.execute(sql: "UPDATE item SET rowid = 9223372036854775806") }
        try store.close()
        try Data("[{\"c0\": \"b\"}, {\"c0\": \"c\"}, {\"c0\": \"d\"}]".utf8).write(to: URL(filePath: job.source))
        let report = try job.pipeline(options, RunOptions(again: true)).run().report
        #expect(report.inserted == 3)
        #expect(try StoreContent.query(job.store, "SELECT c0 FROM item ORDER BY c0") == "a\nb\nc\nd")
        #expect(try StoreContent.query(job.store, "SELECT rowid FROM item WHERE c0 = 'b'") == "9223372036854775807")
    }

    /// A table that somebody has given the name of the importer's own must not be read instead of the records.
    @Test func refusesATableOfItsOwnName() throws {
        let job = try LibraryImport("[{\"c0\": \"a\"}]")
        let store = try StoreConnection.writer(job.store, durability: .normal)
        let columns = (0..<Self.width).map { "c\($0)" }.joined(separator: ", ")
        try store.inDatabase { try $0.execute(sql: "CREATE TABLE _IMPORT_rows_0 (\(columns))") }
        try store.inDatabase { try $0.execute(sql: "INSERT INTO _import_rows_0 (c0) VALUES ('evil')") }
        try store.close()
        let options = JobOptions(model: try model())
        let error = #expect(throws: ImportError.self) { try job.pipeline(options).run() }
        #expect(error?.code == .cannotCreate)
        #expect(try StoreContent.query(job.store, "SELECT count(*) FROM item") == "0")
    }
}
