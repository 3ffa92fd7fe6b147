import Foundation
import TestSupport
import Testing

/// What the server says of values is shown where it is asked for, and nowhere else.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGValueTests {
    /// Found nowhere else.
    private static let secret = "Quittenmus-8642"
    private static let model = """
        {"entities": {"thing": {"attributes": {
          "id": {"type": "integer64"}, "s": {"type": "string", "optional": true}}}}}
        """

    private static func files() throws -> ImportFiles {
        let records = (0..<40).map { "{\"id\": \($0), \"s\": \"\($0 == 17 ? secret : "s\($0)")\"}" }
        return try ImportFiles(records: [records], model: model, options: ["--entity", "thing"])
    }

    /// All that is said of a schema without being asked for values, and all that its tables have but the bytes of rejects.
    private static func everything(_ database: PGDatabase) throws -> String {
        var said = ""
        for command in [
            ["status"], ["status", "--json", "--job", "1"], ["verify"], ["rejects"], ["rejects", "--json"],
        ] {
            let result = try database.importer([command[0], database.url] + command.dropFirst())
            said += result.outputText + result.errorText
        }
        let names = try database.query("SELECT tablename FROM pg_tables WHERE tablename LIKE '\\_import\\_%'")
        for name in names.split(separator: "\n") {
            said += try database.query("SELECT to_jsonb(t)::jsonb - 'record' FROM \(name) AS t")
        }
        return said
    }

    private static func imported(_ files: ImportFiles, _ database: PGDatabase) throws -> ChildProcess.Result {
        try database.importer(database.command(files, nil, ["--report", files.directory.path("report.json")]))
    }

    /// What stops an import.
    @Test func detailsOfFailuresAreShownWhereTheyAreAskedFor() throws {
        let files = try Self.files()
        let database = try PGDatabase()
        try database.execute(
            """
            CREATE TABLE thing (id bigint, s text);
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF NEW.id = 17 THEN RAISE EXCEPTION 'not today' USING ERRCODE = '0A000', DETAIL = 'It is ' || NEW.s; END IF;
                    RETURN NEW;
                END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON thing FOR EACH ROW EXECUTE FUNCTION refuse();
            """
        )
        let result = try Self.imported(files, database)
        #expect(result.ending == .exit(74) && result.errorText.contains("not today"), "\(result.errorText)")
        let report = try String(contentsOfFile: files.directory.path("report.json"), encoding: .utf8)
        let said = try result.outputText + result.errorText + report + Self.everything(database)
        #expect(said.contains("not today") && !said.contains(Self.secret), "\(said)")
        // The chunk is taken up to five times; each says why.
        let chunks = ["--chunks", files.directory.path("server.chunks")]
        let shown = try database.importer(["resume", database.url, "--show-values"] + chunks)
        #expect(shown.ending == .exit(74), "\(shown.errorText)")
        #expect(shown.errorText.contains("The server says: It is \(Self.secret)"), "\(shown.errorText)")
        // Not even then it is kept.
        #expect(try !Self.everything(database).contains(Self.secret))
    }

    /// What makes rejects.
    @Test(
        arguments: Cases.few(
            2,
            of: [
                "CREATE TABLE thing (id bigint, s text CHECK (s NOT LIKE 'Q%'))",
                "CREATE TABLE thing (id bigint, s text UNIQUE); INSERT INTO thing VALUES (-1, 'Quittenmus-8642')",
                """
                CREATE TABLE thing (id bigint, s text);
                CREATE FUNCTION read() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN NEW.id := substr(NEW.s, CASE WHEN NEW.id = 17 THEN 1 ELSE 2 END)::integer; RETURN NEW; END $$;
                CREATE TRIGGER read BEFORE INSERT ON thing FOR EACH ROW EXECUTE FUNCTION read();
                """,
            ]
        )
    )
    func rejectsHaveNoValues(sql: String) throws {
        let files = try Self.files()
        let database = try PGDatabase()
        try database.execute(sql)
        let result = try Self.imported(files, database)
        #expect(result.ending == .exit(0) && result.errorText.contains(" 1 reject\n"), "\(result.errorText)")
        let report = try String(contentsOfFile: files.directory.path("report.json"), encoding: .utf8)
        let said = try result.outputText + result.errorText + report + Self.everything(database)
        #expect(said.contains("constraintViolation") && !said.contains(Self.secret), "\(said)")
        let listed = try database.importer(["rejects", database.url, "--show-values"])
        #expect(listed.outputText.contains(Self.secret), "\(listed.outputText)")
    }

    @Test func valuesOfAFileAreNotTheServers() throws {
        let files = try Self.files()
        let result = try run(files.command(into: "a.sqlite", ["--show-values"]))
        #expect(result.ending == .exit(64), "\(result.ending)")
        #expect(result.errorText.contains("--show-values is for a server's database"), "\(result.errorText)")
    }
}
