import Foundation
import TestSupport
import Testing

/// How values, rows and columns are written is one question for all sources of an entity, and for all nights.
struct FormsOfSourcesTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    private func run(_ arguments: [String], ending: Int32 = 0) throws -> String {
        let result = try TestSupport.run([Project.importer] + arguments)
        #expect(result.ending == .exit(ending), "\(result.errorText)")
        return result.outputText + result.errorText
    }

    @discardableResult
    private func imported(_ files: [(name: String, text: String)], _ options: String..., ending: Int32 = 0) throws
        -> String
    {
        for (name, text) in files { try directory.write(text, to: name) }
        let names = files.map { directory.path($0.name) }
        return try run(["import"] + names + ["--into", store, "--progress", "none"] + options, ending: ending)
    }

    private func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }
    private func columns(_ table: String) throws -> String {
        try query("SELECT group_concat(name) FROM pragma_table_info('\(table)')")
    }

    // MARK: Values in wrappers

    /// One record is no evidence by itself; all sources of a kind are.
    @Test(arguments: [[], ["--entity", "s"]])
    func boxesAreOneFormForAKind(options: [String]) throws {
        let files = [
            ("s1.json", #"[{"id":[1],"n":["a"]},{"id":[2],"n":["b"]}]"#), ("s2.json", #"[{"id":[3],"n":["c"]}]"#),
            ("s3.json", #"[{"id":[4],"n":[null]}]"#),
        ]
        for (name, text) in files { try directory.write(text, to: name) }
        _ = try run(["import", directory.path("."), "--into", store, "--progress", "none"] + options)
        let table = try query(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_import*' AND name <> 'sqlite_sequence'"
        )
        #expect(try query("SELECT id, n FROM \"\(table)\" ORDER BY id") == "1|a\n2|b\n3|c\n4|")
    }

    @Test func eachFileOfOneRecordIsEvidenceForTheOthers() throws {
        try imported([("s1.json", #"{"id":[1],"n":["a"]}"#), ("s2.json", #"{"id":[2],"n":["b"]}"#)], "--entity", "t")
        #expect(try query("SELECT id, n FROM t ORDER BY id") == "1|a\n2|b")
    }

    /// One source with a longer list leaves all of them lists.
    @Test func listsOfAKindStayLists() throws {
        let files = [
            ("s1.json", #"[{"id":[1],"n":["a"]},{"id":[2],"n":["b"]}]"#), ("s2.json", #"[{"id":[3],"n":["c","d"]}]"#),
        ]
        try imported(files, "--entity", "t")
        #expect(
            try query("SELECT id, n FROM t ORDER BY id") == #"[1]|["a"]"# + "\n" + #"[2]|["b"]"# + "\n"
                + #"[3]|["c","d"]"#
        )
    }

    @Test func aTableGoesOnInTheFormThatItHas() throws {
        try imported([("s1.json", #"[{"id":[1],"n":["a"]},{"id":[2],"n":["b"]}]"#)], "--entity", "t")
        try imported([("s2.json", #"[{"id":[3],"n":["c"]}]"#)], "--entity", "t")
        #expect(try query("SELECT id, n FROM t ORDER BY id") == "1|a\n2|b\n3|c")
        try imported([("u1.json", #"[{"id":[1],"n":["a"]}]"#)], "--entity", "u")
        try imported([("u2.json", #"[{"id":[2],"n":["b"]},{"id":[3],"n":["c"]}]"#)], "--entity", "u")
        #expect(try query("SELECT id FROM u ORDER BY id") == "[1]\n[2]\n[3]")
    }

    @Test func oneTypedValueIsEvidenceBesideOthers() throws {
        let first = #"{"id":{"S":"a"},"n":{"N":"1"}}"# + "\n" + #"{"id":{"S":"b"},"n":{"N":"2"}}"# + "\n"
        try imported([
            ("item1.json", first), ("item2.json", #"{"id":{"S":"c"}}"#), ("item3.json", #"{"Item":{"id":{"S":"d"}}}"#),
        ])
        #expect(try query("SELECT id, n FROM item ORDER BY id") == "a|1\nb|2\nc|\nd|")
        try imported([("later.json", #"{"id":{"S":"e"}}"#)], "--entity", "item")
        #expect(try query("SELECT count(*), max(id) FROM item") == "5|e")
        #expect(try columns("item") == "id,n")
    }

    @Test func itemsOfAnyListAreDynamoDBs() throws {
        try imported([("t.json", #"{"Responses":{"t":[{"a":{"S":"x"},"b":{"N":"1"}},{"a":{"S":"y"},"b":{"N":"2"}}]}}"#)]
        )
        #expect(try query("SELECT a, b FROM t") == "x|1\ny|2")
    }

    @Test func shortColumnsFollowLongerOnes() throws {
        let files = [("item1.json", #"{"a":[1,2,3],"b":["x","y","z"]}"#), ("item2.json", #"{"a":[4],"b":["w"]}"#)]
        try imported(files)
        #expect(try query("SELECT a, b FROM item ORDER BY a") == "1|x\n2|y\n3|z\n4|w")
        try imported([("item3.json", #"{"a":[5,6],"b":["v","u"]}"#)], "--entity", "item")
        #expect(try query("SELECT count(*), sum(a) FROM item") == "6|21")
    }

    /// What pandas writes of no rows, and of one.
    @Test func aFrameMayHaveFewRows() throws {
        try imported([("item1.json", #"{"a":{"0":1,"1":2},"b":{"0":"x","1":"y"}}"#)], "--entity", "item")
        let files = [("item2.json", #"{"a":{},"b":{}}"#), ("item3.json", #"{"a":{"7":3},"b":{"7":"z"}}"#)]
        try imported(files, "--entity", "item")
        #expect(try query("SELECT group_concat(a || b) FROM (SELECT * FROM item ORDER BY a)") == "1x,2y,3z")
    }

    // MARK: Tables and lists

    /// Tables by name, whose rows have numbers (tinydb).
    @Test(arguments: [
        #"{"users":{"1":{"id":1,"n":"a"},"2":{"id":2,"n":"b"}},"orders":{"1":{"id":1,"sum":5},"2":{"id":2,"sum":7}}}"#,
        #"{"_default":{},"users":{"1":{"id":1,"n":"a"},"2":{"id":2,"n":"b"}},"orders":{"1":{"id":1,"sum":12}}}"#,
    ])
    func tablesWithEqualNumbersAreTables(text: String) throws {
        try imported([("db.json", text)])
        #expect(try query("SELECT key, id, n FROM users ORDER BY id") == "1|1|a\n2|2|b")
        #expect(try query("SELECT sum(sum) FROM orders") == "12")
    }

    @Test func numberedObjectsWithGapsAreLists() throws {
        let text = #"""
            [{"id":1,"l":[{"a":1},{"a":2}]},{"id":2,"l":{"0":{"a":3},"2":{"a":4}}},{"id":3,"l":{"1":{"a":5},"0":{"a":6}}}]
            """#
        try imported([("t.json", text)], "--nested", "tables", "--identifier", "id")
        #expect(try query("SELECT t_id, a FROM t_l ORDER BY t_id, t_position") == "1|1\n1|2\n2|3\n2|4\n3|5\n3|6")
        let mixed = #"[{"id":1,"l":[{"a":1}]},{"id":2,"l":{"a":5,"7":{"a":7}}}]"#
        try imported([("u.json", mixed)], "--nested", "tables", "--identifier", "id")
        #expect(try query("SELECT l FROM u ORDER BY id") == #"[{"a":1}]"# + "\n" + #"{"a":5,"7":{"a":7}}"#)
    }

    @Test func aRecordKeepsItsColumns() throws {
        try imported([("t.json", #"{"id":7,"samples":{"t":[1,2,3],"v":[4,5,6]}}"#)])
        #expect(try query("SELECT id, samples_t, samples_v FROM t") == "7|[1,2,3]|[4,5,6]")
        try imported([("u.json", #"{"zone":"GMT","hourly":{"t":[1,2,3],"v":[4,5,6]}}"#)])
        #expect(try query("SELECT t, v FROM u") == "1|4\n2|5\n3|6")
    }

    @Test(arguments: [
        #"{"columns":["id","n"],"data":[]}"#, #"{"columns":["id","n"],"index":[],"data":[]}"#,
        #"{"results":[{"series":[{"name":"cpu","columns":["time","v"],"values":[]}]}]}"#,
        #"{"columns":["id"],"types":["bigint"],"rows":[]}"#,
        #"{"head":{"vars":["s","n"]},"results":{"bindings":[]}}"#, #"{"columns":[0,1],"index":[],"data":[]}"#,
        #"{"meta":[{"name":"id","type":"Int64"}],"data":{"id":[]},"rows":0}"#,
    ])
    func noRowsAreNoRecord(text: String) throws {
        try imported([("t.json", text)])
        #expect(try query("SELECT count(*) FROM t") == "0")
    }

    @Test(arguments: [
        (#"{"id":[1,2,3],"l":[[1],[2,3],[]]}"#, "id,l", "1|[1]\n2|[2,3]\n3|[]"),
        (#"{"id":{"8":1},"n":{"8":"x"}}"#, "key,id,n", "8|1|x"),
        (#"{"id":{"2024-01-01":1},"n":{"2024-01-01":"x"}}"#, "key,id,n", "2024-01-01|1|x"),
        // Points, and records, are no columns.
        (
            #"{"name":"c","pose":{"r":[[1,0],[0,1],[1,1]],"t":[1,2,3]}}"#, "name,pose_r,pose_t",
            "c|[[1,0],[0,1],[1,1]]|[1,2,3]"
        ),
        (
            #"{"services":{"web":{"image":"n"},"db":{"image":"p"}},"volumes":{"v1":{},"v2":{}}}"#, "key,image",
            "web|n\ndb|p"
        ),
        // By one key, and of one kind, they are as well objects by key.
        (#"{"get":{"200":"ok"},"post":{"200":"made"}}"#, "key,200", "get|ok\npost|made"),
        // Records are none of the columns.
        (#"{"status":["a","b","c"],"codes":[1,2,3],"results":[{"id":1},{"id":2},{"id":3}]}"#, "id", "1\n2\n3"),
        (#"{"columns":[0,1],"index":[0,1],"data":[[1,"a"],[3,"b"]]}"#, "0,1", "1|a\n3|b"),
        // What is described are columns, however few there are.
        (
            #"{"meta":[{"name":"a","type":"Int64"},{"name":"b","type":"String"}],"data":{"a":[1],"b":["x"]},"rows":1}"#,
            "a,b", "1|x"
        ),
        (#"{"meta":[{"name":"a","type":"Int64"}],"data":{"a":[1,2]},"rows":2}"#, "a", "1\n2"),
        (#"{"meta":[{"name":"l","type":"Array"}],"data":{"l":[[1],[2]]},"rows":2}"#, "l", "[1]\n[2]"),
        // Two lists as long as each other by chance are no columns.
        (#"{"ids":[1,2],"rows":[{"a":1},{"a":2}]}"#, "a", "1\n2"),
    ])
    func framesAreRows(text: String, names: String, rows: String) throws {
        try imported([("t.json", text)])
        #expect(try columns("t") == names)
        #expect(try query("SELECT * FROM t ORDER BY rowid") == rows)
    }

    @Test(arguments: [
        (#"{"8":{"id":1,"n":"x"}}"#, "key,id,n", "8|1|x"),
        (
            #"{"columns":["n","m"],"index":[["a","x"],["b","y"]],"data":[[1,2],[3,4]]}"#, "key,n,m",
            "[\"a\",\"x\"]|1|2\n[\"b\",\"y\"]|3|4"
        ),
        (
            #"{"rows":[[1,"a"],[2,null]],"columns":["id","n"],"suggested_facets":[{"name":"n","type":"date"}]}"#,
            "id,n", "1|a\n2|"
        ),
    ])
    func keysAndNamesTellWhatRowsAre(text: String, names: String, rows: String) throws {
        try imported([("t.json", text)])
        #expect(try columns("t") == names)
        #expect(try query("SELECT * FROM t ORDER BY rowid") == rows)
    }

    /// A model says where records are, and other sources and nights how they are written.
    @Test func aModelReadsShortColumnsAsLongerOnes() throws {
        let attributes = #""id":{"type":"integer64"},"n":{"type":"string"}"#
        let model = try directory.write(
            "{\"entities\":{\"t\":{\"records\":\"$[*]\",\"attributes\":{\(attributes)}}}}",
            to: "m.json"
        )
        let files = [
            ("t1.json", #"{"id":[1,2,3],"n":["a","b","c"]}"#), ("t2.json", #"{"id":[4],"n":["d"]}"#),
        ]
        try imported(files, "--model", model)
        try imported([("t3.json", #"{"id":[5],"n":["e"]}"#)], "--model", model)
        #expect(try query("SELECT group_concat(id || n) FROM t") == "1a,2b,3c,4d,5e")
    }

    @Test(arguments: [false, true]) func oneLineWithARowIsARowWhereOthersAre(isTogether: Bool) throws {
        let (first, second) = (("t1.json", "[1,\"a\"]\n[2,\"b\"]\n"), ("t2.json", "[3,\"c\"]\n"))
        if isTogether {
            try imported([second, first], "--entity", "t")
        } else {
            for file in [first, second] { try imported([file], "--entity", "t") }
        }
        #expect(try query("SELECT column_1, column_2 FROM t ORDER BY 1") == "1|a\n2|b\n3|c")
    }

    @Test func recordsBesideDescribedListsStayRecords() throws {
        let text = #"{"fields":[{"id":"a"},{"id":"b"}],"options":{"a":["x"],"b":["v"]},"issues":[{"k":1},{"k":2}]}"#
        try imported([("t.json", text)])
        #expect(try query("SELECT group_concat(k) FROM issues") == "1,2")
        #expect(try query("SELECT group_concat(id) FROM fields") == "a,b")
    }

    @Test func fewColumnsAreNamed() throws {
        let output = try imported([("t.json", #"{"id":[1],"n":["a"]}"#)])
        #expect(output.contains("--shape columns"), "\(output)")
        try imported([("u.json", #"{"id":[1],"n":["a"]}"#)], "--shape", "columns")
        #expect(try query("SELECT id, n FROM u") == "1|a")
    }

    @Test func aHeaderRowAloneHasNoRows() throws {
        try imported([("t.json", #"["a","b"]"#)], "--header-row")
        #expect(try query("SELECT count(*) FROM t") == "0")
    }

    /// What reads the columns reads nothing of the document around them.
    @Test func aModelReadsRowsByTheirNames() throws {
        let attributes = #""id":{"type":"integer64","optional":true},"n":{"type":"string","optional":true}"#
        let model = try directory.write("{\"entities\":{\"t\":{\"attributes\":{\(attributes)}}}}", to: "m.json")
        let files = [
            ("t1.json", #"{"columns":["id","n"],"data":[]}"#), ("t2.json", #"{"columns":["id","n"],"data":[[1,"a"]]}"#),
        ]
        try imported(files, "--model", model)
        #expect(try query("SELECT id, n FROM t") == "1|a")
        let around = try directory.write(
            #"{"entities":{"u":{"attributes":{"columns":{"type":"json"}}}}}"#,
            to: "u.model.json"
        )
        try imported([("u.json", #"{"columns":["id","n"],"data":[[1,"a"]]}"#)], "--model", around)
        #expect(try query("SELECT columns FROM u") == #"["id","n"]"#)
    }

    @Test(arguments: [
        #"{"resultSetMetaData":{"rowType":[{"name":"id","type":"x"},{"name":"n","type":"y"}],"partitionInfo":[{"rowCount":2}]},"data":[["1","a"],["2",null]]}"#,
        #"{"results":[{"columns":[{"name":"ID","type":"x"},{"name":"N","type":"y"}],"items":[{"id":"1","n":"a"},{"id":"2"}]}]}"#,
    ])
    func rowsBesideDescriptionsAreTheRecords(text: String) throws {
        try imported([("t.json", text)])
        #expect(try query("SELECT id, n FROM t ORDER BY id") == "1|a\n2|")
    }

    /// The first page says what the columns are called, and has no rows yet.
    @Test func aPageOfColumnsAloneHasNoRecords() throws {
        let columns = #""columns":[{"name":"id","type":"bigint"},{"name":"n","type":"varchar"}]"#
        try imported(
            [("p1.json", "{\"id\":\"q\",\(columns)}"), ("p2.json", "{\"id\":\"q\",\(columns),\"data\":[[1,\"a\"]]}")],
            "--entity",
            "t"
        )
        #expect(try query("SELECT id, n FROM t") == "1|a")
    }

    /// Of several sources, some have few rows, or none.
    @Test(arguments: [
        [#"{"a":[1,2,3],"b":["x","y","z"]}"#, #"{"a":[],"b":[]}"#, #"{"a":[4],"b":["w"]}"#],
        [
            #"{"z":1,"h":{"a":[1,2,3],"b":["x","y","z"]}}"#, #"{"z":1,"h":{"a":[],"b":[]}}"#,
            #"{"z":1,"h":{"a":[4],"b":["w"]}}"#,
        ],
        [
            #"{"a":{},"b":{}}"#, #"{"a":{"0":1,"1":2,"2":3},"b":{"0":"x","1":"y","2":"z"}}"#,
            #"{"a":{"0":4},"b":{"0":"w"}}"#,
        ],
        [#"{"k":{"a":4,"b":"w"}}"#, #"{"l":{"a":1,"b":"x"},"m":{"a":2,"b":"y"},"n":{"a":3,"b":"z"}}"#, "{}"],
        [
            #"{"c":{"rowType":[{"name":"a","type":"x"},{"name":"b","type":"y"}],"parts":[{"n":0}]},"data":[]}"#,
            #"{"c":{"rowType":[{"name":"a","type":"x"},{"name":"b","type":"y"}],"parts":[{"n":4}]},"data":[[1,"x"],[2,"y"],[3,"z"],[4,"w"]]}"#,
        ],
        [
            #"{"q":1,"columns":[{"name":"a","type":"x"},{"name":"b","type":"y"}]}"#,
            #"{"q":1,"columns":[{"name":"a","type":"x"},{"name":"b","type":"y"}],"data":[[1,"x"],[2,"y"],[3,"z"],[4,"w"]]}"#,
        ],
        [
            "{\"k\":1}\t{\"a\":1,\"b\":\"x\"}\n",
            "{\"k\":2}\t{\"a\":2,\"b\":\"y\"}\n{}\t{\"a\":3,\"b\":\"z\"}\n{}\t{\"a\":4,\"b\":\"w\"}\n",
        ],
        [
            " j \n---\n {\"a\":1,\"b\":\"x\"}\n(1 row)\n",
            " j \n---\n {\"a\":2,\"b\":\"y\"}\n {\"a\":3,\"b\":\"z\"}\n {\"a\":4,\"b\":\"w\"}\n(3 rows)\n",
        ],
    ])
    func fewRowsAreReadAsMany(texts: [String]) throws {
        try imported(texts.enumerated().map { ("item\($0 + 1).json", $1) })
        #expect(try query("SELECT group_concat(a || b) FROM (SELECT * FROM item ORDER BY a)") == "1x,2y,3z,4w")
        #expect(
            try query("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '_import*'") == "1"
        )
    }

    /// XML's element that occurs once is no list.
    @Test func oneObjectIsAListOfOne() throws {
        let files = [("a1.json", #"{"r":{"row":[{"n":1},{"n":2}]}}"#), ("a2.json", #"{"r":{"row":{"n":3}}}"#)]
        try imported(files, "--entity", "t")
        try imported([("a3.json", #"{"r":{"row":{"n":4}}}"#)], "--entity", "t")
        #expect(try query("SELECT n FROM t ORDER BY n") == "1\n2\n3\n4")
        #expect(try columns("t") == "n")
    }

    // MARK: Lines

    @Test func theFirstLineMayBeANote() throws {
        for (index, note) in ["# note", "Starting …", "{\"a\":1,", "-- {"].enumerated() {
            try imported([("t\(index).ndjson", note + "\n{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n")], "--entity", "t")
        }
        #expect(try query("SELECT count(*), sum(a) FROM t") == "12|24")
        #expect(try query("SELECT count(*) FROM _import_reject") == "4")
    }

    @Test(arguments: ["name\n1\n2\n3\n", "Name\n\"x\"\n\"y\"\n\"z\"\n", "id,j\n1,\"{\"\"a\"\":1}\"\n"])
    func aHeadingIsRefused(text: String) throws {
        #expect(try imported([("t.json", text)], ending: 65).contains("is not JSON"))
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    /// psql counts its rows below them.
    @Test func aHeadAndAFootAreOutside() throws {
        try imported([("t.json", " row_to_json \n-------------\n {\"a\":1}\n {\"a\":2}\n(2 rows)\n\n")])
        #expect(try query("SELECT a FROM t") == "1\n2")
    }

    @Test func aKeyOfAMessageStaysWithItsValue() throws {
        try imported([("t.txt", "{\"k\":1}\t{\"id\":1}\n{\"k\":2}\t{\"id\":2}\n")], "--entity", "t")
        #expect(try query("SELECT line_prefix, id FROM t") == "{\"k\":1}|1\n{\"k\":2}|2")
    }

    @Test func aPrefixHasANameOfItsOwn() throws {
        try imported([("t.log", "X {\"a\":1}\nY {\"line_prefix\":\"q\",\"a\":2}\n")], "--entity", "t")
        #expect(try query("SELECT line_prefix_2, line_prefix, a FROM t") == "X||1\nY|q|2")
        try imported([("u.log", "X {\"time\":\"p\"}\nY {\"time\":\"q\"}\n")], "--entity", "u", "--prefix", "time")
        #expect(try query("SELECT time_2, time FROM u") == "X|p\nY|q")
    }

    // MARK: Kinds

    private let kinds = #"{"t":"a","x":1}"# + "\n" + #"{"t":"b","y":2}"# + "\n"

    @Test func aModelOfKindsImportsByItself() throws {
        try directory.write(kinds, to: "e.ndjson")
        let result = try TestSupport.run([Project.importer, "infer", directory.path("e.ndjson"), "--entity-by", "t"])
        try directory.write(result.outputText, to: "m.json")
        try imported([("e.ndjson", kinds)], "--model", directory.path("m.json"))
        #expect(try query("SELECT x FROM a") + query("SELECT y FROM b") == "12")
        let words = try run(["infer", directory.path("e.ndjson"), "--entity-by", "t,x"])
        #expect(words.contains("takes --entity-by t,x"), "\(words)")
    }

    @Test func kindsGrow() throws {
        try imported([("e.ndjson", kinds)], "--entity-by", "t")
        let more = kinds + #"{"t":"b","y":3}"# + "\n" + #"{"t":"c","z":4}"# + "\n{\"q\":5}\n"
        let said = try imported([("e.ndjson", more)], "--entity-by", "t")
        #expect(said.contains("has grown") && !said.contains("no records were"), "\(said)")
        let all =
            try query("SELECT count(*) FROM a") + query("SELECT sum(y) FROM b") + query("SELECT z FROM c")
            + query("SELECT q FROM other")
        #expect(all == "1545")
        #expect(try imported([("e.ndjson", more + "{\"q\":6}\n")], ending: 64).contains("--entity-by"))
    }

    /// What of a stream's beginning is not of the kind `other` need not be followed by anything that is.
    @Test(arguments: [1, 40_000]) func kindsOfAStreamAreFound(count: Int) throws {
        let file = try directory.write(String(repeating: kinds, count: count), to: "e.ndjson")
        let command = "'\(Project.importer)' import - --into '\(store)' --entity-by t --progress none < '\(file)'"
        let result = try TestSupport.run(["/bin/sh", "-c", command])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try query("SELECT count(*) FROM a") == "\(count)")
    }

    @Test func bulkLinesGrow() throws {
        let first = #"{"index":{"_index":"a"}}"# + "\n{\"n\":1}\n"
        try imported([("e.ndjson", first)])
        try imported([("e.ndjson", first + #"{"index":{"_index":"b"}}"# + "\n{\"m\":2}\n" + first)])
        #expect(try query("SELECT count(*) FROM a") + query("SELECT m FROM b") == "22")
    }
}
