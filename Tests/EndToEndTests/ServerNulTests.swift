import Foundation
import TestSupport
import Testing

/// U+0000, which a server's texts cannot have.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct ServerNulTests {
    private static let records = [
        #"{"s": "a", "j": "\u0000"}"#, #"{"s": "b\u0000c", "j": 1}"#, #"{"j": {"\u0000": 2}}"#, #"{"s": "\u0000"}"#,
        #"{"s": "d"}"#,
    ]
    private static let model = """
        {"entities": {"thing": {"attributes": {
          "s": {"type": "string", "optional": true}, "j": {"type": "json", "optional": true}}}}}
        """

    /// In all shapes that records come in.
    @Test(arguments: ["ndjson", "json", "ndjson.gz", "-", "chunks"])
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
        let database = try ServerDatabase()
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
        let codes = "SELECT code, sum(count) FROM _import_error GROUP BY 1"
        #expect(try database.query(codes) == "nulCharacter|2")
        let listed = try database.importer(["rejects", database.url, "--show-values"])
        for index in [1, 3] { #expect(listed.outputText.contains(Self.records[index]), "\(listed.errorText)") }
        #expect(try database.isVerified())
    }

    @Test func suchValuesBecomeNull() throws {
        let files = try ImportFiles(records: [Self.records], model: Self.model, options: ["--entity", "thing"])
        let database = try ServerDatabase()
        let report = try database.imported(files, nil, ["--on-error", "null"])
        #expect(report.counts.inserted == 5 && report.counts.rejected == 0)
        #expect(try database.query("SELECT count(*), count(s) FROM thing") == "5|2")
        #expect(try database.query("SELECT attribute, kind, count FROM _import_ledger") == "s|nulled|2")
        #expect(try database.isVerified())
    }

    @Test func suchARecordStopsTheImport() throws {
        let files = try ImportFiles(records: [Self.records], model: Self.model, options: ["--entity", "thing"])
        let database = try ServerDatabase()
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
        let database = try ServerDatabase()
        let report = try database.imported(files)
        let text = #"SELECT s::text FROM thing WHERE s IS NOT NULL ORDER BY s::text COLLATE "C""#
        let values = try database.query(text)
        withKnownIssue("inference does not know of servers") {
            #expect(report.counts.inserted == 5 && report.counts.rejected == 0)
            #expect(values == #""\u0000"\#n"a"\#n"b\u0000c"\#n"d""#)
        }
        #expect(try database.isVerified())
    }
}
