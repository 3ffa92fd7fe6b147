import Foundation
import TestSupport
import Testing

/// Forms of UUIDs, dates and decimals that an app works with: from import to undo, read by Python's SQLite.
struct StorageFormTests {
    private static let ids = [
        "00112233-4455-6677-8899-aabbccddeeff", "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
        "f0112233-4455-6677-8899-aabbccddeeff",
    ]
    private static let records = """
        {"guid": "\(ids[0].uppercased())", "when": "2024-01-02T03:04:05.678Z", "since": "2001-01-01", "price": 12.5, "boss": "\(ids[1])"}
        {"guid": "\(ids[1])", "when": "1999-12-31T23:59:59+01:00", "since": "1999-12-31T23:00:00Z", "price": 0.1, "boss": null}
        {"guid": "\(ids[2])", "when": "0001-01-01", "since": "2024-02-29T12:30:00.001Z", "price": -3, "boss": "\(ids[0])"}
        """

    /// As inference recognizes UUIDs and instants.
    private static let inferred = """
        {"guid": "\(ids[0])", "when": "2024-01-02T03:04:05.678Z", "since": "2001-01-01T00:00:00Z", "price": 12.5, "boss": "\(ids[1])"}
        {"guid": "\(ids[1])", "when": "1999-12-31T23:59:59Z", "since": "1999-12-31T23:00:00Z", "price": 0.1, "boss": null}
        """

    private static func model(_ uuid: String, _ date: String, _ since: String, _ decimal: String) -> String {
        """
        {"entities": {"person": {"identifier": ["guid"], "attributes": {
          "guid": {"type": "uuid", "storage": "\(uuid)"}, "when": {"type": "date", "storage": "\(date)"},
          "since": {"type": "date", "storage": "\(since)"}, "price": {"type": "decimal", "storage": "\(decimal)"},
          "uid": {"type": "uuid", "storage": "\(uuid)", "generated": true}},
          "relationships": {"boss": {"entity": "person", "inverse": "staff"}, "staff": {"entity": "person", "toMany": true, "inverse": "boss", "from": []}}}}}
        """
    }

    private static let plain = model("text", "iso8601", "iso8601", "text")
    private static let app = model("blob", "sqlite", "referenceDate", "real")

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func importer(_ arguments: String..., code: Int32 = 0) throws -> ChildProcess.Result {
        let result = try run([Project.importer] + arguments)
        #expect(result.ending == .exit(code), "\(arguments): \(result.outputText)\(result.errorText)")
        return result
    }

    @discardableResult
    private func night(
        _ store: String,
        _ model: String,
        _ records: String = records
    ) throws -> ChildProcess.Result {
        let source = try directory.write(records, to: "\(UUID()).ndjson")
        let file = try directory.write(model, to: "model.json")
        return try importer("import", source, "--into", directory.path(store), "--model", file, "--entity", "person")
    }

    private func query(_ store: String, _ sql: String) throws -> String {
        try StoreContent.query(directory.path(store), sql)
    }

    private func fetched(_ store: String, _ arguments: String...) throws -> String {
        let command = [Project.importer, "fetch", directory.path(store), "person", "--format", "ndjson"]
        return try run(command + arguments).outputText
    }

    /// The rows of both stores are the same, one for SQLite's own functions and the other for the importer's readers.
    @Test func storesWhatSQLiteReads() throws {
        try night("plain", Self.plain)
        try night("app", Self.app)
        let own = """
            SELECT lower(hex(guid)), lower(hex(boss_guid)), lower(hex(uid)), typeof(guid) || typeof("when") || typeof(since) || typeof(price),
                strftime('%Y-%m-%dT%H:%M:%fZ', "when"), "when" = strftime('%Y-%m-%d %H:%M:%f', "when"),
                strftime('%Y-%m-%dT%H:%M:%fZ', 978307200 + since, 'unixepoch'), price FROM person ORDER BY rowid
            """
        let theirs = """
            SELECT replace(guid, '-', ''), coalesce(replace(boss_guid, '-', ''), ''), replace(uid, '-', ''),
                'blobtextrealreal', "when", 1, since, CAST(price AS REAL) FROM person ORDER BY rowid
            """
        #expect(try query("app", own) == query("plain", theirs))
        #expect(try fetched("app").replacing("-3.0", with: "-3") == fetched("plain"))
        #expect(try query("app", "PRAGMA foreign_key_check") == "")
    }

    @Test func findsObjectsAgain() throws {
        try night("app", Self.app)
        let records = Self.records.replacing("12.5", with: "13").replacing(
            Self.ids[2],
            with: "{\(Self.ids[2].uppercased())}"
        )
        let result = try night("app", Self.app, records)
        #expect(result.outputText.contains("updated   1") && result.outputText.contains("unchanged 2"))
        #expect(try query("app", "SELECT count(*), max(price) FROM person") == "3|13.0")
        for condition in [
            "guid = '\(Self.ids[0])'", "guid in ('\(Self.ids[0].uppercased())')",
            "when > '2024-01-01' and when < '2025-01-01'",
            "since = '2001-01-01'", "price > 0.1", "boss.guid = '\(Self.ids[1])'", "boss_guid = '\(Self.ids[1])'",
            "not guid > '\(Self.ids[0])'",
        ] {
            let line = try fetched("app", "--where", condition)
            #expect(
                line.hasPrefix("{\"guid\":\"\(Self.ids[0])\"") && line.count { $0 == "\n" } == 1,
                "\(condition): \(line)"
            )
        }
        let sorted = try fetched("app", "--sort", "guid")
        #expect(sorted.split(separator: "\n").map { String($0.dropFirst(9).prefix(36)) } == Self.ids)
        #expect(try importer("verify", directory.path("app")).ending == .exit(0))
    }

    @Test func differencesGiveBackTheValues() throws {
        try night("old", Self.app)
        try FileManager.default.copyItem(atPath: directory.path("old"), toPath: directory.path("patched"))
        try FileManager.default.copyItem(atPath: directory.path("old"), toPath: directory.path("new"))
        // Also what no import writes: more digits, the text of a UUID, other spellings of dates.
        try StoreContent.execute(
            directory.path("new"),
            """
            UPDATE person SET since = 0.1234, uid = '\(Self.ids[0])', price = 0.30000000000000004 WHERE rowid = 1;
            UPDATE person SET "when" = '2024-01-02 03:04:05', since = -0.001, uid = x'00' WHERE rowid = 2;
            UPDATE person SET "when" = '2024-01-02 03:04:05.006', boss_guid = guid WHERE rowid = 3;
            """
        )
        let (old, new, patched) = (directory.path("old"), directory.path("new"), directory.path("patched"))
        let changes = directory.path("changes.ndjson")
        _ = try importer("diff", old, new, "--output", changes)
        let text = try String(contentsOfFile: changes, encoding: .utf8)
        #expect(
            text.contains(#""identifier":{"guid":"\#(Self.ids[0])"}"#)
                && text.contains(#""when":"2024-01-02T03:04:05.006Z""#)
        )
        _ = try importer("patch", patched, changes)
        #expect(try StoreContent.digest(patched) == StoreContent.digest(new))
        _ = try importer("undo", patched)
        #expect(try StoreContent.digest(patched) == StoreContent.digest(old))
    }

    @Test func migratesThereAndBack() throws {
        try night("plain", Self.plain)
        try night("app", Self.app)
        let (plain, app) = (directory.path("plain"), directory.path("app"))
        let before = (try StoreContent.digest(plain), try StoreContent.digest(app))
        _ = try importer("migrate", plain, "--model", directory.write(Self.app, to: "app.json"))
        _ = try importer("migrate", app, "--model", directory.write(Self.plain, to: "plain.json"))
        #expect(try StoreContent.digest(plain) == before.1)
        #expect(try StoreContent.digest(app) == before.0)
        // A decimal that no double is does not survive.
        try night("app", Self.plain, Self.records.replacing("12.5", with: "12345678901234567890.12"))
        let refused = try importer("migrate", app, "--model", directory.path("app.json"), code: 65)
        #expect(refused.errorText.contains("price"), "\(refused.errorText)")
    }

    @Test func storesForGRDB() throws {
        let source = try directory.write(Self.inferred, to: "person.ndjson")
        let store = directory.path("grdb")
        let command = [source, "--into", store, "--identifier", "guid", "--for", "grdb"]
        #expect(try run([Project.importer, "import"] + command).ending == .exit(0))
        let types = try query("grdb", #"SELECT typeof(guid), "when", typeof(boss) FROM person WHERE rowid = 1"#)
        #expect(types == "blob|2024-01-02 03:04:05.678|blob")
        let other = directory.path("other")
        let own = [
            "--storage", "guid:text", "--storage", "when:unix", "--storage", "price:real", "--type", "price:decimal",
        ]
        #expect(
            try run([Project.importer, "import", source, "--into", other, "--for", "grdb"] + own).ending == .exit(0)
        )
        #expect(
            try query("other", #"SELECT typeof(guid), "when", typeof(boss), typeof(price) FROM person WHERE rowid = 1"#)
                == "text|1704164645|blob|real"
        )
        // A model's own forms count more.
        let model = try directory.write(
            Self.plain.replacing(#""storage": "iso8601""#, with: #""storage": "unix""#),
            to: "m.json"
        )
        let given = [
            source, "--into", directory.path("given"), "--model", model, "--entity", "person", "--for", "grdb",
        ]
        #expect(try run([Project.importer, "import"] + given).ending == .exit(0))
        #expect(try query("given", #"SELECT typeof(guid), "when" FROM person WHERE rowid = 1"#) == "text|1704164645")
    }

    @Test(arguments: [
        (["--storage", "guid:sqlite"], "guid of person is of type uuid, which is stored as text, blob"),
        (["--storage", "price:real"], "price of person is of type double, which has no forms"),
        (["--storage", "none:blob"], "there is no attribute none"),
        (["--storage", "guid:hex"], "'hex' is not a form; there are iso8601"),
        (["--storage", "guid"], "not NAME:FORM"),
        (["--storage", "guid:blob", "--storage", "guid:text"], "guid is given more than once"),
        (["--for", "realm"], "grdb"),
    ])
    func refusesForms(options: [String], words: String) throws {
        let source = try directory.write(Self.inferred, to: "person.ndjson")
        let result = try run([Project.importer, "import", source, "--into", directory.path("no")] + options)
        #expect(result.ending == .exit(64) && result.errorText.contains(words), "\(result.errorText)")
    }

    @Test func refusesAnotherFormInOneColumn() throws {
        try night("app", Self.app)
        let source = try directory.write(Self.records, to: "next.ndjson")
        let model = try directory.write(Self.app.replacing("sqlite", with: "iso8601"), to: "iso.json")
        let result = try importer(
            "import",
            source,
            "--into",
            directory.path("app"),
            "--model",
            model,
            "--entity",
            "person",
            code: 65
        )
        #expect(
            result.errorText.contains("person.when is stored in another way"),
            "\(result.errorText)"
        )
    }
}
