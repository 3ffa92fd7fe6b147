import Foundation
import TestSupport
import Testing

/// What other programs write comes to the tables that a person wants, and is counted.
struct OtherWritersTests {
    private let directory: TemporaryDirectory
    private let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    @discardableResult
    private func imported(_ text: String, as name: String = "t.json", _ options: String..., ending: Int32 = 0) throws
        -> String
    {
        try directory.write(text, to: name)
        let command = [
            Project.importer, "import", directory.path(name), "--into", store, "--entity", "t", "--progress", "none",
        ]
        let result = try run(command + options)
        #expect(result.ending == .exit(ending), "\(result.errorText)")
        if ending == 0 { #expect(try run([Project.importer, "verify", store]).ending == .exit(0)) }
        return result.outputText + result.errorText
    }

    private func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }
    private func ledger(_ kind: String) throws -> String {
        try query("SELECT coalesce(attribute, ''), count FROM _import_ledger WHERE kind = '\(kind)' ORDER BY 1")
    }

    @Test func textsAmongNumbersAreNull() throws {
        try imported(#"[{"n":1.5,"s":"NaN"},{"n":"NaN","s":"x"},{"n":"-Infinity","s":"y"}]"#)
        #expect(try query("SELECT n, typeof(n), s FROM t") == "1.5|real|NaN\n|null|x\n|null|y")
        #expect(try ledger("notFinite") == "n|2")
        let strict = try imported(#"[{"n":1.5},{"n":"NaN"}]"#, as: "u.json", "--strict", "--type", "n:double")
        #expect(strict.contains("reject"), "\(strict)")
    }

    @Test func losslesslyTheyAreRejects() throws {
        try imported(#"[{"n":1.5},{"n":"NaN"}]"#, "--lossless")
        #expect(try query("SELECT count(*) FROM t") + query("SELECT count(*) FROM _import_reject") == "11")
    }

    @Test func textsForNothingLeaveAnObjectsColumns() throws {
        try imported(#"[{"o":{"x":"N/A"}},{"o":{"x":1}}]"#, "--null-text", "N/A")
        #expect(try query("SELECT o_x, typeof(o_x) FROM t") == "|null\n1|integer")
    }

    @Test func boxesMayBeMissing() throws {
        try imported(#"[{"id":[1],"n":["a"]},{"id":[2]}]"#)
        #expect(try query("SELECT id, n FROM t") == "1|a\n2|")
    }

    @Test func textsWithinParsedTextsAreParsed() throws {
        let inner = #"{\"Message\":\"{\\\"n\\\":1}\"}"#
        try imported("{\"body\":\"\(inner)\"}\n", as: "t.ndjson", "--parse", "body", "--parse", "body.Message")
        #expect(try query("SELECT body_Message_n FROM t") == "1")
    }

    @Test func detectedDatesLoseNoDigits() throws {
        let text =
            #"[{"a":"2024-01-02T03:04:05.123456Z","b":"2024-01-02T03:04:05.123Z"},{"a":"2024-01-02T03:04:05Z","b":"2024-01-02T03:04:05Z"}]"#
        try imported(text, "--detect-types")
        #expect(try query("SELECT a FROM t") == "2024-01-02T03:04:05.123456Z\n2024-01-02T03:04:05.000000Z")
        #expect(try query("SELECT b FROM t") == "2024-01-02T03:04:05.123Z\n2024-01-02T03:04:05.000Z")
    }

    @Test(arguments: [
        ([0x1D, 0, 0, 0, 7, 0x5F, 0x69, 0x64, 0] + [UInt8](repeating: 1, count: 19) + [0], "BSON"),
        ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1, 0, 0, 0, 0], "an Excel or Word document"),
        (Array("- id: 1\n  name: x\n- id: 2\n".utf8), "YAML"),
        (Array("-[ RECORD 1 ]-----\nid | 1\n-[ RECORD 2 ]-----\n".utf8), ""),
    ])
    func whatIsNoJSONIsNamedAndLeavesNothing(bytes: [UInt8], name: String) throws {
        try directory.write(Data(bytes), to: "t.json")
        let result = try run([Project.importer, "import", directory.path("t.json"), "--into", store])
        #expect(result.ending == .exit(65) && result.errorText.contains("it looks like \(name)") != name.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: store), "\(result.errorText)")
    }

    @Test func emptyContainersAreNothing() throws {
        try imported(#"[{"id":1,"o":{"a":1},"l":[{"x":1}]},{"id":2,"o":[],"l":{}}]"#, "--nested", "tables")
        #expect(try query("SELECT id, o_a FROM t ORDER BY id") == "1|1\n2|")
        #expect(try query("SELECT count(*) FROM t_l") == "1")
        #expect(try ledger("emptyContainer") == "l|1\no|1")
    }

    @Test func allWaysToWriteAListMakeOneTable() throws {
        let text = #"[{"i":{"k":"a","n":1}},{"i":[{"k":"b"}]},{"i":{"0":{"k":"d"},"1":{"k":"e"}}}]"#
        try imported(text, as: "t.json", "--nested", "tables")
        #expect(
            try query("SELECT group_concat(k || t_position), sum(n) FROM (SELECT * FROM t_i ORDER BY k)")
                == "a0,b0,d0,e1|1"
        )
        #expect(try query("SELECT count(*) FROM pragma_table_info('t_i')") == "4")
    }

    @Test func aMixOfListsAndSingleObjectsIsATable() throws {
        try imported(#"[{"i":{"k":"a","n":1}},{"i":[{"k":"b"},{"k":"c","m":1.5}]},{}]"#, "--nested", "tables")
        #expect(try query("SELECT k, n, m, t_position FROM t_i ORDER BY k") == "a|1||0\nb|||0\nc||1.5|1")
        #expect(try ledger("wrapped") == "i|1")
    }

    @Test func numberedObjectsAreLists() throws {
        try imported(#"[{"i":[{"k":"b"}]},{"i":{"0":{"k":"d"},"1":{"k":"e"}}}]"#, "--nested", "tables")
        #expect(try query("SELECT k, t_position FROM t_i ORDER BY k") == "b|0\nd|0\ne|1")
    }

    @Test func aTypeOfItsOwnKeepsAnObjectWhole() throws {
        let php = #"{"date":"2024-01-02 03:04:05.000000","timezone_type":3,"timezone":"Europe/Oslo"}"#
        try imported("[{\"at\":\(php),\"b\":{\"type\":\"Buffer\",\"data\":[97]}}]", "--type", "at:date")
        #expect(try query("SELECT \"at\", hex(b) FROM t") == "2024-01-02T02:04:05.000Z|61")
    }

    @Test func escapesOfNginxAreBytes() throws {
        let lines = (0..<30).map {
            "{\"n\":\($0),\"ua\":\"\($0 % 10 == 3 ? #"say \x22hi\x22 \xC3\xA9 \xE9"# : "plain")\",\"t\":-}\n"
        }
        try imported(lines.joined(), as: "access.log")
        #expect(try query("SELECT ua, t IS NULL FROM t WHERE n = 3") == "say \"hi\" é \u{FFFD}|1")
        #expect(try ledger("oddEscape") == "|15")
    }

    @Test func linesWithTextBeforeTheirObject() throws {
        let text = "2024-01-02 a {\"n\":1}\n2024-01-03 b {\"n\":2}\nno object\n2024-01-04 c {\"n\":\"x\"}\n"
        let output = try imported(text, as: "t.log", "--type", "n:integer64")
        #expect(output.contains("line_prefix"))
        #expect(try query("SELECT n, line_prefix FROM t") == "1|2024-01-02 a\n2|2024-01-03 b")
        #expect(
            try query("SELECT CAST(record AS TEXT) FROM _import_reject ORDER BY ordinal")
                == "no object\n{\"line_prefix\":\"2024-01-04 c\",\"n\":\"x\"}"
        )
        #expect(try ledger("reshaped") == "prefix|1")
    }

    @Test func textAroundValuesIsOutside() throws {
        try imported("event: x\ndata: {\"n\":1}\n\ndata: {\"n\":2}\n\ndata: [DONE]\n\n", as: "t.sse")
        #expect(try query("SELECT n FROM t") == "1\n2")
        #expect(try ledger("outside") == "$|2")
    }

    /// Of a document that is longer than what is looked at first.
    @Test func longColumnsAreTurned() throws {
        let count = 200_000
        let numbers = (0..<count).map(String.init).joined(separator: ",")
        try imported("{\"id\":[\(numbers)],\"n\":[\(numbers)]}")
        #expect(try query("SELECT count(*), sum(id = n), max(id) FROM t") == "\(count)|\(count)|\(count - 1)")
        let refused = try imported(
            "{\"id\":[\(numbers)],\"n\":[\(numbers)]}",
            as: "u.json",
            "--max-record-bytes",
            "1M",
            ending: 64
        )
        #expect(refused.contains("--max-record-bytes") && refused.contains("--shape records"), "\(refused)")
    }

    @Test func rowsBeforeTheirNamesAreRows() throws {
        let rows = (0..<100_000).map { "[\($0),\"x\"]" }.joined(separator: ",\n")
        let output = try imported("{\"data\":[\(rows)],\"columns\":[{\"name\":\"id\"},{\"name\":\"s\"}]}")
        #expect(try query("SELECT count(*), max(id), min(s) FROM t") == "100000|99999|x", "\(output)")
    }

    @Test func describedColumnsAreNoRecords() throws {
        try imported(#"{"meta":[{"name":"id","type":"Int"}],"data":[{"id":1},{"id":2}]}"#)
        #expect(try query("SELECT id FROM t") == "1\n2")
    }

    @Test func aNightWithoutRowsAddsNothing() throws {
        try imported(#"{"meta":[{"name":"id","type":"Int"}],"data":[[1]]}"#, as: "a.json")
        try imported(#"{"meta":[{"name":"id","type":"Int"}],"data":[]}"#, as: "b.json")
        #expect(try query("SELECT group_concat(name), (SELECT count(*) FROM t) FROM pragma_table_info('t')") == "id|1")
    }

    /// A line that its writer has not finished is none yet, and what follows is imported when it is.
    @Test func textBeforeObjectsMayGrow() throws {
        let source = directory.path("t.log.ndjson")
        try directory.write("u {\"a\":1}\nw {\"a\":2}\nv {\"a\"", to: "t.log.ndjson")
        let command = [Project.importer, "import", source, "--into", store, "--entity", "t", "--progress", "none"]
        #expect(try run(command).ending == .exit(65))
        try directory.write("u {\"a\":1}\nw {\"a\":2}\nv {\"a\":3}\n", to: "t.log.ndjson")
        #expect(try run(command).ending == .exit(0))
        try directory.write("u {\"a\":1}\nw {\"a\":2}\nv {\"a\":3}\nx {\"a\":4}\n", to: "t.log.ndjson")
        let grown = try run(command)
        #expect(grown.ending == .exit(0) && grown.errorText.contains("has grown"), "\(grown.errorText)")
        #expect(try query("SELECT group_concat(line_prefix || a, ' ') FROM t") == "u1 w2 v3 x4")
    }

    @Test func aPipeIsRewrittenToo() throws {
        try directory.write(#"{"id":[1,2,3],"n":[3,4,5]}"#, to: "t.json")
        let command =
            "cat '\(directory.path("t.json"))' | '\(Project.importer)' import - --into '\(store)' --entity t --progress none"
        let result = try run(["/bin/sh", "-c", command])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try query("SELECT id, n FROM t") == "1|3\n2|4\n3|5")
    }

    /// An inferred model that was printed imports the same.
    @Test(arguments: [
        ("t.json", #"{"columns":["id","s"],"data":[[1,"x"],[2,"y"]]}"#), ("t.json", #"{"id":[1,2],"s":["x","y"]}"#),
        ("t.json", #"{"meta":[{"name":"id"},{"name":"s"}],"data":{"id":[1,2],"s":["x","y"]}}"#),
        ("t.json", #"{"Items":[{"id":{"N":"1"},"s":{"S":"x"}},{"id":{"N":"2"},"s":{"S":"y"}}]}"#),
        (
            "t.ndjson",
            "{\"Item\":{\"id\":{\"N\":\"1\"},\"s\":{\"S\":\"x\"}}}\n{\"Item\":{\"id\":{\"N\":\"2\"},\"s\":{\"S\":\"y\"}}}\n"
        ),
        ("t.json", #"[{"id":[1],"s":["x"]},{"id":[2],"s":["y"]}]"#),
        ("t", "a {\"id\":1,\"s\":\"x\"}\nb {\"id\":2,\"s\":\"y\"}\n"),
        ("t", "data: {\"id\":1,\"s\":\"x\"}\n\ndata: {\"id\":2,\"s\":\"y\"}\n\n"),
        ("t", "one\n{\n\"id\":1,\n\"s\":\"x\"}\n{\n\"id\":2,\"s\":\n\"y\"}\n"),
        (
            "t.ndjson",
            "{\"index\":{\"_index\":\"t\"}}\n{\"id\":1,\"s\":\"x\"}\n{\"index\":{\"_index\":\"t\"}}\n{\"id\":2,\"s\":\"y\"}\n"
        ),
    ])
    func aPrintedModelImportsTheSame(name: String, text: String) throws {
        try directory.write(text, to: name)
        let printed = try run([Project.importer, "infer", directory.path(name), "--quiet"])
        #expect(printed.ending == .exit(0), "\(printed.errorText)")
        try directory.write(printed.outputText, to: "m.json")
        let command = [
            Project.importer, "import", directory.path(name), "--into", store, "--model", directory.path("m.json"),
        ]
        let result = try run(command + ["--progress", "none"])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(
            try query("SELECT id, s FROM t ORDER BY id") == "1|x\n2|y",
            "\(printed.outputText) \(result.outputText)"
        )
        let sum = "SELECT coalesce(sum(count), 0) FROM _import_ledger WHERE kind = 'unknownKey'"
        #expect(try query(sum) == "0")
    }
}
