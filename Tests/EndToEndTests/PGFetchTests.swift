import Foundation
import TestSupport
import Testing

/// `fetch` and `rejects` print of a server's schema what they print of a SQLite store with the same records.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGFetchTests {
    private static let model = """
        {"entities": {"Thing": {"table": "things", "identifier": ["n"], "attributes": {
          "n": {"type": "integer32", "from": "number"},
          "text": {"type": "string", "optional": true}, "price": {"type": "decimal", "optional": true},
          "part": {"type": "float", "optional": true}, "on": {"type": "boolean", "optional": true},
          "day": {"type": "date", "format": "dd/MM/yyyy", "optional": true},
          "clock": {"type": "date", "wallClock": true, "optional": true},
          "time": {"type": "date", "storage": "unixMilliseconds", "optional": true}, "id": {"type": "uuid", "optional": true},
          "raw": {"type": "json", "optional": true}, "bytes": {"type": "binary", "format": "base64url", "optional": true},
          "flags": {"type": "bitfield", "bits": {"a": 0, "b.c": 62}, "optional": true}}}}}
        """

    private static let records = [
        """
        {"number": 1, "text": "a,\\"b\\"\\n|\\u001b[31m <é>", "price": 12345678901234567890.125, "part": 0.1,
          "on": true, "day": "29/02/2024", "clock": "2024-02-29T01:02:03.456+05:00", "time": "2024-02-29T01:02:03.456Z",
          "raw": {"k": [1, 2.50, "\\ud800\u{85}"]}, "id": "6BA7B810-9DAD-11D1-80B4-00C04FD430C8",
          "bytes": "__8", "flags": {"a": true, "b": {"c": true}}}
        """.replacing("\n", with: " "),
        #"{"number": 2, "text": "", "price": 1E+30, "part": -0.0, "on": false, "raw": "x", "bytes": ""}"#,
        #"{"number": 3, "text": "日本 e\u0301", "price": 0.10, "raw": [], "flags": {"a": false}}"#,
        #"{"number": 4, "raw": null, "day": null}"#, #"{"number": "five"}"#, #"{"text": "no number"}"#,
        #"{"number": 7, "on": "maybe", "text": "\u0001 <b>"}"#, #"{"number": 8"#, #"not JSON"#,
    ]

    private struct Both {
        let files: ImportFiles
        let store: String
        let database: PGDatabase

        init() throws {
            files = try ImportFiles(records: [PGFetchTests.records], model: PGFetchTests.model)
            database = try PGDatabase()
            try database.imported(files)
            store = try files.storeOfTheSame().path
        }

        /// What both print; the arguments' `STORE` is the store.
        func results(_ arguments: [String]) throws -> (ChildProcess.Result, ChildProcess.Result) {
            let one = try run([Project.importer] + arguments.map { $0 == "STORE" ? store : $0 })
            return (one, try database.importer(arguments.map { $0 == "STORE" ? database.url : $0 }))
        }
    }

    @Test func printsTheSame() throws {
        let both = try Both()
        let formats = ["table", "json", "ndjson", "csv", "markdown"].map { ["--format", $0] }
        let more: [[String]] = [
            ["--json", "--dates", "dotnet"], ["--dates", "unix", "--format", "csv"],
            ["--columns", "text,n", "--columns", "on"],
            ["--limit", "2", "--offset", "1"], ["--sort", "text:desc"],
            ["--sort", "on,text:nocase", "--format", "ndjson"],
            ["--where", "n > 1 and text is not null", "--format", "json"], ["--where", "not on", "--count"],
            ["--count", "--json"], ["--print-model"], ["--where", "text like '%E\u{301}'", "--columns", "n"],
            ["--where", "n = 'x'"], ["--where", "nothing = 1"], ["--columns", "nothing"], ["--sort", "nothing"],
        ]
        for options in formats + more {
            let (expected, found) = try both.results(["fetch", "STORE", "Thing"] + options)
            #expect(found.output == expected.output, "\(options)")
            #expect(found.ending == expected.ending, "\(options) \(found.errorText)")
            #expect(found.errorText == expected.errorText, "\(options)")
        }
        for arguments in [["fetch", "STORE"], ["fetch", "STORE", "--json"]] {
            let (expected, found) = try both.results(arguments)
            #expect(found.output == expected.output && found.ending == .exit(0))
        }
    }

    @Test func saysWhatAServerCannotDo() throws {
        let both = try Both()
        for options in [
            ["--where", "rowid > 1"], ["--sort", "rowid"], ["--columns", "rowid"], ["--include", "x", "--json"],
            ["--where", "price > 1e200000"],
        ] {
            let result = try both.database.importer(["fetch", both.database.url, "Thing"] + options)
            #expect(result.ending == .exit(64), "\(options) \(result.errorText)")
            #expect(result.output.isEmpty && result.errorText.contains("server"), "\(options) \(result.errorText)")
        }
        let unknown = try both.database.importer(["fetch", both.database.url, "Nothing"])
        #expect(unknown.ending == .exit(66))
        let local = try run([Project.importer, "fetch", both.store, "Thing", "--schema", "other"])
        #expect(local.ending == .exit(64))
        let empty = try both.database.importer(["fetch", both.database.url, "--schema", "other"])
        #expect(empty.ending == .exit(66))
    }

    /// More than a pipe holds, for a reader who has enough, and for one who never reads.
    @Test func endsWithItsReader() throws {
        let both = try Both()
        try both.database.execute(
            "INSERT INTO things (n, text) SELECT n, repeat('x', 300) FROM generate_series(100, 100000) AS n"
        )
        let command = "'\(Project.importer)' fetch '\(both.database.url)' Thing --format ndjson"
        let text = "(\(command); echo $? >&2) | head -n 2 | wc -l"
        let head = try ChildProcess(["sh", "-c", text], environment: both.database.server.environment).wait()
        #expect(head.outputText.trimmingCharacters(in: .whitespacesAndNewlines) == "2")
        #expect(head.errorText == "0\n")
        let connections =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        try wait(for: "the end of the statement") { try both.database.query(connections) == "0" ? true : nil }
    }

    @Test func endsWithASignalWhileTheServerIsAtWork() throws {
        let both = try Both()
        let blocker = try both.database.holdBack("things", readers: true)
        let child = try both.database.start(["fetch", both.database.url, "Thing"])
        try wait(for: "the statement") { try both.database.heldBack("things") > 0 ? true : nil }
        child.signal(SIGINT)
        let result = child.wait()
        #expect(result.ending == .exit(130), "\(result.errorText)")
        try wait(for: "the end of the statement") { try both.database.heldBack("things") == 0 ? true : nil }
        blocker.end()
    }

    @Test func exportsTheSameRejects() throws {
        let both = try Both()
        for options in [
            ["--to", "-"], ["--raw"], ["--raw", "--all"], ["--to", "-", "--entity", "Thing"], ["--raw", "--job", "1"],
        ] {
            let (expected, found) = try both.results(["rejects", "STORE"] + options)
            #expect(found.output == expected.output, "\(options)")
            #expect(
                found.ending == expected.ending && found.errorText == expected.errorText,
                "\(options) \(found.errorText)"
            )
        }
        let path = both.files.directory.path("fix.ndjson")
        let written = try both.database.importer(["rejects", both.database.url, "--to", path])
        #expect(written.ending == .exit(0), "\(written.errorText)")
        let expected = try run([Project.importer, "rejects", both.store, "--to", "-"])
        #expect(try Data(contentsOf: URL(filePath: path)) == expected.output && !expected.output.isEmpty)
        let again = try both.database.importer(["rejects", both.database.url, "--to", path])
        #expect(again.ending == .exit(73))
        #expect(try both.database.importer(["rejects", both.database.url, "--to", path, "--force"]).ending == .exit(0))
    }
}
