import Foundation
import TestSupport
import Testing

/// Imports into a server's database that come after one another, with the same options or with others.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGJobTests {
    private static let model = """
        {"entities": {"thing": {"records": "$", "attributes": {
          "id": {"type": "integer64"}, "s": {"type": "string", "optional": true}}}}}
        """

    private static func files(_ records: [String]) throws -> ImportFiles {
        try ImportFiles(records: [records], model: model, options: ["--entity", "thing"])
    }

    private static func records(_ numbers: Range<Int>) -> [String] {
        numbers.map { "{\"id\": \($0), \"s\": \"s\($0)\"}" }
    }

    @Test func aFinishedImportIsDoneAgainIfAskedFor() throws {
        let files = try Self.files(Self.records(0..<50))
        let database = try PGDatabase()
        #expect(try database.imported(files).counts.inserted == 50)
        let more = try database.importer(database.command(files))
        #expect(more.ending == .exit(0))
        #expect(more.outputText.contains("--again"), "\(more.outputText)")
        #expect(try database.query("SELECT count(*) FROM thing") == "50")
        #expect(try database.imported(files, nil, ["--again"]).counts.inserted == 50)
        #expect(try database.query("SELECT count(*), count(DISTINCT id) FROM thing") == "100|50")
        #expect(try database.isVerified())
        let status = try database.importer(["status", database.url, "--json"])
        let object = try JSONSerialization.jsonObject(with: status.output) as? [String: Any]
        let jobs = object?["jobs"] as? [[String: Any]]
        #expect(jobs?.map { $0["inserted"] as? Int } == [50, 50])
        #expect(jobs?.map { $0["state"] as? String } == ["finished", "finished"])
        // What others have done is seen.
        try database.execute("DELETE FROM thing WHERE ctid IN (SELECT ctid FROM thing WHERE id = 7 LIMIT 1)")
        #expect(try database.importer(["verify", database.url]).outputText.contains("99"))
    }

    /// Small sources that share chunk files elsewhere have files of their own here; those of a split are read as they are.
    @Test func manySmallSourcesAreImported() throws {
        let folder = try TemporaryDirectory()
        var ids: [Int] = []
        for source in 0..<40 {
            let own = (0..<(source + 1) % 4).map { 100 * source + $0 }
            ids += own
            let text = own.map { "{\"id\":\($0)}" }.joined(separator: ",")
            try folder.write("[\(text)]", to: "item-\(100 + source).json")
        }
        let database = try PGDatabase()
        for (schema, cut) in [("plain", false), ("split", true)] {
            let chunks = folder.path + ".split"
            if cut {
                let split = try database.importer(["split", folder.path, "--to", chunks])
                #expect(split.ending == .exit(0), "\(split.errorText)")
            }
            let arguments = ["import", cut ? chunks : folder.path, "--into", database.url, "--schema", schema]
            let options = ["--entity", "item"] + (cut ? [] : ["--chunks", folder.path + ".chunks"])
            let result = try database.importer(arguments + options)
            #expect(result.ending == .exit(0), "\(result.errorText)")
            let rows = try database.query("SELECT string_agg(id::text, ' ' ORDER BY id) FROM \(schema).item")
            #expect(rows == ids.map(String.init).joined(separator: " "))
            #expect(try database.importer(["verify", database.url, "--schema", schema]).ending == .exit(0))
            try? FileManager.default.removeItem(atPath: chunks)
        }
    }

    /// A source that breaks off is resumed with the same options only, or restarted.
    @Test func otherOptionsAreRefusedAtAResume() throws {
        let records = Self.records(0..<60)
        let files = try Self.files(records)
        let whole = try String(contentsOfFile: files.sources[0], encoding: .utf8)
        try whole.dropLast(20).write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        let database = try PGDatabase()
        let broken = try database.importer(database.command(files, nil, ["--chunk-size", "500"]))
        #expect(broken.ending == .exit(65), "\(broken.errorText)")
        let rows = try database.rows(of: "thing")
        #expect(rows.count == 59)
        for options in [["--on-error", "null"], ["--limit", "3"], ["--lossless"]] {
            let refused = try database.importer(database.command(files, nil, options))
            #expect(refused.ending == .exit(64), "\(refused.errorText)")
            #expect(refused.errorText.contains("without \(options[0])"), "\(refused.errorText)")
            #expect(refused.errorText.contains("--restart"))
        }
        #expect(try database.rows(of: "thing") == rows)
        #expect(try database.isVerified())
        // The tables were empty, so its rows can go.
        let restarted = try database.importer(database.command(files, nil, ["--limit", "3", "--restart"]))
        #expect(restarted.ending == .exit(0), "\(restarted.errorText)")
        #expect(try database.query("SELECT string_agg(id::text, ' ' ORDER BY id) FROM thing") == "0 1 2")
        #expect(try database.isVerified())
    }

    /// Nobody could tell its rows from those that were there.
    @Test func aRestartIsRefusedWhereTheTableWasNotEmpty() throws {
        let files = try Self.files(Self.records(0..<60))
        let database = try PGDatabase()
        try database.execute("CREATE TABLE thing (id bigint NOT NULL, s text); INSERT INTO thing VALUES (-1, 'mine')")
        let whole = try String(contentsOfFile: files.sources[0], encoding: .utf8)
        try whole.dropLast(20).write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        #expect(try database.importer(database.command(files)).ending == .exit(65))
        let refused = try database.importer(database.command(files, nil, ["--restart"]))
        #expect(refused.ending == .exit(64), "\(refused.ending) \(refused.errorText)")
        #expect(try database.query("SELECT count(*) FROM thing") == "60")
        // Completed, it goes on.
        try whole.write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        let result = try database.importer(["resume", database.url])
        #expect(result.ending == .exit(0), "\(result.errorText)")
        #expect(try database.query("SELECT count(*), count(DISTINCT id) FROM thing") == "61|61")
        #expect(try database.isVerified())
    }

    /// What another import has brought into the same table since is not taken away with the rows of the one that stopped.
    @Test func anImportThatAnotherHasOvertakenInItsTableIsNotTakenBack() throws {
        let directory = try TemporaryDirectory()
        let (cut, other) = (directory.path("cut.json"), directory.path("other.json"))
        let database = try PGDatabase()
        func taken(_ source: String, _ options: [String] = []) throws -> ChildProcess.Result {
            let own = ["--entity", "thing", "--chunks", source + ".chunks"]
            return try database.importer(["import", source, "--into", database.url] + own + options)
        }
        try #"[{"id":1,"a":1},{"id":2,"a":"#.write(toFile: cut, atomically: true, encoding: .utf8)
        #expect(try taken(cut).ending == .exit(65))
        try #"[{"id":5}]"#.write(toFile: other, atomically: true, encoding: .utf8)
        #expect(try taken(other).ending == .exit(0))
        // With another type than before, so its rows would have to be made anew.
        try #"[{"id":1,"a":1},{"id":2,"a":"x"}]"#.write(toFile: cut, atomically: true, encoding: .utf8)
        for options in [[], ["--restart"]] {
            let refused = try taken(cut, options)
            #expect(refused.ending == .exit(64) && refused.errorText.contains("thing"), "\(refused.errorText)")
            #expect(try database.query("SELECT string_agg(id::text, ' ' ORDER BY id) FROM thing") == "1 5")
        }
    }

    /// Tables of an earlier format are left alone, and the message says what can be done.
    @Test func anotherFormatIsRefused() throws {
        let files = try Self.files(Self.records(0..<5))
        let database = try PGDatabase()
        try database.imported(files)
        try database.execute("COMMENT ON TABLE _import_job IS '1'; ALTER TABLE _import_count DROP nested")
        let tables = "SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables WHERE tablename ~ '^_import'"
        let before = try database.query(tables)
        let file = try files.directory.write("{\"reject\": 1, \"record\": {}}\n", to: "fix.ndjson")
        for command in [
            database.command(files, nil, ["--again"]), ["resume", database.url], ["retry", database.url, file],
            ["work", database.url, "--wait", "0"], ["status", database.url], ["verify", database.url],
        ] {
            let result = try database.importer(command)
            #expect(result.ending == .exit(65), "\(command[0]): \(result.ending) \(result.errorText)")
            #expect(result.errorText.contains("format 1, and this program knows format"), "\(result.errorText)")
            #expect(result.errorText.contains("import into another schema"), "\(result.errorText)")
        }
        #expect(try database.query(tables) == before)
        // Without them its tables are as those of others.
        try database.execute("DROP TABLE \(before.replacing(" ", with: ", "))")
        #expect(try database.imported(files).counts.inserted == 5)
        #expect(try database.query("SELECT count(*) FROM thing") == "10")
    }

    /// Two schemas of one database have nothing to do with each other.
    @Test func aSchemaIsMade() throws {
        let files = try Self.files(Self.records(0..<5))
        let database = try PGDatabase()
        for schema in ["one", "Two \"2\""] { try database.imported(files, nil, ["--schema", schema]) }
        let tables = "SELECT schemaname, count(*) FROM pg_tables WHERE tablename = 'thing' GROUP BY 1 ORDER BY 1"
        #expect(try database.query(tables) == "Two \"2\"|1\none|1")
        #expect(try database.query("SELECT count(*) FROM \"Two \"\"2\"\"\".thing") == "5")
        #expect(try database.importer(["verify", database.url, "--schema", "one"]).ending == .exit(0))
        #expect(try database.importer(["verify", database.url]).ending == .exit(66))
        let path = database.url + "&options=-csearch_path%3Done"
        #expect(try database.importer(["verify", path]).ending == .exit(0))
    }
}
