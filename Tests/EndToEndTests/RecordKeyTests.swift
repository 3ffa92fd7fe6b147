import Foundation
import TestSupport
import Testing

/// Each `.*` of a record path is a key that the records keep, wherever the path ends.
struct RecordKeyTests {
    /// A document, its record path, and the table of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let path: String
        let source: String
        let columns: String
        let rows: String

        var testDescription: String { path }
    }

    private static let coverage = """
        {"meta": {"v": 1}, "files": {"m.py": {"functions": {"f": {"n": 1}, "": {"n": 2}}}, "n\\u002epy":
          {"x": 3, "functions": {"f" : {"n": 7}}}}}
        """
    private static let nested = #"{"a":{"x":{"y":{"n":1},"z":{"n":2}},"w":{"y":{"n":3}}},"b":{"x":{"y":{"n":4}}}}"#

    static let cases = [
        Case(
            path: "$.*[*]",
            source: #"{"2024-01-01": [{"n":1},{"n":2}], "é\"": [], "é\"": [{"n":3, "key":"k"}]}"#,
            columns: "key,n,key_2",
            rows: "2024-01-01|1|\n2024-01-01|2|\né\"|3|k"
        ),
        Case(
            path: "$.files.*.functions.*",
            source: coverage,
            columns: "key,files_key,n",
            rows: "f|m.py|1\n|m.py|2\nf|n.py|7"
        ),
        Case(
            path: "$.files.*.functions.f",
            source: coverage,
            columns: "key,n",
            rows: "m.py|1\nn.py|7"
        ),
        Case(
            path: "$.*.*",
            source: #"{"a":{"x":{"n":1},"y":5},"b":{"x":{"key_2":"own"}}}"#,
            columns: "key,key_2,value",
            rows: #"x|a|{"n":1}"# + "\ny|a|5\n" + #"x|b|{"key_2":"own"}"#
        ),
        Case(path: "$.a.*.*", source: nested, columns: "key,a_key,n", rows: "y|x|1\nz|x|2\ny|w|3"),
        Case(
            path: "$.*.*.*.n",
            source: nested,
            columns: "key,key_2,key_3,value",
            rows: "y|x|a|1\nz|x|a|2\ny|w|a|3\ny|x|b|4"
        ),
        Case(
            path: "$.a.*.b[*]",
            source: #"{"a":{"x":{"b":[{"n":1},{"n":2}]},"y":{"c":1},"z":{"b":[{"n":3}]}}}"#,
            columns: "key,n",
            rows: "x|1\nx|2\nz|3"
        ),
        Case(
            path: "$.g[*].*.*",
            source: #"{"g":[{"x":{"p":{"n":1}}},{"x":{"p":{"n":2},"q":{"n":3}}}]}"#,
            columns: "key,g_key,n",
            rows: "p|x|1\np|x|2\nq|x|3"
        ),
        Case(
            path: "$[*].*",
            source: #"[{"p":{"n":1},"q":{"n":2}},{"p":{"n":3}}]"#,
            columns: "key,n",
            rows: "p|1\nq|2\np|3"
        ),
    ]

    @Test(arguments: cases)
    func areColumnsOfTheirRecords(_ given: Case) throws {
        let files = try TemporaryDirectory()
        let source = try files.write(given.source, to: "t.json")
        let store = files.path("s.sqlite")
        let result = try runImporter(source, "--into", store, "--records", given.path)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let columns = try StoreContent.query(store, "SELECT group_concat(name) FROM pragma_table_info('t')")
        #expect(columns == given.columns)
        #expect(try StoreContent.query(store, "SELECT * FROM t ORDER BY rowid") == given.rows)
        // The printed model says the same, in chunks that end wherever they may.
        let model = try runImporter("infer", source, "--records", given.path)
        let file = try files.write(model.output, to: "m.json")
        #expect(try runImporter("model", "check", file).ending == .exit(0))
        for chunkSize in ["1", "20"] {
            let other = files.path("\(chunkSize).sqlite")
            let options = ["--into", other, "--model", file, "--chunk-size", chunkSize]
            #expect(try run([Project.importer, source] + options).ending == .exit(0))
            #expect(try StoreContent.result(other) == StoreContent.result(store))
        }
    }

    /// A table of the night before without a column for them gets one, which is said; one that has them keeps its own.
    @Test func areAddedToATable() throws {
        let files = try TemporaryDirectory()
        let store = files.path("s.sqlite")
        let plain = try files.write(#"[{"n":1}]"#, to: "a.json")
        let keyed = try files.write(#"{"x":{"y":{"n":2}}}"#, to: "b.json")
        #expect(try runImporter(plain, "--into", store, "--entity", "t").ending == .exit(0))
        for night in 0..<2 {
            let options = ["--into", store, "--entity", "t", "--records", "$.*.*", "--again"]
            let result = try run([Project.importer, keyed] + options)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(result.errorText.contains("new columns") == (night == 0), "\(result.errorText)")
        }
        let rows = try StoreContent.query(store, "SELECT n, key, key_2 FROM t ORDER BY rowid")
        #expect(rows == "1||\n2|y|x\n2|y|x")
    }

    /// Records that do not fit, are too large or too deep keep all of their keys, and have them when they are repaired.
    @Test func areKeptByRejects() throws {
        let files = try TemporaryDirectory()
        let (long, deep) = (String(repeating: "x", count: 300), String(repeating: "[", count: 30))
        let source = try files.write(
            """
            {"a": {"m": {"f": {"n": "x"}, "g" : {"n": 2, "b": "\(long)"}},
              "[\\"p\\",\\"q\\"]": {"f": {"n": [\(deep)\(deep.replacing("[", with: "]"))]}, "h": {"n": 1}}},
             "b": {"[\\"m\\"]": [{"n": "x"}], "[\\"p\\",\\"q\\"]": [{"n": "x"}, {"n": 3, "b": "\(long)"}]}}
            """,
            to: "t.json"
        )
        let model = try files.write(
            """
            {"entities": {
              "a": {"records": "$.a.*.*", "identifier": ["outer", "inner"], "attributes": {
                "outer": {"type": "string", "from": "$key[1]"}, "inner": {"type": "string", "from": "$key"},
                "n": {"type": "integer64"}}},
              "b": {"records": "$.b.*[*]", "attributes": {
                "key": {"type": "string", "from": "$key"}, "n": {"type": "integer64"}}}}}
            """,
            to: "m.json"
        )
        let store = files.path("s.sqlite")
        let options = ["--model", model, "--max-record-bytes", "200", "--max-depth", "20", "--chunk-size", "1"]
        let result = try run([Project.importer, source, "--into", store] + options)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let fix = files.path("fix.ndjson")
        #expect(try runImporter("rejects", store, "--to", fix).ending == .exit(0))
        let lines = try String(contentsOfFile: fix, encoding: .utf8).split(separator: "\n")
        let keys = lines.map { $0.firstMatch(of: /"key": (.*?), "record"/).map { String($0.1) } ?? "" }
        #expect(
            keys == [
                #"["m","f"]"#, #"["m","g"]"#, #"["[\"p\",\"q\"]","f"]"#, #""[\"m\"]""#, #""[\"p\",\"q\"]""#,
                #""[\"p\",\"q\"]""#,
            ]
        )
        let repaired = lines.map { $0.replacing(/"record": .*/, with: #""record": {"n": 5}}"#) }
        let edited = try files.write(repaired.joined(separator: "\n") + "\n", to: "edited.ndjson")
        let retry = try runImporter("retry", store, edited)
        #expect(retry.ending == .exit(0), "\(retry.errorText)")
        let rows = try StoreContent.query(store, "SELECT outer, inner, n FROM a ORDER BY rowid")
        #expect(rows == #"["p","q"]|h|1"# + "\nm|f|5\nm|g|5\n" + #"["p","q"]|f|5"#)
        #expect(
            try StoreContent.query(store, "SELECT key, n FROM b") == #"["m"]|5"# + "\n" + #"["p","q"]|5"# + "\n"
                + #"["p","q"]|5"#
        )
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    /// A key that is no Unicode is kept as JSON; bytes that are not UTF-8 are counted where they are.
    @Test func areCountedWhereTheyAreNoText() throws {
        let files = try TemporaryDirectory()
        let store = files.path("s.sqlite")
        let source = try files.write(#"{"\ud800": [{"n":1}], "x": [{"n":2}]}"#, to: "t.json")
        #expect(try runImporter(source, "--into", store, "--records", "$.*[*]").ending == .exit(0))
        #expect(try StoreContent.query(store, "SELECT key, n FROM t") == #""\ud800"|1"# + "\n" + #""x"|2"#)
        for escape in ["", #"\u0041"#] {
            let bytes = Data("{\"\(escape)".utf8) + [0xFF] + Data(#"": [{"n":1}], "x": [{"n":2}]}"#.utf8)
            let invalid = try files.write(bytes, to: "u\(escape.count).json")
            let result = try runImporter(invalid, "--into", store, "--records", "$.*[*]")
            #expect(result.outputText.contains("invalidUTF8 $."), "\(result.outputText) \(result.errorText)")
        }
    }

    /// A record whose key does not fit is a reject at its own place.
    @Test func areCheckedAsOtherValuesAre() throws {
        let files = try TemporaryDirectory()
        let store = files.path("s.sqlite")
        let source = try files.write(#"{"7": [{"n":1}], "x": [ {"n":2}]}"#, to: "t.json")
        let result = try runImporter(source, "--into", store, "--records", "$.*[*]", "--type", "key:integer64")
        #expect(result.outputText.contains("first at byte 24 of"), "\(result.outputText) \(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT key, n FROM t") == "7|1")
    }
}
