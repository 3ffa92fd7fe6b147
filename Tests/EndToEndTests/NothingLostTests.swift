import TestSupport
import Testing

/// Values and rows that would be lost, or come from nowhere, without a word.
struct NothingLostTests {
    private let directory: TemporaryDirectory
    private var store: String { directory.path("s.sqlite") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @discardableResult
    private func importing(_ files: KeyValuePairs<String, String>, _ options: String...) throws -> ChildProcess.Result {
        let sources = try files.map { try directory.write($1, to: $0) }
        return try run([Project.importer, "import"] + sources + ["--into", store, "--entity", "t"] + options)
    }

    private func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }

    @Test(arguments: [[], ["resume"]])
    func aSourceThatWasCutAmongOthersIsDecidedAnew(again: [String]) throws {
        #expect(try importing(["a.json": #"[{"a":0}]"#, "b.json": #"{"a":1"#]).ending == .exit(65))
        let whole = #"[{"a":1},{"a":2}]"#
        if again.isEmpty {
            #expect(try importing(["a.json": #"[{"a":0}]"#, "b.json": whole]).ending == .exit(0))
        } else {
            try directory.write(whole, to: "b.json")
            #expect(try runImporter("resume", store).ending == .exit(0))
        }
        #expect(try query("SELECT group_concat(a) FROM (SELECT a FROM t ORDER BY a)") == "0,1,2")
    }

    @Test func aLineOfCSVIsARejectAmongLines() throws {
        let lines = (1...120).map { #"{"a":\#($0)}"# } + [#""{""a"":1}""#] + (1...40).map { #"{"a":\#($0)}"# }
        let result = try importing(["l.ndjson": lines.joined(separator: "\n") + "\n"])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try query("SELECT count(*) FROM _import_reject") == "1")
        #expect(try query("SELECT count(*), sum(a) FROM t") == "160|8080")
    }

    @Test func aDocumentWithoutAnyOfTheTablesKeysIsRefused() throws {
        #expect(try importing(["a.ndjson": "{\"n\":1}\n{\"n\":2}\n"]).ending == .exit(0))
        let refused = try importing(["b.json": #"{"error":"rate limited","code":429}"#])
        #expect(refused.ending == .exit(64))
        #expect(refused.errorText.contains("none of the table's keys"), "\(refused.errorText)")
        #expect(try query("SELECT group_concat(name) FROM pragma_table_info('t')") == "n")
        #expect(try importing(["b.json": #"{"error":"x"}"#], "--records", "$").ending == .exit(0))
    }

    @Test func aUUIDIsNotBase64ForATextOfAnotherForm() throws {
        try StoreContent.execute(store, "CREATE TABLE t (id INTEGER PRIMARY KEY, h BLOB)")
        let uuid = "61f0c404-5cb3-11e7-907b-a6006ad3dba0"
        #expect(try importing(["a.json": #"[{"id":1,"h":"\#(uuid)"},{"id":2,"h":"word"}]"#]).ending == .exit(0))
        #expect(try query("SELECT CAST(h AS TEXT) FROM t ORDER BY id") == "\(uuid)\nword")
    }

    /// 19 digits of C, 20 of SQLite's shell.
    @Test(arguments: ["-0.9127838234331027145", "-6.2553168204702232308e-06", "-2.5000000000000000119e+300"])
    func aDoubleLosesNothingHoweverItIsPrinted(text: String) throws {
        let result = try importing(["a.json": #"[{"x":\#(text)}]"#], "--type", "x:double", "--lossless")
        #expect(result.outputText.contains("rejected  0"), "\(result.outputText)")
        #expect(try importing(["b.json": #"[{"x":\#(text)}]"#], "--again").ending == .exit(0))
        #expect(try query("SELECT DISTINCT typeof(x) FROM t") == "real")
    }

    @Test func whatNamesNoSubentityIsCounted() throws {
        let model = try directory.write(
            """
            {"entities": {
              "t": {"abstract": true, "subentity": {"from": "kind", "values": {"p": "page"}}},
              "page": {"parent": "t", "attributes": {"u": {"type": "string"}},
                "subentity": {"from": "sub", "values": {"home": "home"}}},
              "home": {"parent": "page", "attributes": {"h": {"type": "integer64", "optional": true}}}}}
            """,
            to: "m.json"
        )
        let lines = [#"{"kind":"p","sub":"nowhere","u":"a"}"#, #"{"kind":"p","sub":"home","u":"b","h":1}"#]
        let result = try importing(["a.ndjson": lines.joined(separator: "\n") + "\n"], "--model", model)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try query("SELECT kind, attribute, count FROM _import_ledger") == "unknownKey|sub|1")
    }

    @Test func keysThatNoAttributeHasAreCounted() throws {
        let model = try directory.write(
            #"{"entities": {"t": {"attributes": {"id": {"type": "integer64"}}}}}"#,
            to: "m.json"
        )
        let result = try importing(
            ["a.json": #"{"g1":[{"id":1}],"g2":[{"id":2},{"id":"x"}]}"#],
            "--model",
            model,
            "--records",
            "$.*[*]"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(
            try query("SELECT kind, attribute, count FROM _import_ledger WHERE kind = 'unknownKey'")
                == "unknownKey|$key|2"
        )
    }

    @Test func theKeyThatHasATablesNameKeepsIt() throws {
        let record = #"{"id":1,"a":{"b":[{"x":1}]},"a_b":[{"x":2}]}"#
        let result = try importing(["a.json": "[\(record)]"], "--nested", "tables", "--identifier", "id")
        #expect(result.errorText.contains("a.b is the table t_a_b_2"), "\(result.errorText)")
        #expect(try query("SELECT (SELECT x FROM t_a_b), (SELECT x FROM t_a_b_2)") == "2|1")
    }

    private static let toOne = """
        {"entities": {
          "t": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"d": {"entity": "d", "inverse": "a", "deleteRule": "cascade"}}},
          "d": {"attributes": {"v": {"type": "integer64"}},
            "relationships": {"a": {"entity": "t", "inverse": "d", "from": []}}}}}
        """
    private static let toMany = """
        {"entities": {
          "t": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"}},
            "relationships": {"d": {"entity": "d", "toMany": true, "inverse": "a"}}},
          "d": {"identifier": ["v"], "attributes": {"v": {"type": "integer64"}},
            "relationships": {"a": {"entity": "t", "toMany": true, "inverse": "d", "from": []}}}}}
        """

    @Test(arguments: [
        (toOne, #"{"v":1}"#, "null", "d WHERE a_id = 1"), (toOne, #"{"v":1}"#, "absent", "d WHERE a_id = 1"),
        (toMany, #"[{"v":1}]"#, "[]", "t_d"), (toMany, #"[{"v":1}]"#, "absent", "t_d"),
    ])
    func whatADeletedObjectOwnedDoesNotComeBack(model: String, value: String, later: String, rows: String) throws {
        let model = try directory.write(model, to: "m.json")
        #expect(try importing(["a.json": #"[{"id":1,"d":\#(value)}]"#], "--model", model).ending == .exit(0))
        #expect(try query("SELECT count(*) FROM \(rows)") == "1")
        #expect(try run(["sqlite3", store, "DELETE FROM t WHERE id = 1"]).ending == .exit(0))
        let record = later == "absent" ? #"{"id":1}"# : #"{"id":1,"d":\#(later)}"#
        #expect(try importing(["b.json": "[\(record)]"], "--model", model).ending == .exit(0))
        #expect(try query("SELECT count(*) FROM \(rows)") == "0")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }
}
