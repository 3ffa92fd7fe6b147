import Foundation
import TestSupport
import Testing

/// What an import makes of texts that hold more, of several kinds in one stream, and of folders that are called NAME=VALUE.
struct MoreInRecordsTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    @discardableResult
    private func imported(_ files: [(name: String, text: String)], _ options: String...) throws -> String {
        for (name, text) in files {
            let folder = URL(filePath: directory.path(name)).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try directory.write(text, to: name)
        }
        let command =
            [Project.importer, "import"] + files.map { directory.path($0.name) } + [
                "--into", store, "--progress", "none",
            ]
        let result = try run(command + options)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try run([Project.importer, "verify", store]).ending == .exit(0))
        return result.outputText + result.errorText
    }

    private func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }
    private func ledger(_ kind: String) throws -> String {
        try query("SELECT coalesce(attribute, ''), count FROM _import_ledger WHERE kind = '\(kind)' ORDER BY 1")
    }

    @Test func textsOfJSONAreTakenApart() throws {
        let text =
            #"{"id":1,"log":"{\"a\":1,\n\"b\":[\"x\"]}","d":{"t":"2"}}"# + "\n"
            + #"{"id":2,"log":"plain","d":{"t":"{"}}"# + "\n{\n"
            + #"{"id":3,"log":"{\"a\":2}"}"# + "\n"
        let first = try imported([("t.ndjson", text)], "--parse", "log", "--parse", "d.t")
        #expect(
            try query("SELECT id, log, d_t FROM t ORDER BY id")
                == "1|{\"a\":1,\"b\":[\"x\"]}|2\n2|\"plain\"|{\n3|{\"a\":2}|",
            "\(first)"
        )
        #expect(try query("SELECT count(*) FROM _import_reject") == "1")
    }

    @Test func allTextsOfJSONAreFlattened() throws {
        let text = #"[{"log":"{\"a\":1,\"o\":{\"b\":\"x\"}}"},{"log":"{\"a\":2}"}]"#
        let proposed = try imported([("u.json", text)])
        #expect(proposed.contains("all strings are objects of JSON") && proposed.contains("--parse log"), "\(proposed)")
        try imported([("t.json", text)], "--parse", "log")
        #expect(try query("SELECT log_a, log_o_b FROM t") == "1|x\n2|")
    }

    @Test func textsForNothingAreNull() throws {
        let text = #"[{"n":1.5,"s":"NA"},{"n":"NA","s":"x"},{"n":"N\u0041","s":"-"}]"#
        try imported([("t.json", text)], "--null-text", "n=NA", "--null-text", "-")
        #expect(try query("SELECT n, typeof(n), s FROM t") == "1.5|real|NA\n|null|x\n|null|")
        #expect(try ledger("nullText") == "n|2\ns|1")
    }

    /// A name means the same to what looks for types and to what reads values.
    @Test(arguments: ["o.n", "o_n"]) func textsOfNestedAttributesAreNull(name: String) throws {
        let text = #"[{"o":{"n":1,"s":2}},{"o":{"n":"NA","s":"NA"}}]"#
        try imported([("t.json", text)], "--null-text", "\(name)=NA")
        #expect(try query("SELECT o_n, typeof(o_n), o_s FROM t") == "1|integer|2\n|null|NA")
    }

    @Test func textsOfChildrenAreNullByTheirOwnNames() throws {
        let text = #"[{"id":1,"lines":[{"n":1},{"n":"NA"}]},{"id":2,"lines":[{"n":3}]}]"#
        try imported([("t.json", text)], "--null-text", "n=NA", "--nested", "tables")
        #expect(try query("SELECT n, typeof(n) FROM t_lines ORDER BY rowid") == "1|integer\n|null\n3|integer")
    }

    @Test func textsHaveTheTypesOfWhatTheySpell() throws {
        let text = #"""
            [{"i":"1","d":"1.5","x":"1.50","z":"007","b":"true","t":"2024-01-02","m":"a","e":"12345678901234567890.5"},
             {"i":"-2","d":"3","x":"1","z":"8","b":"false","t":"2024-01-03","m":"1","e":null}]
            """#
        try imported([("t.json", text)], "--detect-types")
        #expect(
            try query("SELECT i, d, x, z, b, t, m, e FROM t")
                == "1|1.5|1.50|007|1|2024-01-02T00:00:00.000Z|a|12345678901234567890.5\n-2|3.0|1|8|0|2024-01-03T00:00:00.000Z|1|"
        )
        #expect(
            try query("SELECT typeof(i), typeof(d), typeof(x), typeof(z), typeof(b), typeof(e) FROM t LIMIT 1")
                == "integer|real|text|text|integer|text"
        )
    }

    @Test func aValueSaysOfWhichEntityARecordIs() throws {
        let text =
            #"{"t":"a","x":1}"# + "\n" + #"{"t":"b","y":{"z":2}}"# + "\n" + #"{"t":"a","x":2}"# + "\n" + #"{"q":5}"#
            + "\n{oops\n"
        try imported([("s.ndjson", text)], "--entity-by", "t")
        #expect(try query("SELECT x FROM a") == "1\n2")
        #expect(try query("SELECT y_z FROM b") == "2")
        #expect(try query("SELECT q FROM other") == "5")
        try imported(
            [("r.json", #"{"e":[{"t":"c","k":"x","n":1},{"t":"c","n":2},{"t":"d","k":5,"n":3}]}"#)],
            "--entity-by",
            "t,k"
        )
        #expect(try query("SELECT (SELECT n FROM c_x), (SELECT n FROM c), (SELECT n FROM d_5)") == "1|2|3")
    }

    /// A notice is true: these texts are arrays of PostgreSQL, or objects with anything in them.
    @Test(arguments: [
        (#"{1,2}"#, false), (#"{\"a b\",c}"#, false), (#"{x}"#, false), (#"{}"#, true), (#"{ \n \"a\" : 1}"#, true),
        (#"{\"\\\"\\\\\\n\":1}"#, true),
    ])
    func textsAreSaidToBeObjectsWhereTheyAre(text: String, isObject: Bool) throws {
        let said = try imported([("t.json", "[{\"p\":\"\(text)\"}]")])
        #expect(said.contains("objects of JSON") == isObject, "\(said)")
    }

    @Test func aKeyOfKindsIsProposed() throws {
        let kinds = #"{"type":"user","id":1,"name":"a"}"# + "\n" + #"{"type":"order","no":7,"sum":1}"# + "\n"
        #expect(try imported([("k.ndjson", kinds + kinds)]).contains("--entity-by type"))
        let plain = #"{"type":"user","id":1,"name":"a"}"# + "\n" + #"{"type":"order","id":7,"name":"b"}"# + "\n"
        #expect(try !imported([("p.ndjson", plain + plain)]).contains("--entity-by"))
        let lists = kinds.replacing("user", with: "new,checked").replacing("order", with: "new")
        #expect(try !imported([("l.ndjson", lists + lists)]).contains("--entity-by"), "lists of words are no kinds")
    }

    @Test func foldersOfKindsGiveTheirValuesOnce() throws {
        let text = #"{"t":"aaa","q":1}"# + "\n" + #"{"t":"bbb","r":1}"# + "\n"
        try imported([("y=1/x.json", text), ("y=2/x.json", text)], "--entity-by", "t")
        #expect(try query("SELECT group_concat(y) FROM aaa") + query("SELECT group_concat(y) FROM bbb") == "1,21,2")
        #expect(try ledger("duplicateKey") == "")
    }

    private func model(_ subentity: String, _ entities: String) throws -> String {
        let root = #""record":{"records":"$","abstract":true,"attributes":{},"subentity":\#(subentity)}"#
        return try directory.write("{\"entities\":{\(root),\(entities)}}", to: "m.json")
    }

    @Test func aNullLeavesRecordsOut() throws {
        let model = try model(
            #"{"from":"type","values":{"RECORD":"user","SCHEMA":null,"STATE":null}}"#,
            #""user":{"parent":"record","identifier":["id"],"attributes":{"id":{"type":"integer64"}}}"#
        )
        let text =
            #"{"type":"SCHEMA","id":"x"}"# + "\n" + #"{"type":"RECORD","id":1}"# + "\n" + #"{"type":"STATE"}"# + "\n"
            + #"{"type":"SCHEMA"}"# + "\n" + #"{"type":"RECORD","id":2}"# + "\n" + #"{"type":"NEW"}"# + "\n"
        try imported([("s.jsonl", text)], "--model", model, "--commit-every", "1")
        #expect(try query("SELECT group_concat(id) FROM user") == "1,2")
        #expect(try ledger("leftOut") == "type|3")
        #expect(try query("SELECT count(*) FROM _import_reject") == "1")
    }

    @Test func aKeySaysOfWhichEntityARecordIs() throws {
        let model = try model(
            #"{"from":"*","values":{"Created":"created","Gone":"gone","Ping":null}}"#,
            #"""
            "created":{"parent":"record","attributes":{"id":{"type":"integer64","from":"Created.id"}}},
            "gone":{"parent":"record","attributes":{"why":{"type":"string","from":"Gone"}}}
            """#
        )
        let text =
            #"{"Created":{"id":5}}"# + "\n" + #"{"Gone":"late"}"# + "\n" + #"{"Ping":1}"# + "\n" + #"{"Other":1}"#
            + "\n"
        try imported([("e.ndjson", text)], "--model", model)
        #expect(try query("SELECT id FROM created") + query("SELECT why FROM gone") == "5late")
        #expect(try ledger("leftOut") == "*|1")
        #expect(try query("SELECT count(*) FROM _import_reject") == "1")
    }

    @Test func bulkLinesAreDocuments() throws {
        let text = #"""
            {"index":{"_index":"people","_id":"1"}}
            {"name":"Ann"}
            {"delete":{"_index":"people","_id":"9"}}
            {"create":{"_index":"towns","_id":2}}
            {}
            {"update":{"_index":"people","_id":"1"}}
            {"doc":{"age":5}}

            """#
        try imported([("b.ndjson", text)])
        #expect(try query("SELECT _id, name, age FROM people ORDER BY rowid") == "1|Ann|\n1||5")
        #expect(try query("SELECT _index, _id FROM towns") == "towns|2")
        #expect(try ledger("outside") == "$|1")
    }

    @Test func foldersNameAttributes() throws {
        try imported(
            [
                ("out/y=2024/c=a%20b/1.ndjson", "{\"n\":1}\n"),
                ("out/y=2025/c=__HIVE_DEFAULT_PARTITION__/1.ndjson", "{\"n\":2}\n"),
            ],
            "--entity",
            "t"
        )
        #expect(try query("SELECT n, y, c FROM t ORDER BY n") == "1|2024|a b\n2|2025|")
    }

    @Test func recordsThatHaveTheKeyKeepTheirOwn() throws {
        try imported([("y=1/t.json", "[{\"y\":5}]")])
        #expect(try query("SELECT y FROM t") == "5")
    }
}
