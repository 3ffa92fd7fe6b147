import Foundation
import TestSupport
import Testing

/// JSON as other programs write it is imported, and what was done to it is counted.
struct OtherProgramsTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    private func imported(_ text: String, as name: String, _ options: String...) throws -> ChildProcess.Result {
        try directory.write(text, to: name)
        return try run(
            [Project.importer, "import", directory.path(name), "--into", store, "--progress", "none"] + options
        )
    }

    private func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }

    @Test(arguments: [
        ("t.ndjson", "{\"a\":NaN,\"b\":[1,],\"c\":1}\n{\"a\":2.5,/* c */\"b\":[Infinity],\"c\":2}\n"),
        ("t.json", "// c\n[{\"a\":NaN,\"b\":[1,],\"c\":1},\n{\"a\":2.5,// c\n\"b\":[Infinity],\"c\":2},\n]"),
        ("t.js", "var t = [{\"a\":NaN,\"b\":[1,],\"c\":1},{\"a\":2.5,/* c */\"b\":[Infinity],\"c\":2}];"),
    ])
    func isImportedAndCounted(name: String, text: String) throws {
        let result = try imported(text, as: name, "--nested", "json")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.outputText.contains("not finite and made null"), "\(result.outputText)")
        #expect(try query("SELECT a IS NULL, b, c FROM t") == "1|[1]|1\n0|[null]|2")
        let ledger = "SELECT kind, count FROM _import_ledger WHERE kind <> 'outside' ORDER BY kind"
        #expect(try query(ledger) == "comment|1\nnotFinite|2\ntrailingComma|1")
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
    }

    @Test func onlyJSONIsAcceptedStrictly() throws {
        let lines = "{\"a\":1}\n{\"a\":NaN}\n{\"a\":2,}\n{\"a\":3} // c\n{\"a\":4}\n{\"a\":5}\n{\"a\":6}\n"
        #expect(try imported(lines, as: "t.ndjson", "--strict").ending == .exit(0))
        #expect(try query("SELECT count(*) FROM t") + query("SELECT count(*) FROM _import_reject") == "43")
        let again = try run([Project.importer, "import", directory.path("t.ndjson"), "--into", store, "--again"])
        #expect(again.ending == .exit(0), "\(again.errorText)")
        #expect(try query("SELECT count(*) FROM t") == "11")
    }

    /// With `--lossless` the record is a reject with its own bytes, which a retry without it accepts.
    @Test func whatIsLostIsARejectLosslessly() throws {
        let result = try imported("[{\"a\":1.5},{\"a\":NaN,}, {\"a\":2.5 /* c */}]", as: "t.json", "--lossless")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try query("SELECT a FROM t") == "1.5\n2.5")
        #expect(try query("SELECT CAST(record AS TEXT), byte_offset FROM _import_reject") == "{\"a\":NaN,}|11")
    }

    /// A reject for another reason is written to a repair file as JSON, and is accepted once it is repaired.
    @Test func aRejectIsRepairedAsJSON() throws {
        let model = """
            {"entities": {"t": {"attributes": {"n": {"type": "integer64"}, "x": {"type": "double", "optional": true}}}}}
            """
        let lines = "{\"n\":1,\"x\":NaN,}\n{\"n\":\"two\",\"x\":NaN,}\n"
        let result = try imported(lines, as: "t.ndjson", "--model", directory.write(model, to: "model.json"))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let repairs = directory.path("repairs.ndjson")
        #expect(try run([Project.importer, "rejects", store, "--to", repairs]).ending == .exit(0))
        let text = try String(contentsOf: URL(filePath: repairs), encoding: .utf8)
        #expect(text.contains("\"record\": {\"n\":\"two\",\"x\":null}"), "\(text)")
        try directory.write(text.replacing("\"two\",\"x\"", with: "2,\"x\""), to: "repairs.ndjson")
        let retry = try run([Project.importer, "retry", store, repairs])
        #expect(retry.ending == .exit(0), "\(retry.errorText)")
        #expect(try query("SELECT n, x IS NULL FROM t ORDER BY n") == "1|1\n2|1")
    }

    /// What is nearly JSON within a value of Extended JSON does not hide the value.
    @Test func aCommentHidesNoValue() throws {
        let records = [
            "{\"id\":{\"$oid\":/*c*/\"a\"},\"n\":{/*}*/\"$numberLong\":\"5\",},\"x\":{\"$numberDouble\":\"NaN\"}}",
            "{\"id\":{\"$oid\":\"b\"},\"n\":{\"$numberLong\":\"6\"/**/},\"x\":{\"$numberDouble\":\"1.5\"}}",
        ]
        let result = try imported("[\(records.joined(separator: ","))]", as: "t.json", "--identifier", "id")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try query("SELECT id, n, x FROM t ORDER BY id") == "a|5|\nb|6|1.5")
        #expect(try query("SELECT count FROM _import_ledger WHERE kind = 'notFinite'") == "1")
        let exact = try imported(records[0] + "\n", as: "l.ndjson", "--lossless")
        #expect(try query("SELECT count(*) FROM _import_reject") == "1", "\(exact.outputText)")
        let one = "{\"_id\":{\"$oid\":\"1\"},\"name\":\"n\",\"refs\":[{\"$oid\":\"q\"},{\"$oid\":\"r\"}]}"
        #expect(try imported(one, as: "o.json").ending == .exit(0))
        #expect(try query("SELECT _id, name FROM o") == "1|n")
    }

    /// Lines stay lines, whichever of them is broken.
    @Test func theFirstLineMayBeBroken() throws {
        let result = try imported("{\"a\":1}TRAILER\n{\"a\":2}\n{\"a\":3}\n{\"a\":4}\n", as: "t.json")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try query("SELECT group_concat(a) FROM t") == "2,3,4")
    }

    @Test func separatorsTellRecordsApart() throws {
        let result = try imported("\u{1E}{\"a\":1}\n\u{1E}{\"a\":\n\u{1E}{\"a\":3}\n", as: "t.json-seq")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try query("SELECT group_concat(a), (SELECT count(*) FROM _import_reject) FROM t") == "1,3|1")
        let pretty = try imported("\u{1E}{\n \"b\": 1\n}\n\u{1E}{\n \"b\": 2\n}\n", as: "pretty.json-seq")
        #expect(pretty.ending == .exit(0), "\(pretty.errorText)")
        #expect(try query("SELECT group_concat(b) FROM pretty") == "1,2")
    }

    /// What precedes a fault is in the store; the rest follows when the fault is mended.
    @Test func aFaultIsSaidWhereItIs() throws {
        let result = try imported("[{\"a\":NaN},\n{\"a\":2,},\n{\"a\":oops}]", as: "t.json")
        #expect(result.ending == .exit(65) && result.errorText.contains("line 3, column 6"), "\(result.errorText)")
        #expect(result.errorText.contains("The records before it are imported."))
        #expect(try query("SELECT count(*) FROM t") == "2")
        try directory.write("[{\"a\":NaN},\n{\"a\":2,},\n{\"a\":3}]", to: "t.json")
        #expect(try run([Project.importer, "resume", store]).ending == .exit(0))
        #expect(try query("SELECT count(*), sum(a) FROM t") == "3|5")
        let first = try imported("[{'a': 1, 'b': None}]", as: "repr.json", "--entity", "r")
        #expect(first.ending == .exit(65) && first.errorText.contains("json.dumps"), "\(first.errorText)")
        #expect(!first.errorText.contains("records before it"))
    }

    /// Wherever an import of it is killed, it ends as if it had not been.
    @Test(arguments: ["array", "utf-16", "latin-1"], [1_000, 7_000])
    func anInterruptionChangesNothing(kind: String, rows: Int) throws {
        let records = (0..<10_000).map { row in
            row % 10 == 9
                ? "{\"n\": \(row), \"x\": NaN, \"t\": \"é//\",} // \(row)\n"
                : "{\"n\": \(row), \"x\": 1.5, \"t\": \"\"}"
        }
        let text = "/* all */\n[\(records.joined(separator: ",\n")),\n]\n"
        let encoding: String.Encoding = kind == "utf-16" ? .utf16LittleEndian : kind == "latin-1" ? .isoLatin1 : .utf8
        try directory.write(#require(text.data(using: encoding)), to: "t.json")
        let options =
            ["--commit-every", "100", "--chunk-size", "8K"] + (kind == "latin-1" ? ["--encoding", "latin1"] : [])
        func command(_ store: String) -> [String] {
            [Project.importer, "import", directory.path("t.json"), "--into", store, "--progress", "none"] + options
        }
        let killed = directory.path("killed.sqlite")
        let whole = try run(command(store))
        #expect(whole.ending == .exit(0), "\(whole.errorText)")
        #expect(try query("SELECT count(*), count(x), count(nullif(t, '')) FROM t") == "10000|9000|1000")
        try #require(try InterruptionTests.isKilled(command(killed), in: killed, atRows: rows, later: 1))
        let resumed = try run(command(killed))
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try StoreContent.result(killed) == StoreContent.result(store))
        #expect(try run([Project.importer, "verify", killed]).ending == .exit(0))
    }

    @Test func anEncodingIsPartOfTheJob() throws {
        try directory.write(Data([0x5B, 0x22, 0xE9, 0x22, 0x5D]), to: "t.json")
        let source = [Project.importer, "import", directory.path("t.json"), "--into", store, "--progress", "none"]
        let unknown = try run(source + ["--encoding", "WINDOW-1252"])
        #expect(unknown.ending == .exit(64) && unknown.errorText.contains("did you mean WINDOWS-1252?"))
        #expect(try run(source + ["--encoding", "ISO-8859-1"]).ending == .exit(0))
        #expect(try query("SELECT * FROM t") == "é")
        #expect(try query("SELECT attribute, kind FROM _import_ledger") == "ISO-8859-1|decoded")
    }

    @Test(arguments: [
        ("PAR1\u{15}", "Parquet"), ("SQLite format 3\0", "a SQLite database"), ("id,name\n1,x\n", "CSV"),
        ("name: x\nlist:\n", "YAML"), ("---\na: 1\n", "YAML"),
    ])
    func whatItLooksLikeIsSaid(text: String, kind: String) throws {
        let result = try imported(text, as: "t.json")
        #expect(result.ending == .exit(65) && result.errorText.contains("looks like \(kind)"), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: store))
    }
}
