import Foundation
import TestSupport
import Testing

/// Records with the same identifier come to what taking them one after the other comes to, on a server too.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGMergingTests {
    /// What the server says, as `MergingTests.content` has it of a store, with rows in an order of their own.
    private static func content(_ database: PGDatabase) throws -> [String] {
        let rows = try database.query("SELECT \(MergingTests.columns) FROM thing")
        let counts = try database.query(
            """
            SELECT sum(inserted) || ' ' || sum(updated) || ' ' || sum(unchanged) || ' ' || sum(ignored)
                || ' ' || sum(rejected) FROM _import_count
            """
        )
        return "\(rows)\n\(counts)".split(separator: "\n").map(String.init).sorted()
    }

    /// They come with keys missing, null and changed, in several chunks, and then again to a table that has rows.
    @Test(arguments: Cases.few(2, of: [("merge", true, 42)] + MergingTests.policies.reversed().map { ($0, false, 41) }))
    func agreesWithTakingOneRecordAfterTheOther(policy: String, isComplete: Bool, seed: UInt64) throws {
        let files = try MergingTests.files([
            MergingTests.records(400, seed: seed, areComplete: isComplete),
            MergingTests.records(200, seed: seed + 100, areComplete: isComplete),
            MergingTests.records(600, seed: seed + 200, areComplete: isComplete),
        ])
        let database = try PGDatabase()
        for sources in [files.sources.dropLast(), files.sources.suffix(1)].map(Array.init) {
            let options = ["--on-conflict", policy]
            let report = try database.imported(files, sources, options + ["--chunk-size", "2000"])
            let same = try files.storeOfTheSame(sources, options)
            #expect(report == same.report)
            #expect(try database.difference(of: "thing", from: same.path).isEmpty)
            #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
            #expect(try database.isVerified())
        }
        #expect(try database.chunks("done") > 10)
        let expected = try MergingTests.expected(policy, of: files)
        #expect(try Self.content(database) == expected.split(separator: "\n").map(String.init).sorted())
    }

    @Test(arguments: Cases.few(2, of: [[], ["--on-conflict", "merge"], ["--on-conflict", "replace"]]))
    func aMissingKeyLeavesTheDefaultOfAColumn(options: [String]) throws {
        let model = """
            {"entities": {"thing": {\(options.isEmpty ? "" : #""identifier": ["k"], "#)"attributes": {
              "k": {"type": "integer64"}, "a": {"type": "string", "optional": true},
              "n": {"type": "integer64", "optional": true}, "at": {"type": "date", "optional": true},
              "s": {"type": "integer64", "optional": true}}}}}
            """
        let records = [
            [#"{"k": 1, "a": "y", "n": 1, "at": "2020-01-01"}"#, #"{"k": 2, "a": null, "n": 2}"#, #"{"k": 3}"#],
            [#"{"k": 1, "n": 3}"#],
        ]
        let files = try ImportFiles(records: records, model: model, options: ["--entity", "thing"])
        let database = try PGDatabase()
        try database.execute(
            """
            CREATE TABLE thing (k bigint, a text DEFAULT upper('x'), n bigint NOT NULL DEFAULT 7,
                at timestamptz(3) DEFAULT '2000-01-01Z', s bigint DEFAULT (random() * 9)::bigint)
            """
        )
        for source in files.sources { #expect(try database.imported(files, [source], options).counts.rejected == 0) }
        let rows = try database.query("SELECT k, a, n, extract(year FROM at), s FROM thing ORDER BY k, at DESC")
        let first =
            options.isEmpty ? "1|y|1|2020|\n1|X|3|2000|" : options.contains("merge") ? "1|y|3|2020|" : "1|X|3|2000|"
        #expect(rows == "\(first)\n2||2|2000|\n3|X|7|2000|")
    }

    /// Keys of every kind: those that only look the same are objects of their own.
    @Test func identifiersOfManyTypes() throws {
        let model = """
            {"entities": {"thing": {"identifier": ["a", "b", "c", "d", "e"], "attributes": {
              "a": {"type": "decimal"}, "b": {"type": "date"}, "c": {"type": "binary"}, "d": {"type": "boolean"},
              "e": {"type": "double"}, "text": {"type": "string", "optional": true}}}}}
            """
        let records = RecordGenerator.records(300, seed: 5) { make in
            let dates = ["2024-01-01T00:00:00Z", "2024-01-01T02:00:00+02:00", "2024-01-01T00:00:00.001Z"]
            return [
                #""a": \#(make.one(of: ["1", "1.0", "\"1.00\"", "0.1", "1e40", "-1"]))"#,
                #""b": "\#(make.one(of: dates))""#,
                #""c": "\#(make.one(of: ["", "AA==", "AAA="]))""#, #""d": \#(make.one(of: ["true", "false"]))"#,
                #""e": \#(make.one(of: ["0.1", "0.10000000000000001", "0.0", "1e300"]))"#,
                #""text": \#(make.text("t", below: 3))"#,
            ]
        }
        let files = try ImportFiles(records: [records], model: model, options: ["--entity", "thing"])
        let database = try PGDatabase()
        let report = try database.imported(files, nil, ["--chunk-size", "2000"])
        #expect(report.counts.inserted > 50 && report.counts.updated > 50 && report.counts.unchanged > 10)
        let same = try files.storeOfTheSame()
        #expect(report == same.report)
        #expect(try database.difference(of: "thing", from: same.path).isEmpty)
        #expect(try database.isVerified())
    }
}
