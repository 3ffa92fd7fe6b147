import Foundation
import TestSupport
import Testing

/// Bad input gets a documented exit code and a message that says where, and what was imported before stays whole.
struct BadInputTests {
    /// A source with a fault, and what must come of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let source: Data
        var fileName = "source.json"
        var options: [String] = []
        var model: String?
        let code: Int32
        /// Records that are in the store afterwards; nil where there may be none.
        var rows: Int?
        var rejects = 0
        /// Words of which the message must contain one, in any case; none where nothing need be said.
        var words: [String] = []

        var testDescription: String { name }

        init(
            _ name: String,
            _ source: String,
            fileName: String = "source.json",
            options: [String] = [],
            model: String? = nil,
            code: Int32,
            rows: Int? = nil,
            rejects: Int = 0,
            words: [String] = []
        ) {
            self.init(
                name,
                bytes: Array(source.utf8),
                fileName: fileName,
                options: options,
                model: model,
                code: code,
                rows: rows,
                rejects: rejects,
                words: words
            )
        }

        init(
            _ name: String,
            bytes: [UInt8],
            fileName: String = "source.json",
            options: [String] = [],
            model: String? = nil,
            code: Int32,
            rows: Int? = nil,
            rejects: Int = 0,
            words: [String] = []
        ) {
            self.name = name
            source = Data(bytes)
            self.fileName = fileName
            self.options = options
            self.model = model
            self.code = code
            self.rows = rows
            self.rejects = rejects
            self.words = words
        }
    }

    static let place = ["line", "byte", "offset"]
    static let one = #"{"a":1},"#
    static let integerModel = """
        {"entities": {"T": {"attributes": {"a": {"type": "integer64", "optional": true}}}}}
        """

    static let cases: [Case] = [
        Case("empty file", "", code: 66, words: ["no json", "empty"]),
        Case("white space only", " \n\t \r\n", code: 66, words: ["no json", "empty", "white"]),
        Case("byte order mark only", "\u{FEFF}", code: 66, words: ["no json", "empty"]),
        Case("empty array", "[]", code: 0),
        Case("empty array of a model", "[]", model: integerModel, code: 0, rows: 0),
        Case("scalars and arrays among objects", #"[{"a":1},5,[1,{"b":2}],"x",true,{"a":2}]"#, code: 0, rows: 6),
        Case(
            "scalars among objects of a model",
            #"[{"a":1},{"a":"x"},{"a":[2]},{"a":3.5},{"a":4}]"#,
            model: integerModel,
            code: 0,
            rows: 2,
            rejects: 3
        ),
        Case("garbage after the end", #"[{"a":1},{"a":2}] xyz"#, code: 65, rows: 2, words: place),
        Case("a second bracket after the end", #"[{"a":1},{"a":2}]]"#, code: 65, rows: 2, words: place),
        Case("a comma too many", #"[{"a":1},{"a":2},]"#, options: ["--strict"], code: 65, rows: 2, words: place),
        Case("NaN", #"[{"a":1},{"a":NaN}]"#, options: ["--strict"], code: 65, rows: 1, words: place),
        Case("infinity", #"[{"a":1},{"a":-Infinity}]"#, options: ["--strict"], code: 65, rows: 1, words: place),
        Case("two commas too many", #"[{"a":1},{"a":2},,]"#, code: 65, rows: 2, words: place),
        Case("a comma alone", #"[{"a":1},{"a":[,]}]"#, code: 65, rows: 1, words: place),
        Case("half a comment", #"[{"a":1},{"a":2} /* ]"#, code: 65, rows: 2, words: place),
        Case("not a number", #"[{"a":1},{"a":NaNs}]"#, code: 65, rows: 1, words: place),
        Case("single quotes", #"[{"a":1},{'a':1}]"#, code: 65, rows: 1, words: place),
        Case("form feed for white space", "[{\"a\":1},\u{0C}{\"a\":1}]", code: 65, rows: 1, words: place),
        Case("raw line break in a string", "[{\"a\":1},{\"a\":\"x\ny\"}]", code: 65, rows: 1, words: place),
        Case("raw NUL in a string", "[{\"a\":1},{\"a\":\"x\u{0}y\"}]", code: 65, rows: 1, words: place),
        Case("adjoining scalars", "1-2", code: 65, words: place),
        Case("leading zero", "[{\"a\":1},{\"a\":01}]", code: 65, rows: 1, words: place),
        Case("UTF-16, little endian", bytes: [0xff, 0xfe] + utf16("[{\"a\":1}]"), code: 0, rows: 1),
        Case(
            "UTF-16, big endian",
            bytes: [0xfe, 0xff] + utf16("[{\"a\":1}]").swappedPairs,
            code: 0,
            rows: 1
        ),
        Case("UTF-16 without a mark", bytes: utf16("[{\"a\":1}]"), code: 0, rows: 1),
        Case("half a character of UTF-16", bytes: utf16("[{\"a\":1}]") + [0x20], code: 65, words: ["utf-16"]),
        Case(
            "UTF-32",
            bytes: [0xff, 0xfe, 0, 0] + "[{\"a\":1}]".utf8.flatMap { [$0, 0, 0, 0] },
            code: 0,
            rows: 1
        ),
        Case("100,000 open brackets", String(repeating: "[", count: 100_000), code: 65, words: place + ["deep"]),
        Case(
            "a record 100,000 deep",
            "[{\"a\":1},{\"a\":" + nested(100_000) + "},{\"a\":2}]",
            code: 0,
            rows: 2,
            rejects: 1
        ),
        Case(
            "a line 100,000 deep",
            "{\"a\":1}\n{\"a\":" + nested(100_000) + "}\n{\"a\":2}\n",
            code: 0,
            rows: 2,
            rejects: 1
        ),
        Case(
            "a record just deep enough",
            "[{\"a\":" + nested(1022) + "},{\"a\":" + nested(1500) + "}]",
            code: 0,
            rows: 1,
            rejects: 1
        ),
        Case(
            "a record over the limit",
            "[{\"a\":1},{\"a\":\"" + String(repeating: "x", count: 5_000) + "\"},{\"a\":2}]",
            options: ["--max-record-bytes", "4K"],
            code: 0,
            rows: 2,
            rejects: 1
        ),
        Case(
            "40 digits",
            "[{\"a\":1},{\"a\":1234567890123456789012345678901234567890}]",
            code: 0,
            rows: 2
        ),
        Case(
            "40 digits for an integer",
            "[{\"a\":1},{\"a\":1234567890123456789012345678901234567890}]",
            model: integerModel,
            code: 0,
            rows: 1,
            rejects: 1
        ),
        Case(
            "an exponent of a million digits",
            "[{\"a\":1e\(String(repeating: "9", count: 100_000))},{\"a\":1}]",
            model: integerModel,
            code: 0,
            rows: 1,
            rejects: 1
        ),
        Case("numbers out of range", #"[{"a":1e999},{"a":-1e-999},{"a":1E+400000000}]"#, code: 0, rows: 3),
        Case(
            "a form feed in a line",
            "{\"a\":1}\n{\"a\":2}\u{0C}\n{\"a\":3}\n",
            fileName: "source.ndjson",
            code: 0,
            rows: 2,
            rejects: 1
        ),
        Case("a last line of two values", "{\"a\":1}\n{\"a\":2}\n{\"a\":3}{\"a\":4}", code: 0, rows: 4),
        Case(
            "a collection whose key is not UTF-8",
            bytes: Array("{\"n\":1,\"it".utf8) + [0xff] + Array("ms\":[{\"a\":1}]}".utf8),
            code: 65,
            words: ["not utf-8, at byte 10"]
        ),
        Case(
            "three broken lines of a thousand",
            lines(1_000) { $0 % 400 == 99 ? "{\"a\":" : "{\"a\":\($0)}" },
            fileName: "source.ndjson",
            code: 0,
            rows: 997,
            rejects: 3
        ),
        Case(
            "broken lines of every kind",
            lines(30) { "{\"a\":\($0)}" }
                + "{\"a\":1}\n{\"a\":}\n}{\nnot json\n{\"a\":1} {\"b\":2\n[1,\n\"x\n{\"a\":NaN}\n{\"a\":2}\n",
            fileName: "source.ndjson",
            options: ["--records", "$"],
            code: 0,
            rows: 33,
            rejects: 6
        ),
        Case(
            "last line breaks off",
            lines(1_000) { "{\"a\":\($0)}" } + "{\"a\":10",
            fileName: "source.ndjson",
            code: 65,
            rows: 1_000,
            words: place
        ),
        Case("an option that is none", "[{\"a\":1}]", options: ["--no-such-option"], code: 64),
        Case("no worker", "[{\"a\":1}]", options: ["--workers", "0"], code: 64),
        Case("no chunk size", "[{\"a\":1}]", options: ["--chunk-size", "0"], code: 64),
        Case("a chunk size that is none", "[{\"a\":1}]", options: ["--chunk-size", "99999999999G"], code: 64),
        Case("no commit", "[{\"a\":1}]", options: ["--commit-every", "-1"], code: 64),
        Case("a record path that is none", "[{\"a\":1}]", options: ["--records", "$.[["], code: 64),
        Case("a model that is no JSON", "[{\"a\":1}]", model: "{\"entities\":", code: 65, words: ["model.json"]),
        Case("a model of another kind", "[{\"a\":1}]", model: "{\"entities\": [1]}", code: 65, words: ["model.json"]),
        Case(
            "a model with an unknown type",
            "[{\"a\":1}]",
            model: #"{"entities":{"T":{"attributes":{"a":{"type":"attributes.a"}}}}}"#,
            code: 65,
            words: ["attributes.a"]
        ),
    ]

    static func lines(_ count: Int, _ line: (Int) -> String) -> String {
        (0..<count).map { line($0) + "\n" }.joined()
    }

    static func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }

    static func utf16(_ text: String) -> [UInt8] {
        text.utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
    }

    @Test(arguments: cases)
    func isAnsweredAndNothingIsLost(_ bad: Case) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(bad.source, to: bad.fileName)
        let store = directory.path("store.sqlite")
        var options = ["--entity", "T"] + bad.options
        if let model = bad.model { options = ["--model", try directory.write(model, to: "model.json")] + bad.options }
        let result = try run([Project.importer, "import", source, "--into", store] + options)
        #expect(result.ending == .exit(bad.code), "\(result.errorText)")
        #expect(!result.errors.contains(0x1b))
        if bad.code == 65, bad.model == nil { #expect(result.errorText.contains(bad.fileName), "\(result.errorText)") }
        if !bad.words.isEmpty {
            let text = result.errorText.lowercased()
            #expect(bad.words.contains { text.contains($0) }, "\(result.errorText)")
        }
        guard FileManager.default.fileExists(atPath: store) else {
            #expect(bad.rows ?? 0 == 0 && bad.rejects == 0)
            return
        }
        #expect(try StoreContent.isWhole(store))
        let tables = try StoreContent.tables(store)
        if let rows = bad.rows {
            let found = tables.isEmpty ? "0" : try StoreContent.query(store, "SELECT count(*) FROM \"\(tables[0])\"")
            #expect(found == "\(rows)")
            #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "\(bad.rejects)")
            #expect(try runImporter("verify", store).ending == .exit(0))
            let listed = try runImporter("rejects", store)
            #expect(listed.ending == .exit(0))
            #expect(listed.output.isEmpty == (bad.rejects == 0))
        }
    }

    /// Wherever a file breaks off: what is whole before it is imported, and once it is completed the rest follows.
    @Test(arguments: ["array", "pretty", "keyed", "path", "ndjson"])
    func isCompletedAfterItBrokeOffAnywhere(shape: String) throws {
        let directory = try TemporaryDirectory()
        let samples = Samples.people(count: 40, seed: 41)
        let (text, path): (String, String) =
            switch shape {
            case "array": (samples.array, "$[*]")
            case "pretty": (samples.pretty, "$[*]")
            case "keyed": (samples.keyed, "$.*")
            case "path": ("{\"n\": 40, \"items\": \(samples.array), \"end\": [1, 2]}", "$.items[*]")
            default: (samples.ndjson, "$")
            }
        let bytes = Data(text.utf8)
        let options = ["--records", path, "--entity", "Person"]
        let model = try directory.write(Samples.model(records: path), to: "model.json")
        let whole = directory.path("whole.sqlite")
        let source = try directory.write(bytes, to: "source.json")
        try run([Project.importer, "import", source, "--into", whole, "--model", model])
        let wholeInferred = directory.path("inferred.sqlite")
        try run([Project.importer, "import", source, "--into", wholeInferred] + options)

        var generator = SeededGenerator(seed: 42)
        for attempt in 0..<8 {
            let hasModel = attempt % 2 == 0
            let store = directory.path("store-\(attempt).sqlite")
            let length = attempt == 0 ? bytes.count - 2 : 1 + generator.next(bytes.count - 2)
            try directory.write(bytes.prefix(length), to: "source.json")
            let job = hasModel ? ["--model", model] : options
            let command = [Project.importer, "import", source, "--into", store] + job + ["--chunk-size", "1K"]
            let broken = try run(command)
            // A file of lines that ends between two of them is whole as far as anyone can tell.
            let isWhole = shape == "ndjson" && (bytes[length - 1] == 0x0a || bytes[length] == 0x0a)
            #expect(broken.ending == .exit(isWhole ? 0 : 65), "cut at \(length): \(broken.errorText)")
            if isWhole { continue }
            #expect(broken.errorText.contains("source.json"), "cut at \(length): \(broken.errorText)")
            #expect(Self.place.contains { broken.errorText.lowercased().contains($0) }, "\(broken.errorText)")

            try directory.write(bytes, to: "source.json")
            let completed = try run(command)
            #expect(completed.ending == .exit(0), "cut at \(length): \(completed.errorText)")
            let expected = try StoreContent.result(hasModel ? whole : wholeInferred)
            #expect(try StoreContent.result(store) == expected, "cut at \(length), model \(hasModel)")
        }
    }

    /// A fault in the middle can be mended, and the import continues after what it had.
    @Test func goesOnOnceAFaultIsMended() throws {
        let directory = try TemporaryDirectory()
        let samples = Samples.people(count: 300, seed: 43)
        let whole = directory.path("whole.sqlite")
        let model = try directory.write(Samples.model(), to: "model.json")
        let source = try directory.write(samples.array, to: "source.json")
        try runImporter("import", source, "--into", whole, "--model", model)
        var records = samples.records
        records[200].removeLast()
        let broken = "[" + records.joined(separator: ",") + "]"
        try directory.write(broken, to: "source.json")
        let store = directory.path("store.sqlite")
        let first = try runImporter("import", source, "--into", store, "--model", model)
        #expect(first.ending == .exit(65), "\(first.errorText)")
        #expect(try runImporter("verify", store).ending == .exit(0))
        try directory.write(samples.array, to: "source.json")
        let second = try runImporter("resume", store)
        #expect(second.ending == .exit(0), "\(second.errorText)")
        #expect(try StoreContent.result(store) == StoreContent.result(whole))
    }

    @Test(arguments: ["C080", "E08080", "F0808080", "EDA080", "EDBFBF", "F4908080", "F8888080", "80", "E282", "FF"])
    func takesNoInvalidUTF8(sequence: String) throws {
        let directory = try TemporaryDirectory()
        let digits = Array(sequence)
        let fault = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        for (name, head, tail) in [
            ("source.json", "[{\"a\":\"x\"},{\"a\":\"y", "z\"}]"), ("source.json", "[{\"a\":\"x\"},{\"a", "\":\"z\"}]"),
            ("source.ndjson", "{\"a\":\"x\"}\n{\"a\":\"y", "z\"}\n"),
        ] {
            let source = try directory.write(Data(Array(head.utf8) + fault + Array(tail.utf8)), to: name)
            let store = directory.path("\(UUID().uuidString).sqlite")
            let result = try runImporter("import", source, "--into", store, "--entity", "T")
            // A reject of its own, or the end of the source there; never a value that is no text.
            if result.ending == .exit(0) {
                #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "1", "\(name)")
            } else {
                #expect(result.ending == .exit(65), "\(result.errorText)")
                #expect(result.errorText.contains(name))
            }
            #expect(try StoreContent.query(store, "SELECT count(*), max(a) FROM T") == "1|x", "\(name)")
            #expect(try StoreContent.isWhole(store))
        }
    }

    @Test func countsADuplicateKeyAndALoneSurrogateAsLosses() throws {
        let directory = try TemporaryDirectory()
        let model = #"{"entities":{"T":{"attributes":{"a":{"type":"string"}}}}}"#
        let modelFile = try directory.write(model, to: "model.json")
        let source = try directory.write(#"[{"a":"1","a":"2"},{"a":"\ud800x"},{"a":"p\u0000q"}]"#, to: "source.json")
        let store = directory.path("store.sqlite")
        let result = try runImporter("import", source, "--into", store, "--model", modelFile)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT group_concat(hex(a)) FROM T") == "32,EFBFBD78,700071")
        let status = try runImporter("status", store, "--json").outputText
        #expect(status.contains("\"ledger\""))
        #expect(try Int(StoreContent.query(store, "SELECT count(*) FROM _import_ledger")) ?? 0 >= 2)
    }

    @Test func keepsALoneSurrogateAndANulWhenItInfers() throws {
        try comesBack(#"[{"a":"\ud800x","b":"p\u0000q"},{"a":"plain","b":"\udc00\ud800"},{"a":"\ud83d\ude00"}]"#)
    }

    @Test func keepsNamesThatSQLiteWouldTakeForOthers() throws {
        let long = String(repeating: "k", count: 10_000)
        try comesBack(
            #"""
            [{"select":1,"a\"b":2,"a; drop table x":3,"":4,"\#(long)":5,"Key":6,"key":7,"KEY":8,
              "rowid":9,"oid":10,"_rowid_":11,"ROWID":12,"a_b":13,"a":{"b":14},"a.b":15,"table":16,"x\u0000y":17,
              "'":18,"[x]":19,"`":20,"$key":21,"$":22,"ſ":23,"é":24,"É":25,"e\u0301":26,"value":27,"null":null,
              "order":{"by":1,"":2},"_import_x":1,"a\nb":1,"\u001b[31m":2,"constraint":1,"CHECK":2,"0":3,"😀":4},
             {"select":"x"}, 5]
            """#
        )
    }

    /// Imports with an inferred model and compares the store with what Python reads.
    private func comesBack(_ text: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(text, to: "source.json")
        let store = directory.path("store.sqlite")
        let imported = try runImporter("import", source, "--into", store)
        #expect(imported.ending == .exit(0), "\(imported.errorText)")
        let model = try directory.write(runImporter("infer", source).output, to: "model.json")
        let compared = try Python.run("roundtrip.py", [store, model, source])
        #expect(compared.ending == .exit(0), "\(compared.outputText) \(compared.errorText)")
    }

    static let tableNames = [
        "select", "a\"b", "a; drop table x", "", String(repeating: "n", count: 10_000), "sqlite_sequence",
        "_import_job", "x\u{1b}[31m", "a.b", "'",
    ]

    @Test(arguments: tableNames)
    func takesAnyTableNameOrSaysWhyNot(name: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("[{\"a\":1},{\"a\":2}]", to: "source.json")
        let store = directory.path("store.sqlite")
        let result = try runImporter("import", source, "--into", store, "--entity", name)
        #expect(!result.errors.contains(0x1b))
        if ["", "sqlite_sequence", "_import_job"].contains(name), result.ending != .exit(0) {
            #expect(result.ending == .exit(64) || result.ending == .exit(65), "\(result.errorText)")
            return
        }
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.isWhole(store))
        let table = try #require(try StoreContent.tables(store).first)
        let quoted = table.replacingOccurrences(of: "\"", with: "\"\"")
        #expect(try StoreContent.query(store, "SELECT count(*), sum(a) FROM \"\(quoted)\"") == "2|3")
    }

    /// 300 MB in one string: passed over in little memory, and taken when the limit allows it.
    @Test func passesOverOneHugeStringAndTakesItWhenAllowed() throws {
        let directory = try TemporaryDirectory()
        let source = directory.path("source.json")
        try Python.run(
            text: """
                import sys
                with open(sys.argv[1], "w") as f:
                    f.write('[{"a":1},{"b":"')
                    for _ in range(300): f.write("x" * 1000000)
                    f.write('"},{"a":2}]')
                """,
            [source]
        )
        let store = directory.path("store.sqlite")
        let peak = try peakMemory(of: [Project.importer, "import", source, "--into", store, "--entity", "T"])
        #expect(peak < 400 << 20)
        #expect(try StoreContent.query(store, "SELECT count(*), sum(a) FROM T") == "2|3")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "1")
        // A smaller one either side of its limit: what is taken is looked at byte by byte, which a debug build does slowly.
        let smaller = try directory.write(
            "[{\"a\":1},{\"b\":\"" + String(repeating: "x", count: 8_000_000) + "\"},{\"a\":2}]",
            to: "smaller.json"
        )
        for (limit, length) in [("7M", ""), ("9M", "8000000")] {
            let store = directory.path("\(limit).sqlite")
            let result = try runImporter(
                "import",
                smaller,
                "--into",
                store,
                "--model",
                directory.write(
                    #"{"entities":{"T":{"attributes":{"b":{"type":"string","optional":true}}}}}"#,
                    to: "model.json"
                ),
                "--max-record-bytes",
                limit
            )
            #expect(result.ending == .exit(0), "\(result.errorText)")
            #expect(try StoreContent.query(store, "SELECT max(length(b)) FROM T") == length)
        }
    }
}

extension [UInt8] {
    /// With the bytes of each pair the other way round.
    fileprivate var swappedPairs: [UInt8] {
        stride(from: 0, to: count - 1, by: 2).flatMap { [self[$0 + 1], self[$0]] }
    }
}
