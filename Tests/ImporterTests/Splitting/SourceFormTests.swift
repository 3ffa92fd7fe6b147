import ImportModel
import Testing

@testable import ImportSources

/// What sources are rewritten to whose tables are not written as records, or that have text around JSON.
struct SourceFormTests {
    private func look(_ text: String, _ asked: FormHints = FormHints(), isStrict: Bool = false) -> FoundForm? {
        var hints = ShapeDetector.Hints()
        (hints.takesAll, hints.isStrict) = (true, isStrict)
        return ShapeDetector(Array(text.utf8), isWhole: true, hints: hints).form(of: Array(text.utf8), asked)
    }

    /// The text of a form, read in blocks and written in blocks of a few bytes.
    private func rewritten(_ text: String, _ form: SourceForm, by size: Int) throws -> String {
        let stream = RewrittenStream(Bytes(Array(text.utf8), size), as: form, name: "t")
        var (block, output) = ([UInt8](repeating: 0, count: size), [UInt8]())
        while case let count = try stream.read(into: &block), count > 0 { output += block[..<count] }
        return String(decoding: output, as: UTF8.self)
    }

    private final class Bytes: ByteStream {
        private var rest: ArraySlice<UInt8>
        private let size: Int
        init(_ bytes: [UInt8], _ size: Int) { (rest, self.size) = (bytes[...], size) }
        func read(into block: inout [UInt8]) -> Int {
            let count = block.overwrite(with: rest.prefix(size))
            rest = rest.dropFirst(count)
            return count
        }
    }

    @Test(arguments: [
        (
            #"{"columns":["a","b"],"index":[0,1],"data":[[1,"x"],[2,null]]}"#, "rows", "$.data[*]",
            #"{"columns":["a","b"],"index":[0,1],"data":[{"a":1,"b":"x"},{"a":2,"b":null}]}"#
        ),
        (
            #"{"columns":["a"],"index":["]\"",3 , null],"data":[[1],[2],[3],[4]]}"#, "rows", "$.data[*]",
            #"{"columns":["a"],"index":["]\"",3 , null],"data":[{"key":"]\"","a":1},{"key":3,"a":2},{"key":null,"a":3},{"key":null,"a":4}]}"#
        ),
        (
            #"{"rows":[[1,[2]]],"meta":[{"name":"a","type":"x"},{"name":"b","type":"y"}]}"#, "rows", "$.rows[*]",
            #"{"rows":[{"a":1,"b":[2]}],"meta":[{"name":"a","type":"x"},{"name":"b","type":"y"}]}"#
        ),
        (
            #"{"cols":[{"id":"","label":"A"},{"id":"","label":"B"}],"rows":[{"c":[{"v":1,"f":"1"},null]},{"c":[{"v":"]"},{}]}]}"#,
            "rows", "$.rows[*]",
            #"{"cols":[{"id":"","label":"A"},{"id":"","label":"B"}],"rows":[{"A":1,"B":null},{"A":"]","B":null}]}"#
        ),
        (
            #"{"schema":{"fields":[{"name":"a"}]},"rows":[{"f":[{"v":"1"}]}]}"#, "rows", "$.rows[*]",
            #"{"schema":{"fields":[{"name":"a"}]},"rows":[{"a":"1"}]}"#
        ),
        (
            #"{"results":[{"series":[{"columns":["t","v"],"values":[["x",1]]}]}]}"#, "rows",
            "$.results[*].series[*].values[*]",
            #"{"results":[{"series":[{"columns":["t","v"],"values":[{"t":"x","v":1}]}]}]}"#
        ),
        (
            #"{"a": [1, 2], "b" : ["x",[3]], "c":[3,4]}"#, "columns", "$[*]",
            "[{\"a\":1,\"b\":\"x\",\"c\":3},\n{\"a\":2,\"b\":[3],\"c\":4}]"
        ),
        (
            #"{"u":{"a":"C"},"hourly":{"t":["1","2"],"v":[2.5,3]},"n":1}"#, "columns", "$.hourly[*]",
            "{\"u\":{\"a\":\"C\"},\"hourly\":[{\"t\":\"1\",\"v\":2.5},\n{\"t\":\"2\",\"v\":3}],\"n\":1}"
        ),
        (
            #"{"a":{"0":1,"1":2},"b":{"0":"x","1":null}}"#, "columns", "$[*]",
            "[{\"a\":1,\"b\":\"x\"},\n{\"a\":2,\"b\":null}]"
        ),
        (
            #"{"a":{"2024-01-01":1,"2024-01-02":2},"b":{"2024-01-01":3,"2024-01-02":4}}"#, "columns", "$[*]",
            "[{\"key\":\"2024-01-01\",\"a\":1,\"b\":3},\n{\"key\":\"2024-01-02\",\"a\":2,\"b\":4}]"
        ),
        (
            "t1 info {\"a\":{\"b\":1}}\n\nt2 {x} {}\r\nnone\n", "prefix", "$",
            "{\"line_prefix\":\"t1 info\",\"a\":{\"b\":1}}\n\n{\"line_prefix\":\"t2 {x}\"}\nnone\n"
        ),
        (
            "event: x\ndata: {\"a\":1}\n\n: c\ndata: {\ndata: \"a\":2}\n\ndata: [DONE]\n", "events", "$[*]",
            "\"event: x\"\n[{\"a\":1}]\n\": c\"\n[{ \"a\":2}]\n\"[DONE]\"\n"
        ),
        (
            "data: {\"a\":1}\ndata: {\"a\":2}\ndata: {\ndata: }\n", "events", "$[*]",
            "[{\"a\":1}]\n[{\"a\":2}]\n[{ }]\n"
        ),
        (
            "X {\"line_prefix\":1}\nY {}\n", "prefix", "$",
            "{\"line_prefix_2\":\"X\",\"line_prefix\":1}\n{\"line_prefix_2\":\"Y\"}\n"
        ),
        (
            "{\"k\":1}\t{\"a\":1}\n{}\t{}\n", "prefix", "$",
            "{\"line_prefix\":\"{\\\"k\\\":1}\",\"a\":1}\n{\"line_prefix\":\"{}\"}\n"
        ),
        ("note: x\n{\"jobs\":[{\"a\":1}]}\n", "notes", "$.jobs[*]", "\"note: x\"\n\n{\"jobs\":[{\"a\":1}]}\n"),
        (
            "Record 1\n{\n\"a\":1\n}\nRecord 2\n{\n\"a\":\"}\"\n}\n", "notes", "$[*]",
            "\"Record 1\"\n\n[{\n\"a\":1\n}]\n\"Record 2\"\n\n[{\n\"a\":\"}\"\n}]\n"
        ),
        (
            #"{"Item":{"a":{"S":"x"},"m":{"M":{"N":{"N":"1.50"}}},"l":{"L":[{"NULL":true},{"NS":["1"]}]}}}"# + "\n"
                + #"{"Item":{"a":{"BOOL":true}}}"#, "dynamoDB", "$",
            #"{"a":"x","m":{"N":1.50},"l":[null,[1]]}"# + "\n" + #"{"a":true}"#
        ),
        (#"[{"a":[1],"b":["x"]},{"a":[2],"b":["]"]}]"#, "boxes", "$[*]", #"[{"a":1,"b":"x"},{"a":2,"b":"]"}]"#),
    ])
    func isFoundAndRewritten(text: String, kind: String, path: String, expected: String) throws {
        let found = try #require(look(text))
        #expect(found.form.kind.rawValue == kind)
        guard case .found(_, let paths, _) = found.detection else {
            Issue.record("\(found.detection)")
            return
        }
        #expect(paths.map(\.description) == [path])
        for size in [1, 2, 3, 7, 64, 4_096] {
            #expect(try rewritten(text, found.form, by: size) == expected, "\(size)")
        }
    }

    /// What is read as it is written.
    @Test(arguments: [
        #"{"a":1,"b":[1,2]}"#, #"{"a":[1,2],"b":[1]}"#, #"{"a":[{"x":1}],"b":[{"x":1}]}"#, #"{"a":[],"b":[]}"#,
        #"{"1":{"a":1},"2":{"a":2}}"#, #"{"a":{"x":1,"y":2},"b":{"x":1,"y":2}}"#, #"{"a":{"1":1,"2":2}}"#,
        #"{"tags":["a","b"],"points":[[1,2],[3,4]]}"#, #"{"columns":["a","b"],"data":[[1,2],[3]]}"#,
        #"{"columns":["a","a"],"data":[[1,2]]}"#, #"{"items":[{"a":1}],"x":[1]}"#, "[[1,2],[3,4]]", "",
        "{\"a\":1}\n{\"a\":2}\n", "x = {\"a\":1};", "a,b\n1,{\n", "<p>\n{\"a\":1}\n</p>\n<p>\n",
        "INSERT INTO t VALUES (1);\n",
        #"{"Item":{"a":{"S":1}}}"#, #"{"a":{"S":"x"},"b":1}"#, #"[{"a":[1]},{"a":[1,2]}]"#, #"[{"a":[1]}]"#,
        #"[{"a":[{}]},{"a":[1]}]"#,
        #"{"Item":{"a":{"S":"x"},"m":{"M":{"k":"v"}}}}"#, #"{"Item":{"a":{"L":[{"S":"x"},1]}}}"#,
        #"{"Item":{"a":{"NS":["x"]},"b":{"N":"x"}}}"#,
        #"{"a":{"1":{"x":1},"2":{"x":2}},"b":{"1":{"x":3},"2":{"x":4}}}"#,
        #"{"id":1,"h":{"t":[1,2,3],"v":[4,5,6]}}"#, "{\"a\":1} {\"b\":1}\n{\"a\":2}\t[1]\n",
        "log\nlog\n{\"a\":1}\nlog\nlog\nlog\nlog\n",
        "2024-01-01 a {x}\n2024-01-01 b {y}\n", "# T\n\n```\n{\"a\":1}\n```\n",
        "data: 1\n\n", "[INFO] x\n[INFO] y\n",
    ])
    func isLeftAsItIs(text: String) {
        #expect(look(text) == nil)
    }

    @Test func isAsked() throws {
        var asked = FormHints()
        asked.shape = .records
        #expect(look(#"{"a":[1,2],"b":[3,4]}"#, asked) == nil)
        asked.shape = .rows
        #expect(look(#"{"tags":["a","b"],"points":[[1,2],[3,4]]}"#, asked)?.form.names == ["a", "b"])
        asked = FormHints()
        asked.prefix = ["time", "level"]
        let lines = "1\tx y\t{\"a\":1}\n2\tz\t{}\n3\t{\"a\":2}\n"
        let form = try #require(look(lines, asked)).form
        let expected =
            "{\"time\":\"1\",\"level\":\"x y\",\"a\":1}\n{\"time\":\"2\",\"level\":\"z\"}\n{\"time\":\"3\",\"a\":2}\n"
        #expect(try rewritten(lines, form, by: 5) == expected)
        asked.prefix = ["none"]
        #expect(try rewritten("x {\"a\":1}\n", #require(look("x {\"a\":1}\n", asked)).form, by: 9) == "{\"a\":1}\n")
        #expect(look("x {\"a\":1}\n", isStrict: true) == nil)
    }

    @Test func columnsThatAreNotAlikeAreRefused() throws {
        var form = SourceForm(.columns, path: .root, maxBytes: 1_000)
        #expect(throws: ImportError.self) { try rewritten(#"{"a":[1,2],"b":[1]}"#, form, by: 4) }
        form.maxBytes = 8
        #expect(throws: ImportError.self) { try rewritten(#"{"a":[1,2],"b":[1,2]}"#, form, by: 4) }
    }

    @Test func aRowThatIsTooLongStaysAsItIs() throws {
        let form = SourceForm(.rows, path: RecordPath(steps: [.anyElement]), names: ["a"], maxBytes: 5)
        let expected = #"[{"a":1},[12345],{"a":2,"column_2":3}]"#
        #expect(try rewritten("[[1],[12345],[2,3]]", form, by: 3) == expected)
    }
}
