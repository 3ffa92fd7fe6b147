import Foundation
import TestSupport
import Testing

/// `--dry-run` shows what an import would make of the first records, and writes nothing.
struct DryRunTests {
    private static func preview(
        _ arguments: String...,
        input: String = "/dev/null",
        code: Int32 = 0
    ) throws -> [String: Any] {
        let result = try run([Project.importer, "import"] + arguments + ["--dry-run", "--json"], input: input)
        #expect(result.ending == .exit(code), "\(result.errorText)")
        let plan = try JSONSerialization.jsonObject(with: result.output) as? [String: Any]
        return try #require(plan?["sample"] as? [String: Any])
    }

    /// The first three rows of each entity, their columns and types, as an import of the same source makes them.
    @Test(arguments: [false, true])
    func showsTheRowsThatAnImportMakes(hasModel: Bool) throws {
        let directory = try TemporaryDirectory()
        let records = (1...9).map { #"{"id":\#($0),"name":"n\#($0)","price":"\#($0).50","odd":[\#($0)]}"# }
        let source = try directory.write("[" + records.joined(separator: ",\n") + "]", to: "item.json")
        let attributes = #""id":{"type":"integer64"},"name":{"type":"string"},"price":{"type":"decimal"}"#
        let model = try directory.write(
            #"{"entities":{"item":{"attributes":{\#(attributes)}}}}"#,
            to: "model.json"
        )
        let options = hasModel ? ["--model", model] : []
        let store = directory.path("s.sqlite")
        let before = directory.names()
        let text = try run([Project.importer, "import", source, "--into", store, "--dry-run"] + options)
        #expect(text.ending == .exit(0), "\(text.errorText)")
        let sample =
            hasModel
            ? try Self.preview(source, "--into", store, "--model", model) : try Self.preview(source, "--into", store)
        #expect(directory.names() == before)
        let entity = try #require((sample["entities"] as? [[String: Any]])?.first)
        let columns = try #require(entity["columns"] as? [[String: Any]])
        let rows = try #require(entity["rows"] as? [[String: Any]])
        #expect(try run([Project.importer, "import", source, "--into", store] + options).ending == .exit(0))
        let stored = try StoreContent.query(store, "SELECT id || '|' || name || '|' || price FROM item LIMIT 3")
        let shown = rows.map { row in "\(row["id"] ?? "")|\(row["name"] ?? "")|\(row["price"] ?? "")" }
        #expect(shown.joined(separator: "\n") == stored)
        let names = try StoreContent.query(store, "SELECT group_concat(name, ',') FROM pragma_table_info('item')")
        #expect(columns.compactMap { $0["column"] as? String }.joined(separator: ",") == names)
        #expect(columns.compactMap { $0["type"] as? String }.contains("decimal") == hasModel)
        let report = try #require(sample["report"] as? [String: Any])
        let ledger = report["ledger"] as? [String: [String: [String: Int]]]
        #expect(ledger?["item"]?["odd"]?["unknownKey"] == (hasModel ? 9 : nil))
        #expect(sample["is_whole"] as? Bool == true)
        #expect(text.outputText.contains("Table item\n  column  type"), "\(text.outputText)")
    }

    /// A sample breaks off inside a record; that is no fault, and what was before it is shown and counted.
    @Test(arguments: ["array", "lines", "gzip"])
    func theEndOfTheSampleIsNoFault(form: String) throws {
        let directory = try TemporaryDirectory()
        let records = (1...30_000).map { #"{"id":\#($0),"text":"\#(String(repeating: "x", count: 60))"}"# }
        let text = form == "array" ? "[" + records.joined(separator: ",") + "]" : records.joined(separator: "\n")
        var source = try directory.write(text, to: "item.json")
        if form == "gzip" {
            #expect(try run(["gzip", source]).ending == .exit(0))
            source += ".gz"
        }
        let sample = try Self.preview(source, "--into", directory.path("s.sqlite"))
        #expect(sample["message"] == nil)
        #expect(sample["is_whole"] as? Bool == false)
        #expect(sample["bytes"] as? Int == 1 << 20)
        let report = try #require(sample["report"] as? [String: Any])
        let read = try #require(report["records_read"] as? Int)
        // As many whole records as fit.
        var bytes = form == "array" ? 1 : 0
        let whole = records.prefix { record in
            bytes += record.utf8.count + 1
            return bytes - 1 <= 1 << 20
        }.count
        #expect(abs(read - whole) <= 1, "\(read) of \(whole)")
        #expect(report["state"] as? String == "finished")
    }

    /// Without a model into a table that is there, types and rejects are those of the store's entity, as of an import.
    @Test func beginsFromTheStoresEntity() throws {
        let directory = try TemporaryDirectory()
        let first = try directory.write(#"{"id":1,"score":1.5,"name":"a","note":"x"}"# + "\n", to: "first.ndjson")
        let store = directory.path("s.sqlite")
        #expect(try runImporter(first, "--into", store, "--entity", "item").ending == .exit(0))
        let second = try directory.write(
            """
            {"id":"2","score":7,"name":12,"more":true}
            {"id":"three"}
            {"id":4,"note":null}

            """,
            to: "second.ndjson"
        )
        let before = try Data(contentsOf: URL(filePath: store))
        let sample = try Self.preview(second, "--into", store, "--entity", "item")
        #expect(sample["message"] == nil, "\(sample)")
        #expect(try Data(contentsOf: URL(filePath: store)) == before)
        #expect(directory.names() == ["first.ndjson", "s.sqlite", "second.ndjson"])
        let entity = try #require((sample["entities"] as? [[String: Any]])?.first)
        let columns = try #require(entity["columns"] as? [[String: Any]])
        let types = columns.map { "\($0["column"] ?? "") \($0["type"] ?? "")" }
        #expect(types == ["id integer64", "score double", "name string", "note string", "more boolean"])
        #expect((sample["report"] as? [String: Any])?["rejected"] as? Int == 1)
        let rows = try #require(entity["rows"] as? [[String: Any]])
        let shown = rows.map { "\($0["id"] ?? "")|\($0["score"] ?? "")|\($0["name"] ?? "")" }
        #expect(shown == ["2|7|12", "4|<null>|<null>"])
        // The import does what was shown.
        #expect(try runImporter(second, "--into", store, "--entity", "item").ending == .exit(0))
        #expect(
            try StoreContent.query(store, "SELECT id, score, name FROM item WHERE id > 1") == "2|7.0|12\n4||"
        )
        #expect(try StoreContent.query(store, "SELECT count(*) FROM _import_reject") == "1")
    }

    /// An index that the import would refuse is refused, in the same words.
    @Test(arguments: [[], ["--mirror", "--identifier", "n"]])
    func refusesAnIndexThatNoEntityCanHave(options: [String]) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1},{"n":2}]"#, to: "n.json")
        let store = directory.path("s.sqlite")
        if !options.isEmpty {
            #expect(try runImporter(source, "--into", store, "--identifier", "n").ending == .exit(0))
        }
        let arguments = [Project.importer, source, "--into", store, "--again", "--index", "nn"] + options
        let dry = try run(arguments + ["--dry-run"])
        #expect(
            dry.ending == .exit(64) && dry.errorText.contains("--index nn: no entity has all these attributes"),
            "\(dry.errorText)"
        )
        let real = try run(arguments)
        #expect(real.ending == dry.ending)
        #expect(
            real.errorText.components(separatedBy: "error: ").last
                == dry.errorText.components(separatedBy: "error: ").last
        )
    }

    @Test func saysWhatWouldStopIt() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1},{"n":tru}]"#, to: "n.json")
        let sample = try Self.preview(source, "--into", directory.path("s.sqlite"), code: 65)
        let message = try #require(sample["message"] as? String)
        #expect(message.contains("is not JSON: expected true, false or null"), "\(message)")
        #expect(directory.names() == ["n.json"])
    }

    /// The exit code is that of the import.
    @Test(arguments: [
        (["--type", "n:integer64"], #"[{"n":"x"}]"#, Int32(65)),
        (["--type", "n:integer64"], #"[{"n":"x"},{"n":1}]"#, 0),
        (["--type", "n:integer64", "--max-errors", "0"], #"[{"n":1},{"n":"x"}]"#, 65), ([], "[{\"n\":1},{]", 65),
        ([], "[]", 0),
    ])
    func endsAsTheImport(options: [String], text: String, code: Int32) throws {
        let directory = try TemporaryDirectory()
        let command = [Project.importer, try directory.write(text, to: "n.json"), "--into", directory.path("s.sqlite")]
        let dry = try run(command + options + ["--dry-run"])
        #expect(dry.ending == .exit(code), "\(dry.outputText)\(dry.errorText)")
        #expect(try run(command + options).ending == dry.ending)
    }

    @Test func takesTheFirstRecordsOfStandardInput() throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write(#"[{"n":1},{"n":2}]"#, to: "n.json")
        let sample = try Self.preview("-", "--entity", "n", "--into", directory.path("s.sqlite"), input: source)
        #expect((sample["report"] as? [String: Any])?["records_read"] as? Int == 2)
    }

    /// Objects of the store are known by their identifiers, and what the import would say is said.
    @Test func mergesWithWhatTheStoreHas() throws {
        let directory = try TemporaryDirectory()
        let first = try directory.write(#"[{"id":1,"v":1},{"id":2,"v":2},{"id":3,"v":3}]"#, to: "first.json")
        let second = try directory.write(
            #"[{"id":1,"v":1},{"id":2,"v":5},{"id":4,"v":3,"t":[{"x":1}]}]"#,
            to: "second.json"
        )
        let store = directory.path("s.sqlite")
        let options = ["--into", store, "--entity", "item"]
        #expect(try run([Project.importer, first, "--identifier", "id"] + options).ending == .exit(0))
        let sample = try Self.preview(second, "--into", store, "--entity", "item")
        #expect(sample["is_merged"] as? Bool == true)
        let before = directory.names()
        let dry = try run([Project.importer, second, "--dry-run"] + options)
        #expect(directory.names() == before)
        let done = try run([Project.importer, second] + options)
        for line in ["inserted  1", "updated   1", "unchanged 1"] {
            #expect(
                dry.outputText.contains(line) && done.outputText.contains(line),
                "\(dry.outputText)\(done.outputText)"
            )
        }
        for notice in ["item: t: arrays of objects", "new columns in item: t"] {
            #expect(
                dry.errorText.contains(notice) && done.errorText.contains(notice),
                "\(dry.errorText)\(done.errorText)"
            )
        }
        // Without an identifier there is nothing to be looked up.
        #expect(try Self.preview(first, "--into", directory.path("new.sqlite"))["is_merged"] == nil)
    }
}
