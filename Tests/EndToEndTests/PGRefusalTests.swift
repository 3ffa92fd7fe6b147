import Foundation
import TestSupport
import Testing

/// What an import into a server refuses: each says what is wrong, where, and what to do, and nothing is written.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGRefusalTests {
    /// Found nowhere else.
    private static let password = "Quittenmus-9731"
    private static let model = """
        {"entities": {"thing": {"attributes": {
          "id": {"type": "integer64"}, "s": {"type": "string", "optional": true}}}}}
        """

    private static func files() throws -> ImportFiles {
        let records = (0..<40).map { "{\"id\": \($0), \"s\": \"s\($0)\"}" }
        return try ImportFiles(records: [records], model: model, options: ["--entity", "thing"])
    }

    private static func passwordFile(in directory: TemporaryDirectory) throws -> [String: String] {
        let path = try directory.write("*:*:*:*:\(password)\n", to: "pass")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return ["PGPASSFILE": path]
    }

    /// Expects a refusal with all of these texts on standard error, an advice in a line of its own, and no password.
    private static func expect(
        _ result: ChildProcess.Result,
        _ code: Int32,
        _ texts: String...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let said = result.errorText
        #expect(result.ending == .exit(code), "\(said)", sourceLocation: sourceLocation)
        for text in texts { #expect(said.contains(text), "\(text): \(said)", sourceLocation: sourceLocation) }
        #expect(said.hasPrefix("importer: error: "), "\(said)", sourceLocation: sourceLocation)
        #expect(said.contains("\n  "), "no advice: \(said)", sourceLocation: sourceLocation)
        #expect(!(said + result.outputText).contains(password), sourceLocation: sourceLocation)
    }

    private static func quiet(_ files: ImportFiles, _ url: String) -> [String] {
        ["import"] + files.sources + ["--into", url, "--quiet"] + files.jobOptions
            + ["--chunks", files.directory.path("server.chunks")]
    }

    @Test func addressesThatLeadNowhere() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        let host = "postgresql://importer@host.invalid/shop"
        try Self.expect(database.importer(Self.quiet(files, host)), 69, "host.invalid", "no such host")
        let folder = "postgresql://importer@/shop?host=\(files.directory.path)"
        try Self.expect(database.importer(Self.quiet(files, folder)), 69, folder, "cannot be reached")
        let name = "postgresql://importer@/absent?host=\(database.server.folder)"
        try Self.expect(database.importer(Self.quiet(files, name)), 66, name, "no such database", "Create it")
        for arguments in [["resume"], ["status"], ["verify"], ["rejects"], ["work"]] {
            try Self.expect(database.importer(arguments + [name]), 66, name, "no such database")
        }
        #expect(files.directory.names(in: "server.chunks").isEmpty)
    }

    @Test func loginsAndRights() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        let environment = try Self.passwordFile(in: files.directory)
        func attempt(_ url: String, _ options: [String] = []) throws -> ChildProcess.Result {
            try database.importer(Self.quiet(files, url) + options, environment: environment)
        }
        try Self.expect(attempt(database.url), 77, database.url, "refuses the login", ".pgpass")
        // As it is from PostgreSQL 15 on.
        try database.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        try database.execute("CREATE ROLE guest LOGIN PASSWORD '\(Self.password)'")
        let guest = database.url.replacing("importer@", with: "guest@")
        try Self.expect(attempt(guest), 77, guest, "public", "permi", "Grant")
        try Self.expect(attempt(guest, ["--schema", "own"]), 77, guest, "permi", "Grant")
        // One that is there and may not be used at all.
        try database.execute("CREATE SCHEMA closed")
        try Self.expect(attempt(guest, ["--schema", "closed"]), 77, guest, "closed", "permi", "Grant")
        for command in ["status", "verify", "rejects", "resume", "work"] {
            let arguments = [command, guest, "--schema", "closed"]
            try Self.expect(database.importer(arguments, environment: environment), 77, guest, "closed", "Grant")
        }
        // One schema is enough.
        try database.execute("CREATE SCHEMA own AUTHORIZATION guest")
        #expect(try attempt(guest, ["--schema", "own"]).ending == .exit(0))
        #expect(try database.query("SELECT count(*) FROM own.thing") == "40")
        #expect(try database.query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "0")
    }

    /// It would be in the list of processes.
    @Test func aPasswordInTheAddress() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        let within = database.url.replacing("importer@", with: "importer:\(Self.password)@")
        for url in [within, database.url + "&password=\(Self.password)"] {
            for arguments in [Self.quiet(files, url), ["work", url], ["status", url], ["verify", url]] {
                try Self.expect(database.importer(arguments), 64, "password", ".pgpass", "PGPASSWORD")
            }
        }
    }

    @Test(arguments: [
        ("CREATE TABLE thing (id bigint, s integer)", Int32(65), "thing.s"),
        ("CREATE TABLE thing (id text, s text)", 65, "thing.id"),
        ("CREATE VIEW thing AS SELECT 1::bigint AS id, 'a' AS s", 64, "view named thing"),
        ("CREATE MATERIALIZED VIEW thing AS SELECT 1::bigint AS id, 'a' AS s", 64, "thing"),
        ("CREATE SEQUENCE thing", 64, "thing"),
        ("CREATE TABLE thing (id bigint, s text, \"Code\" integer NOT NULL)", 65, "the column Code of the table thing"),
    ])
    func tablesThatDoNotFit(_ sql: String, _ code: Int32, _ text: String) throws {
        let files = try Self.files()
        let database = try PGDatabase()
        try database.execute(sql)
        let tables = "SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        let before = try database.query(tables)
        try Self.expect(database.importer(Self.quiet(files, database.url)), code, text, database.url)
        #expect(try database.query(tables) == before)
        #expect(files.directory.names(in: "server.chunks").isEmpty)
    }

    /// A table of others that fits, with columns of its own, wider ones, and one that takes the model's.
    @Test func tablesThatFit() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        let columns = "own serial PRIMARY KEY, s varchar(2), at timestamptz DEFAULT now(), id bigint NOT NULL"
        try database.execute("CREATE TABLE thing (\(columns)); INSERT INTO thing (id) VALUES (-1)")
        let report = try database.imported(files)
        // Texts of three characters do not fit.
        #expect(report.counts.inserted == 10 && report.counts.rejected == 30)
        let counts = "SELECT count(*), count(DISTINCT own), count(at), max(s) FROM thing"
        #expect(try database.query(counts) == "11|11|11|s9")
        #expect(try database.isVerified())
    }

    /// It is said on standard error and in the report, and no longer when it can be built.
    @Test func anIndexThatAValueIsTooLongFor() throws {
        let long = (0..<20_000).map { String(($0 * 7_919) % 65_521, radix: 36) }.joined()
        let records = ["{\"id\": 1, \"s\": \"\(long)\"}", "{\"id\": 2, \"s\": \"x\"}"]
        let model = Self.model.replacing("{\"attributes\"", with: "{\"indexes\": [[\"s\", \"id\"]], \"attributes\"")
        let files = try ImportFiles(records: [records], model: model, options: ["--entity", "thing"])
        let database = try PGDatabase()
        let options = ["--index", "s", "--index", "id", "--json"]
        let result = try database.importer(database.command(files, nil, options))
        #expect(result.ending == .exit(0), "\(result.errorText)")
        for attributes in ["s", "s,id"] {
            let notice = "importer: thing: no index on \(attributes): a value is too long for one\n"
            #expect(result.errorText.contains(notice), "\(result.errorText)")
        }
        let ledger = try JSONDecoder().decode(Ledger.self, from: result.output).ledger
        #expect(ledger == ["thing": ["s": ["indexLeftOut": 1], "s,id": ["indexLeftOut": 1]]])
        let status = try database.importer(["status", database.url])
        #expect(status.outputText.contains("1 × index left out, as a value is too long"), "\(status.outputText)")
        let indexes = "SELECT indexname FROM pg_indexes WHERE tablename = 'thing'"
        #expect(try database.query(indexes) == "thing_id")
        let again = try database.importer(database.command(files, nil, ["--index", "s"]))
        #expect(again.ending == .exit(0) && again.errorText.contains("thing: no index on s:"), "\(again.errorText)")
        // Nothing is left of the row, which an index has for as long as somebody may see it.
        try database.execute("TRUNCATE thing; INSERT INTO thing (id, s) VALUES (2, 'x')")
        let built = try database.importer(database.command(files, nil, ["--index", "s"]))
        #expect(built.errorText.contains("built the index thing_s\n"), "\(built.errorText)")
        #expect(!built.errorText.contains("no index"), "\(built.errorText)")
        #expect(try database.query("SELECT count(*) FROM _import_ledger") == "0")
    }

    private struct Ledger: Decodable {
        let ledger: [String: [String: [String: Int]]]
    }

    @Test func aServerThatTakesNoWrites() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        let readOnly = ["PGOPTIONS": "-c default_transaction_read_only=on"]
        let refused = try database.importer(Self.quiet(files, database.url), environment: readOnly)
        Self.expect(refused, 73, database.url, "read-only")
        #expect(try database.query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "0")
        try database.imported(files)
        // Reading is possible.
        for command in ["status", "verify", "rejects"] {
            let result = try database.importer([command, database.url], environment: readOnly)
            #expect(result.ending == .exit(0), "\(command): \(result.errorText)")
        }
    }

    @Test func commandsThatNeedAFile() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        let (url, file) = (database.url, files.sources[0])
        let commands = [
            ["watch", url], ["serve", url], ["diff", url, url], ["undo", url], ["patch", url, file],
            ["migrate", url, "--model", files.model], ["merge", url, url, url], ["mirror", url, "--job", "1"],
            Self.quiet(files, url) + ["--mirror"], Self.quiet(files, url) + ["--undo"],
        ]
        for command in commands {
            let result = try database.importer(command)
            #expect(result.ending == .exit(64), "\(command): \(result.errorText)")
            #expect(result.errorText.contains("needs a SQLite store"), "\(command): \(result.errorText)")
        }
        let result = try database.importer(["work", files.directory.path("a.sqlite")])
        #expect(result.ending == .exit(64) && result.errorText.contains("postgresql://"), "\(result.errorText)")
        #expect(try database.query("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == "0")
    }

    /// What is to be typed next names the schema, too.
    @Test func adviceNamesTheSchema() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        let whole = try String(contentsOfFile: files.sources[0], encoding: .utf8)
        try whole.dropLast(5).write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        let command = Self.quiet(files, database.url) + ["--schema", "my own"]
        #expect(try database.importer(command).ending == .exit(65))
        let other = try database.importer(command + ["--on-error", "null"])
        Self.expect(other, 64, "--on-error", "resume '\(database.url)' --schema 'my own'`")
        for arguments in [["status", "--job", "1"], ["status"]] {
            let status = try database.importer(
                [arguments[0], database.url, "--schema", "my own"] + arguments.dropFirst()
            )
            #expect(status.outputText.contains("resume '\(database.url)' --schema 'my own'"), "\(status.outputText)")
        }
    }

    /// No work where no import is.
    @Test func thereIsNothingToTakePartIn() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        try Self.expect(database.importer(["work", database.url, "--wait", "0"]), 75, database.url, "no import")
        try database.imported(files)
        try Self.expect(database.importer(["work", database.url, "--wait", "0"]), 75, database.url, "no import")
    }

    /// The password is in no table of ours, no output, no chunk and no report, wherever it came from.
    @Test(arguments: [true, false])
    func thePasswordStaysWhereItIs(isInFile: Bool) throws {
        let files = try Self.files()
        let role = isInFile ? "by_file" : "by_variable"
        let database = try PGDatabase()
        try database.execute("CREATE ROLE \(role) LOGIN PASSWORD '\(Self.password)'")
        try database.execute("GRANT ALL ON SCHEMA public TO \(role)")
        var environment = ["PGPASSFILE": "/dev/null", "PGPASSWORD": Self.password]
        let directory = try TemporaryDirectory()
        if isInFile { environment = try Self.passwordFile(in: directory) }
        let url = database.url.replacing("importer@", with: "\(role)@")
        // It breaks off, so that all that there is meanwhile stays.
        let whole = try String(contentsOfFile: files.sources[0], encoding: .utf8)
        try whole.dropLast(5).write(toFile: files.sources[0], atomically: true, encoding: .utf8)
        var said = ""
        for progress in ["lines", "json"] {
            let command = ["import"] + files.sources + ["--into", url] + files.jobOptions
            let options = ["--chunk-size", "300", "--progress", progress, "--chunks", files.directory.path("chunks")]
            let report = ["--report", files.directory.path("report.json"), "--keep-chunks"]
            let result = try database.importer(command + options + report, environment: environment)
            #expect(result.ending == .exit(65), "\(result.errorText)")
            said += result.outputText + result.errorText
        }
        for command in [["status", url], ["status", url, "--json"], ["verify", url], ["rejects", url]] {
            let result = try database.importer(command, environment: environment)
            said += result.outputText + result.errorText
        }
        let names = try database.query("SELECT tablename FROM pg_tables WHERE tablename LIKE '\\_import\\_%'")
        for name in names.split(separator: "\n") { said += try database.query("SELECT t::text FROM \(name) AS t") }
        let contents = try files.directory.contents(of: "chunks")
        #expect(contents.count > 2)
        for data in contents.values { said += String(decoding: data, as: UTF8.self) }
        said += try String(contentsOfFile: files.directory.path("report.json"), encoding: .utf8)
        #expect(said.contains(files.sources[0]) && said.contains(role))
        #expect(!said.contains(Self.password))
    }
}
