import Foundation
import TestSupport
import Testing

/// U+0000, which a server's texts cannot have.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGNulTests {
    private static let records = [
        #"{"s": "a", "j": "\u0000"}"#, #"{"s": "b\u0000c", "j": 1}"#, #"{"j": {"\u0000": 2}}"#, #"{"s": "\u0000"}"#,
        #"{"s": "d"}"#,
    ]
    private static let model = """
        {"entities": {"thing": {"attributes": {
          "s": {"type": "string", "optional": true}, "j": {"type": "json", "optional": true}}}}}
        """

    /// In all shapes that records come in.
    @Test(arguments: Cases.few(3, of: ["ndjson", "-", "chunks", "json", "ndjson.gz"]))
    func suchRecordsAreRejects(shape: String) throws {
        let files = try ImportFiles(records: [Self.records], model: Self.model, options: ["--entity", "thing"])
        let array = "[" + Self.records.joined(separator: ",\n") + "]"
        let zipped = "import gzip, sys; gzip.open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read())"
        let path = files.directory.path("source.\(shape)")
        var input = "/dev/null"
        var source = path
        switch shape {
        case "json": try files.directory.write(array, to: "source.json")
        case "ndjson.gz": try Python.run(text: zipped, [files.sources[0], path])
        case "-": (source, input) = ("-", files.sources[0])
        case "chunks":
            let split = try runImporter("split", files.sources[0], "--to", path, "--chunk-size", "50", "--quiet")
            #expect(split.ending == .exit(0), "\(split.errorText)")
        default: source = files.sources[0]
        }
        let database = try PGDatabase()
        // The chunks that are imported are those that are there.
        let command = database.command(files, [source])
        let result = try database.importer(
            shape == "chunks" ? ["import", source, "--into", database.url] + files.jobOptions : command,
            input: input
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.outputText.contains("U+0000"), "\(result.outputText)")
        let rows = #"SELECT s, j::text FROM thing ORDER BY s COLLATE "C""#
        #expect(try database.query(rows) == "a|\"\\u0000\"\nd|\n|{\"\\u0000\":2}")
        let rejects = "SELECT ordinal, convert_from(record, 'UTF8') FROM _import_reject ORDER BY ordinal"
        #expect(try database.query(rejects) == "2|\(Self.records[1])\n4|\(Self.records[3])")
        let codes = "SELECT kind, sum(count) FROM _import_ledger WHERE is_error GROUP BY 1"
        #expect(try database.query(codes) == "nulCharacter|2")
        let listed = try database.importer(["rejects", database.url, "--show-values"])
        for index in [1, 3] { #expect(listed.outputText.contains(Self.records[index]), "\(listed.errorText)") }
        #expect(try database.isVerified())
    }

    @Test func suchValuesBecomeNull() throws {
        let files = try ImportFiles(records: [Self.records], model: Self.model, options: ["--entity", "thing"])
        let database = try PGDatabase()
        let report = try database.imported(files, nil, ["--on-error", "null"])
        #expect(report.counts.inserted == 5 && report.counts.rejected == 0)
        #expect(try database.query("SELECT count(*), count(s) FROM thing") == "5|2")
        #expect(try database.query("SELECT attribute, kind, count FROM _import_ledger") == "s|nulled|2")
        #expect(try database.isVerified())
    }

    /// As all errors do, these name the byte at which their value begins.
    @Test(arguments: ["[*]", "$.*"])
    func errorsNameTheByteOfTheirValue(path: String) throws {
        // The first value is decoded, the second one a server's.
        let isKeyed = path == "$.*"
        let bad = #"{"o": {"s": "b\u0000c"}, "n": 1}"#
        let records = [#"{"n": 0}"#, bad, #"{"n": "x"}"#, #"{"o": {"s": "long long"}, "n": 2}"#]
        let members = records.enumerated().map { isKeyed ? #""k\#($0)" :  \#($1)"# : $1 }.joined(separator: " ,\n ")
        let text = isKeyed ? "{\(members)}" : "[ \(members) ]"
        let model = """
            {"entities": {"thing": {"attributes": {"n": {"type": "integer32"},
              "s": {"type": "string", "optional": true, "from": "o.s"}}}}}
            """
        let source = (name: "a.json", content: Data(text.utf8))
        let files = try ImportFiles([source], model: model, options: ["--entity", "thing"])
        let database = try PGDatabase()
        try database.execute("CREATE TABLE thing (n integer, s varchar(5))")
        try database.imported(files, nil, isKeyed ? ["--records", path] : [])
        let found = try database.query(
            "SELECT kind, first_byte_offset FROM _import_ledger WHERE is_error ORDER BY first_byte_offset"
        )
        func place(_ value: String) throws -> Int {
            let range = try #require(text.range(of: value))
            return text.utf8.distance(from: text.startIndex, to: range.lowerBound)
        }
        let expected = [
            "nulCharacter|\(try place(#""b\u"#))", "wrongForm|\(try place(#""x""#))",
            "constraintViolation|\(try place(#""long"#))",
        ]
        #expect(found == expected.joined(separator: "\n"))
        let rejects = try database.query("SELECT errors::json->0->>'byteOffset' FROM _import_reject ORDER BY ordinal")
        #expect(rejects == expected.map { $0.split(separator: "|")[1] }.joined(separator: "\n"))
    }

    @Test func suchCharactersAreReplaced() throws {
        let files = try ImportFiles(records: [Self.records], model: Self.model, options: ["--entity", "thing"])
        let database = try PGDatabase()
        let report = try database.imported(files, nil, ["--nul", "replace", "--on-error", "stop"])
        #expect(report.counts.inserted == 5 && report.counts.rejected == 0)
        let texts = #"SELECT s, j::text FROM thing WHERE s IS NOT NULL ORDER BY s COLLATE "C""#
        #expect(try database.query(texts) == "a|\"\\u0000\"\nb\u{FFFD}c|1\nd|\n\u{FFFD}|")
        #expect(try database.query("SELECT attribute, kind, count FROM _import_ledger") == "s|nulReplaced|2")
        let status = try database.importer(["status", database.url])
        #expect(status.outputText.contains("s  2 × U+0000 replaced"), "\(status.outputText)")
        #expect(try database.isVerified())
        // It is the job's: without it, it is another import.
        let other = try database.importer(database.command(files) + ["--again"])
        #expect(other.ending == .exit(0) && other.outputText.contains("2 texts with U+0000"), "\(other.outputText)")
    }

    /// Two identifiers that are the same text then are the same object.
    @Test func replacedIdentifiersAreTheObjects() throws {
        let records = [
            #"{"s": "x\u0000", "j": 1}"#, #"{"s": "y", "j": 2}"#, #"{"s": "x\ufffd", "j": 3}"#,
            #"{"s": "x\u0000", "j": 4}"#,
        ]
        let model = Self.model.replacing(#""attributes""#, with: #""identifier": ["s"], "attributes""#)
            .replacing(#""string", "optional": true"#, with: #""string""#)
        let files = try ImportFiles(records: [records], model: model, options: ["--entity", "thing"])
        let database = try PGDatabase()
        let report = try database.imported(files, nil, ["--nul", "replace"])
        #expect(report.counts.inserted == 2 && report.counts.updated == 2)
        let rows = #"SELECT s, j::text FROM thing ORDER BY s COLLATE "C""#
        #expect(try database.query(rows) == "x\u{FFFD}|4\ny|2")
        #expect(try database.query("SELECT kind, sum(count) FROM _import_ledger GROUP BY 1") == "nulReplaced|2")
        #expect(try database.isVerified())
    }

    /// What is resumed has the job's own options; others are refused.
    @Test func replacingIsResumedWith() throws {
        let files = try ImportFiles(records: [Self.records], model: Self.model, options: ["--entity", "thing"])
        let whole = try String(contentsOfFile: files.sources[0], encoding: .utf8)
        try whole.dropLast(5).write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        let database = try PGDatabase()
        let broken = try database.importer(database.command(files, nil, ["--nul", "replace"]))
        #expect(broken.ending == .exit(65), "\(broken.errorText)")
        try whole.write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        let refused = try database.importer(database.command(files))
        #expect(refused.ending == .exit(64) && refused.errorText.contains("started with --nul"), "\(refused.errorText)")
        let resumed = try database.importer(["resume", database.url, "--chunks", files.directory.path("server.chunks")])
        #expect(resumed.ending == .exit(0), "\(resumed.errorText)")
        #expect(try database.query("SELECT count(*), count(s) FROM thing") == "5|4")
        #expect(try database.query("SELECT kind, sum(count) FROM _import_ledger GROUP BY 1") == "nulReplaced|2")
    }

    @Test func replacingIsForServers() throws {
        let files = try ImportFiles(records: [Self.records], model: Self.model, options: ["--entity", "thing"])
        let store = files.directory.path("a.sqlite")
        let result = try run(files.command(nil, into: store, ["--nul", "replace"]))
        #expect(result.ending == .exit(64), "\(result.ending)")
        #expect(result.errorText.contains("--nul is for a server's database"), "\(result.errorText)")
        #expect(!FileManager.default.fileExists(atPath: store))
        let database = try PGDatabase()
        let lossless = try database.importer(database.command(files, nil, ["--nul", "replace", "--lossless"]))
        #expect(lossless.ending == .exit(64) && lossless.errorText.contains("--lossless"), "\(lossless.errorText)")
        #expect(try database.query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "0")
    }

    @Test func suchARecordStopsTheImport() throws {
        let files = try ImportFiles(records: [Self.records], model: Self.model, options: ["--entity", "thing"])
        let database = try PGDatabase()
        let command = database.command(files, nil, ["--on-error", "stop"])
        let stopped = try database.importer(command)
        #expect(stopped.ending == .exit(65), "\(stopped.errorText)")
        #expect(stopped.errorText.contains("record 2"), "\(stopped.errorText)")
        #expect(try database.isVerified())
        // Corrected, it goes on.
        let mended = Self.records.map { $0.replacing(#""s": "b\u0000c""#, with: #""s": "b-c""#) }
        let last = mended.map { $0.replacing(#""s": "\u0000""#, with: #""s": """#) }
        _ = try files.write(last, to: "records0.ndjson")
        let result = try database.importer(command)
        let counts = try database.query("SELECT count(*), count(DISTINCT s) FROM thing")
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(counts == "5|4")
        #expect(try database.isVerified())
    }

    /// An inferred model takes everything.
    @Test func inferenceLosesNothing() throws {
        let files = try ImportFiles(records: [Self.records], options: ["--entity", "thing"])
        let database = try PGDatabase()
        let report = try database.imported(files)
        let text = #"SELECT s::text FROM thing WHERE s IS NOT NULL ORDER BY s::text COLLATE "C""#
        let values = try database.query(text)
        #expect(report.counts.inserted == 5 && report.counts.rejected == 0)
        #expect(values == #""\u0000"\#n"a"\#n"b\u0000c"\#n"d""#)
        #expect(try database.query("SELECT count(*) FROM _import_ledger") == "0")
        #expect(try database.isVerified())
    }

    /// The attribute is JSON wherever the text is: in the last of several sources, in another kind, in a key, in a preview.
    @Test func inferenceLooksAtAllRecords() throws {
        let first = (0..<500).map { #"{"n": \#($0), "s": "a\\u0000\#($0)", "t": "x"}"# }
        let files = try ImportFiles(
            records: [first, [#"{"n": 500, "s": "\u0000", "t": 1}"#, #"{"n": 501, "s": null, "t": "\u0000"}"#]],
            options: ["--entity", "thing", "--identifier", "n", "--chunk-size", "2K"]
        )
        let database = try PGDatabase()
        let planned = try database.importer(database.command(files, nil, ["--dry-run"]))
        #expect(planned.outputText.contains(try Regex(#"\bs +json"#)), "\(planned.outputText)")
        let result = try database.importer(database.command(files))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(result.errorText.contains("thing: s: kept as JSON: some text has U+0000"), "\(result.errorText)")
        #expect(try database.query("SELECT count(*), count(s), count(t) FROM thing") == "502|501|502")
        #expect(try database.query("SELECT s::text, t::text FROM thing WHERE n = 7") == #""a\\u00007"|"x""#)
        let last = try database.query("SELECT s::text, t::text FROM thing WHERE n > 499 ORDER BY n")
        #expect(last == #""\u0000"|1"# + "\n" + #"|"\u0000""#)
        // A store in a file has texts, and this one, too, where it is asked for.
        let store = try files.storeOfTheSame()
        #expect(try StoreContent.query(store.path, "SELECT typeof(s), hex(s) FROM thing WHERE n = 500") == "text|00")
        let other = try PGDatabase()
        try other.imported(files, nil, ["--nul", "replace"])
        #expect(try other.query("SELECT s, t FROM thing WHERE n > 499 ORDER BY n") == "\u{FFFD}|1\n|\u{FFFD}")
    }

    /// Its columns are what they were when it was made.
    @Test func aTableThatIsThereKeepsItsColumns() throws {
        let files = try ImportFiles(records: [[#"{"s": "a"}"#, "{}"]], options: ["--entity", "thing"])
        let database = try PGDatabase()
        try database.imported(files)
        let more = try files.write([#"{"s": "\u0000", "new": "\u0000"}"#, #"{"s": "b"}"#], to: "more.ndjson")
        let report = try database.imported(files, [more], ["--on-error", "null"])
        #expect(report.counts.inserted == 2 && report.counts.rejected == 0)
        let rows = #"SELECT s, "new"::text FROM thing ORDER BY s COLLATE "C", 2"#
        #expect(try database.query(rows) == #"a|"# + "\nb|\n" + #"|"\u0000""# + "\n|")
    }

    /// Keys of records are texts, too.
    @Test func keysOfRecordsAreKept() throws {
        let files = try ImportFiles(
            [(name: "a.json", content: Data(#"{"x\u0000": {"v": 1}, "y": {"v": 2}}"#.utf8))],
            options: ["--entity", "thing", "--records", "$.*"]
        )
        let database = try PGDatabase()
        let report = try database.imported(files)
        #expect(report.counts.inserted == 2)
        #expect(try database.query("SELECT key::text, v FROM thing ORDER BY v") == #""x\u0000"|1"# + "\n" + #""y"|2"#)
    }
}
