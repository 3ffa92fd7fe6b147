import Foundation
import GRDB
import ImportModel
import Importer
import TestSupport
import Testing

@testable import ImportEngine
@testable import ImportMigration

/// Rows about which nothing has to be asked are inserted by one statement a batch, and the same comes of it.
///
/// Those of a batch that has few are written one by one.
struct InsertingAtOnceTests {
    /// Records of a commit: too few for an image, and enough.
    private static let sizes = [7, DatabaseImage.fewestRows + 6]

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

    @Test(arguments: sizes)
    func storesWhatEachRecordMentionsAndDefaults(commitEvery: Int) throws {
        var random = SeededGenerator(seed: 2_012)
        let model = try model()
        var records: [String] = []
        var expected: [String] = []
        for _ in 0..<200 {
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
        let report = try job.pipeline(JobOptions(model: model), RunOptions(commitEvery: commitEvery)).run().report
        #expect(report.inserted == 200)
        let columns = (0..<Self.width).map { "typeof(c\($0)) || '|' || hex(c\($0))" }
        let sql = "SELECT \(columns.joined(separator: " || ',' || ")) FROM item ORDER BY rowid"
        let found = try StoreContent.query(job.store, sql).split { $0 == "," || $0 == "\n" }.map(String.init)
        #expect(found.count == expected.count)
        for (place, (found, expected)) in zip(found, expected).enumerated() where found != expected {
            Issue.record("row \(place / Self.width), c\(place % Self.width): \(found), not \(expected)")
        }
    }

    /// Where the largest row id is nearly reached, SQLite chooses others at random, and that is noticed.
    @Test(arguments: [(1, 3), (1, 200), (30, 100), (80, 100), (80, 200)])
    func goesOnWhereRowIDsEnd(left: Int, count: Int) throws {
        let job = try LibraryImport("[{\"c0\": \"a\"}]")
        let options = JobOptions(model: try model())
        _ = try job.pipeline(options).run()
        let last = Int64.max - Int64(left)
        try prepare(job.store, "UPDATE item SET rowid = \(last)")
        let records = (0..<count).map { "{\"c0\": \"b\($0)\", \"c1\": \($0)}" }
        try Data("[\(records.joined(separator: ", "))]".utf8).write(to: URL(filePath: job.source))
        let run = RunOptions(commitEvery: Self.sizes[1], again: true)
        let report = try job.pipeline(options, run).run().report
        #expect(report.inserted == Int64(count))
        let sql = "SELECT count(*), count(DISTINCT c1), sum(c0 = 'b' || c1) FROM item"
        #expect(try StoreContent.query(job.store, sql) == "\(count + 1)|\(count)|\(count)")
        let following = "SELECT c1 FROM item WHERE rowid > \(last) ORDER BY rowid"
        #expect(try StoreContent.query(job.store, following) == (0..<left).map(String.init).joined(separator: "\n"))
        #expect(try StoreContent.isWhole(job.store))
    }

    /// Tables that somebody has given the names of an image's are not read instead of the records, nor changed.
    @Test func leavesTablesAloneThatAreCalledAsItsOwn() throws {
        let job = try LibraryImport(Self.records(150))
        let columns = (0..<Self.width).map { "c\($0)" }.joined(separator: ", ")
        try prepare(
            job.store,
            "CREATE TABLE _IMPORT_rows_0 (\(columns)); CREATE TABLE _import_batch (\(columns));"
                + "INSERT INTO _import_rows_0 (c0) VALUES ('evil'); INSERT INTO _import_batch (c0) VALUES ('evil')"
        )
        let run = RunOptions(commitEvery: Self.sizes[1])
        #expect(try job.pipeline(JobOptions(model: try model()), run).run().report.inserted == 150)
        #expect(try StoreContent.query(job.store, "SELECT count(*), sum(c0 = 'evil') FROM item") == "150|0")
        for table in ["_import_rows_0", "_import_batch"] {
            #expect(try StoreContent.query(job.store, "SELECT count(*), sum(c0 = 'evil') FROM \(table)") == "1|1")
        }
    }

    // MARK: Stores of somebody's own

    /// Some values of each kind, and texts that are no ASCII.
    private static func records(_ count: Int) -> String {
        let records = (0..<count).map { index in
            var members = ["\"c0\": \"\u{e4}\u{1F600}\(index)\"", "\"c1\": \(index % 90)", "\"c2\": \(index).5"]
            if index.isMultiple(of: 3) { members.append("\"c5\": {\"k\": [\(index), null, \"\u{e4}\"]}") }
            if index.isMultiple(of: 4) { members += ["\"c4\": \"AAEC\"", "\"c147\": true", "\"c42\": null"] }
            return "{\(members.joined(separator: ", "))}"
        }
        return "[\(records.joined(separator: ",\n"))]"
    }

    private func prepare(_ store: String, _ sql: String, encoding: String = "UTF-8") throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA encoding = '\(encoding)'") }
        let queue = try DatabaseQueue(path: store, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Imports records into a store that is prepared by `sql`, in commits of each size.
    ///
    /// - Returns: what the store then holds, for each size.
    private func contents(_ records: String, after sql: String = "") throws -> [String] {
        try Self.sizes.map { size in
            let job = try LibraryImport(records)
            if !sql.isEmpty { try prepare(job.store, sql) }
            _ = try job.pipeline(JobOptions(model: try model()), RunOptions(commitEvery: size)).run()
            #expect(try StoreContent.isWhole(job.store))
            return try StoreContent.result(job.store)
        }
    }

    /// All databases of a connection have one encoding, and images are in UTF-8.
    @Test(arguments: ["UTF-16le", "UTF-16be"])
    func storesTheSameInAnotherEncoding(encoding: String) throws {
        let records = Self.records(150)
        let mine = "CREATE TABLE mine (a); INSERT INTO mine VALUES ('\u{e4}')"
        for (size, content) in zip(Self.sizes, try contents(records, after: mine)) {
            let job = try LibraryImport(records)
            try prepare(job.store, mine, encoding: encoding)
            _ = try job.pipeline(JobOptions(model: try model()), RunOptions(commitEvery: size)).run()
            #expect(try StoreContent.query(job.store, "PRAGMA encoding") == encoding)
            #expect(try StoreContent.result(job.store) == content)
        }
    }

    /// A table in which the columns are otherwise gets each value in its own column, and its defaults.
    @Test func fillsATableWhoseColumnsStandOtherwise() throws {
        let columns = try model().entities[0].attributes.reversed().map { "\($0.column) \($0.declaredType)" }
        let table = (["mine TEXT DEFAULT 'own'"] + columns).joined(separator: ", ")
        let found = try contents(Self.records(150), after: "CREATE TABLE item (\(table))")
        #expect(found[0] == found[1])

        let job = try LibraryImport(Self.records(150))
        try prepare(job.store, "CREATE TABLE item (\(table))")
        _ = try job.pipeline(JobOptions(model: try model()), RunOptions(commitEvery: Self.sizes[1])).run()
        let sql = "SELECT count(*), sum(mine = 'own'), sum(c2 = rowid - 0.5), sum(c1 = (rowid - 1) % 90) FROM item"
        #expect(try StoreContent.query(job.store, sql) == "150|150|150|150")
    }

    /// An index on a table that has rows is kept up with each new one.
    @Test(arguments: ["", "INSERT INTO item (c1) VALUES (1), (77); DELETE FROM item WHERE c1 = 1;"])
    func fillsATableThatHasAnIndex(rows: String) throws {
        let columns = try model().entities[0].attributes.map { "\($0.column) \($0.declaredType)" }
        let found = try contents(
            Self.records(300),
            after: "CREATE TABLE item (\(columns.joined(separator: ", "))); \(rows)"
                + "CREATE INDEX mine ON item (c1, c0); CREATE INDEX half ON item (c2) WHERE c1 > 40"
        )
        #expect(found[0] == found[1])
    }

    /// A record that is larger than an image's page, and what comes after it, is not in its batch's image.
    @Test(arguments: [[40_000], [32_000, 33_000], [100_000, 8_186, 40_000]])
    func storesLargeRecordsBetweenSmallOnes(lengths: [Int]) throws {
        let records = (0..<400).map { index in
            let isLarge = [3, 50, 70, 139, 200, 209, 210, 399].contains(index)
            let text = isLarge ? String(repeating: "\(index % 10)", count: lengths[index % lengths.count]) : "n\(index)"
            return "{\"c0\": \"\(text)\", \"c1\": \(index)}"
        }
        let found = try contents("[\(records.joined(separator: ",\n"))]")
        #expect(found[0] == found[1])
    }

    // MARK: Identifiers

    /// Where a record needs to know which objects there are, rows that are laid out already have to be looked up after
    /// all.
    @Test(arguments: [ConflictPolicy.merge, .ignore], [1, 2] as [UInt64])
    func looksUpWhatIsLaidOutAlready(_ policy: ConflictPolicy, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1_500...3_000, using: &random)
        let keys = Int.random(in: 50...count, using: &random)
        let incomplete = Set((0..<2).map { _ in Int.random(in: count / 4..<count / 2, using: &random) })
        let records = (0..<count).map { index in
            var members = ["\"key\": \"k\(Int.random(in: 0..<keys, using: &random))\""]
            if !incomplete.contains(index) { members.append("\"must\": \(Int.random(in: 0..<9, using: &random))") }
            if Bool.random(using: &random) { members.append("\"a\": \(Int.random(in: 0..<9, using: &random))") }
            if Bool.random(using: &random) { members.append("\"b\": \"v\(index)\"") }
            return "{\(members.shuffled(using: &random).joined(separator: ", "))}"
        }
        let text = "[\(records.joined(separator: ",\n"))]"
        let (expected, counts) = try merge(text, policy, RunOptions(workers: 1, commitEvery: 1))
        #expect(counts[0] == Int64(count))
        for _ in 0..<2 {
            let run = RunOptions(
                workers: Int.random(in: 2...4, using: &random),
                // An image's records at least, so that chunks have images.
                chunkSize: Int.random(in: 6_000...30_000, using: &random),
                commitEvery: Int.random(in: DatabaseImage.fewestRows...400, using: &random)
            )
            let (found, foundCounts) = try merge(text, policy, run)
            #expect(foundCounts == counts, "\(run)")
            #expect(found == expected, "\(run)")
        }
    }

    private func merge(_ text: String, _ policy: ConflictPolicy, _ run: RunOptions) throws -> (String, [Int64]) {
        let model = """
            {"entities": {"item": {"records": "$[*]", "identifier": ["key"], "attributes": {
              "key": {"type": "string"}, "a": {"type": "integer64", "optional": true},
              "b": {"type": "string", "default": "none"}, "must": {"type": "double"}}}}}
            """
        let job = try LibraryImport(text)
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)), onConflict: policy)
        let report = try job.pipeline(options, run).run().report
        #expect(try StoreContent.isWhole(job.store))
        let counts = [
            report.recordsRead, report.inserted, report.updated, report.unchanged, report.ignored, report.rejected,
        ]
        return (try StoreContent.result(job.store), counts)
    }

    /// What is made for an object that has no value does not replace one when rows are merged at the end.
    @Test(arguments: sizes)
    func keepsValuesFromThoseThatAreMade(commitEvery: Int) throws {
        let uuid = "8A6F3C52-0C1E-4C63-9A53-1B1E2D3C4F50"
        let records =
            (0..<100).map { "{\"key\": \"k\($0)\", \"made\": \"\(uuid)\", \"n\": 0}" }
            + (0..<100).map { "{\"key\": \"k\($0)\", \"n\": \($0)}" }
        let job = try LibraryImport("[\(records.joined(separator: ","))]")
        let model = """
            {"entities": {"item": {"records": "$[*]", "identifier": ["key"], "attributes": {
              "made": {"type": "uuid", "generated": true}, "key": {"type": "string"}, "n": {"type": "integer64"}}}}}
            """
        let options = JobOptions(model: try ModelDescription(parsing: Array(model.utf8)))
        let report = try job.pipeline(options, RunOptions(commitEvery: commitEvery)).run().report
        #expect([report.inserted, report.updated, report.unchanged] == [100, 99, 1])
        let sql = "SELECT count(*), sum(upper(made) = '\(uuid)'), sum(key = 'k' || n) FROM item"
        #expect(try StoreContent.query(job.store, sql) == "100|100|100")
    }
}
