import Foundation
import TestSupport
import Testing

/// Records that are arrays: rows, with a header row or without.
struct RowArrayTests {
    private static let census = #"[["NAME","P1","state"],["Alabama",5024279,"01"],["Alaska",733391,"02"],["x",1]]"#

    private func imported(
        _ files: [(name: String, text: String)],
        _ options: String...
    ) throws -> (result: ChildProcess.Result, store: String, directory: TemporaryDirectory) {
        let directory = try TemporaryDirectory()
        let sources = try files.map { try directory.write($0.text, to: $0.name) }
        let store = directory.path("store.sqlite")
        return (try run([Project.importer, "import"] + sources + ["--into", store] + options), store, directory)
    }

    @Test func theHeaderRowNamesTheColumns() throws {
        let (result, store, directory) = try imported([("census.json", Self.census)], "--header-row")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(
            try StoreContent.query(store, "SELECT NAME, P1, state FROM census")
                == "Alabama|5024279|01\nAlaska|733391|02"
        )
        let rejects = try runImporter("rejects", store)
        #expect(rejects.outputText.contains("columns: 3 expected, 2 found"), "\(rejects.outputText)")
        #expect(result.outputText.contains("1 row with 2 columns (expected 3)"), "\(result.outputText)")
        #expect(try runImporter("verify", store).ending == .exit(0))
        withExtendedLifetime(directory) {}
    }

    @Test func withoutOneColumnsHaveNumbers() throws {
        let (result, store, directory) = try imported([("r.json", #"[[1,"a"],[2,"b",true],[3]]"#)])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(
            try StoreContent.query(store, "SELECT column_1, column_2, column_3 FROM r") == "1|a|\n2|b|1\n3||"
        )
        #expect(!result.errorText.contains("header"), "\(result.errorText)")
        withExtendedLifetime(directory) {}
    }

    @Test func whatLooksLikeAHeaderIsSaid() throws {
        let line = "census.json: the first row at $[*] looks like a header: --header-row names the columns by it\n"
        #expect(try imported([("census.json", Self.census)]).result.errorText.contains(line))
        for text in [#"[["a","b"],["c","d"]]"#, #"[["a","a"],[1,2]]"#, #"[["a","1"],[1,2]]"#, "[[1,2],[1,2]]", "[]"] {
            let result = try imported([("t.json", text)]).result
            #expect(!result.errorText.contains("header"), "\(text): \(result.errorText)")
        }
    }

    /// Columns are read by their names, wherever they are.
    @Test func sourcesMayHaveTheirColumnsInAnyOrder() throws {
        let (result, store, directory) = try imported(
            [("rows-1.json", #"[["a","b"],[1,2]]"#), ("rows-2.json", #"[["b","a"],[20,10]]"#)],
            "--header-row",
            "--workers",
            "2"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT a, b FROM rows ORDER BY a") == "1|2\n10|20")
        let later = try directory.write(#"[["c","b","a"],[300,200,100]]"#, to: "rows-3.json")
        let second = try runImporter("import", later, "--into", store, "--entity", "rows", "--header-row")
        #expect(second.ending == .exit(0), "\(second.errorText)")
        #expect(try StoreContent.query(store, "SELECT a, b, c FROM rows ORDER BY a") == "1|2|\n10|20|\n100|200|300")
        withExtendedLifetime(directory) {}
    }

    @Test(arguments: [
        ("s.json", #"{"range":"A1:B3","majorDimension":"ROWS","values":[["a","b"],["x",2],["y",4]]}"#),
        ("s.ndjson", "[\"a\",\"b\"]\n[\"x\",2]\n[\"y\",4]\n"),
    ])
    func rowsAreFound(name: String, text: String) throws {
        let (result, store, directory) = try imported([(name, text)], "--header-row")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT a, b FROM s") == "x|2\ny|4")
        withExtendedLifetime(directory) {}
    }

    @Test func skipAndLimitCountWhatIsBehindTheHeader() throws {
        let text = "[[\"n\"],[1],[2],[3],[4]]"
        let (result, store, directory) = try imported([("t.json", text)], "--header-row", "--skip", "1", "--limit", "2")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT n FROM t") == "2\n3")
        withExtendedLifetime(directory) {}
    }

    @Test func namesAreMadeWhereThereAreNone() throws {
        let (result, store, directory) = try imported(
            [("t.json", #"[["a","a",null,"",2020],[1,2,3,4,5]]"#)],
            "--header-row"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT a, a_2, column_3, column_4, \"2020\" FROM t") == "1|2|3|4|5")
        withExtendedLifetime(directory) {}
    }

    @Test func aModelReadsColumnsByTheirNames() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.census, to: "census.json")
        let model = try directory.write(
            #"""
            {"entities": {"t": {"records": "$[*]", "identifier": ["code"], "attributes": {
                "code": {"type": "string", "from": "state"}, "people": {"type": "integer64", "from": "P1"}}}}}
            """#,
            to: "m.json"
        )
        let store = directory.path("s.sqlite")
        let result = try runImporter("import", source, "--into", store, "--model", model, "--header-row")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT code, people FROM t") == "01|5024279\n02|733391")
        #expect(
            try StoreContent.query(store, "SELECT attribute, count FROM _import_ledger WHERE kind = 'unknownKey'")
                == "NAME|2"
        )
    }

    @Test func repairedRowsHaveTheirColumns() throws {
        let (_, store, directory) = try imported([("census.json", Self.census)], "--header-row")
        let file = directory.path("rejects.ndjson")
        #expect(try runImporter("rejects", store, "--to", file).ending == .exit(0))
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try directory.write(text.replacing("[\"x\",1]", with: "[\"x\",1,\"03\"]"), to: "rejects.ndjson")
        let result = try runImporter("retry", store, file)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT NAME, P1, state FROM census WHERE P1 = 1") == "x|1|03")
    }

    @Test func chunksOfASplitHaveTheirHeader() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(Self.census, to: "census.json")
        let (chunks, store) = (directory.path("chunks"), directory.path("s.sqlite"))
        #expect(try runImporter("split", source, "--to", chunks, "--header-row").ending == .exit(0))
        #expect(try runImporter("import", chunks, "--into", store).ending == .exit(64))
        let result = try runImporter("import", chunks, "--into", store, "--header-row")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT state FROM census") == "01\n02")
    }

    @Test func recordsThatAreNoRowsHaveNoHeader() throws {
        let (result, store, directory) = try imported([("t.json", #"[{"a":1}]"#)], "--header-row")
        #expect(result.ending == .exit(64))
        #expect(result.errorText.contains("is no header row"), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: store))
        withExtendedLifetime(directory) {}
    }

    /// Sources without a row, or with none but a header, have no records.
    @Test func sourcesMayHaveNoRows() throws {
        let files = [("rows-1.json", "[]"), ("rows-2.json", " "), ("rows-3.json", #"[["a","b"]]"#)]
        let (result, store, directory) = try imported(
            files + [("rows-4.json", #"[["a","b"],[1,2]]"#)],
            "--header-row"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try StoreContent.query(store, "SELECT a, b FROM rows") == "1|2")
        let alone = try imported([("rows.json", #"[["a","b"]]"#)], "--header-row")
        #expect(alone.result.ending == .exit(0), "\(alone.result.errorText)")
        #expect(try StoreContent.query(alone.store, "SELECT count(*) FROM rows") == "0")
        withExtendedLifetime(directory) {}
    }

    /// Many rows in many chunks, some of another length: what is stored is what the source has.
    @Test func rowsOfManyChunks() throws {
        let rows = (1...3_000).map { $0 % 100 == 0 ? "[\($0)]" : "[\($0),\"x\($0 % 7)\",\(Double($0) / 4)]" }
        let text = "[[\"n\",\"t\",\"r\"],\n\(rows.joined(separator: ",\n"))]"
        let (result, store, directory) = try imported(
            [("t.json", text)],
            "--header-row",
            "--chunk-size",
            "4K",
            "--workers",
            "3"
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let sums = "SELECT count(*), sum(n), sum(r), count(DISTINCT t) FROM t"
        let kept = (1...3_000).filter { $0 % 100 != 0 }
        let sum = kept.reduce(0, +)
        #expect(try StoreContent.query(store, sums) == "2970|\(sum)|\(Double(sum) / 4)|7")
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "30")
        #expect(try runImporter("verify", store).ending == .exit(0))
        withExtendedLifetime(directory) {}
    }
}
