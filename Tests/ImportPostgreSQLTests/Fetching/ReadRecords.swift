import Foundation
import ImportModel
import Importer
import TestSupport

@testable import ImportPostgreSQL

/// The same records, imported into a SQLite store and into a schema of a server.
struct ReadRecords: Sendable {
    static let entity = "thing"

    private static let model = """
        {"entities": {"thing": {"identifier": ["id"], "attributes": {
          "id": {"type": "integer64"}, "s": {"type": "string", "optional": true}, "t": {"type": "string", "optional": true},
          "l": {"type": "uri", "optional": true}, "n": {"type": "integer16", "optional": true},
          "big": {"type": "integer64", "optional": true}, "f": {"type": "float", "optional": true},
          "d": {"type": "double", "optional": true}, "dec": {"type": "decimal", "optional": true},
          "b": {"type": "boolean", "optional": true}, "day": {"type": "date", "optional": true},
          "other": {"type": "date", "optional": true}, "clock": {"type": "date", "optional": true, "wallClock": true},
          "micro": {"type": "date", "optional": true, "fraction": 6},
          "nano": {"type": "date", "optional": true, "fraction": 9},
          "unix": {"type": "date", "optional": true, "storage": "unix"},
          "milli": {"type": "date", "optional": true, "storage": "unixMilliseconds"},
          "u": {"type": "uuid", "optional": true}, "bin": {"type": "binary", "optional": true},
          "bits": {"type": "bitfield", "optional": true, "bits": {"a": 0, "b": 62}},
          "j": {"type": "json", "optional": true}}}}}
        """

    /// Texts with each other's beginnings, cases, signs of patterns, and characters that sort otherwise by language.
    static let texts = [
        "", "a", "A", "ab", "aB", "a%b", "a_b", "a\\b", "Ä", "ä", "z", "Z", "É", "e\u{301}", "日本", "日", "😀", "\u{FFFF}",
        "b ", " b", "_", "0x", "ß", "ss", "i", "İ", "I", "ı",
    ]
    static let integers = ["0", "1", "-1", "7", "32767", "-32768"]
    static let large = ["9007199254740993", "9007199254740992", "-9223372036854775808", "9223372036854775807", "3"]
    static let reals = ["0.1", "0.5", "-2.25", "3", "9007199254740992", "9.3e18", "-9223372036854775808", "1e300", "0"]
    static let decimals = ["0.1", "0.10", "-7", "12345678901234567890.125", "1E+60", "3e-50", "3", "7"]
    static let dates = [
        "2024-02-29T12:30:00.123Z", "2024-02-29T12:30:00Z", "1969-12-31T23:59:59.999Z", "0001-01-01",
        "9999-12-31T23:59:59Z",
        "2024-02-29T12:30:00.120Z",
    ]
    static let fineDates =
        dates + [
            "2024-02-29T12:30:00.123456Z", "2024-02-29T12:30:00.12345Z", "1969-12-31T23:59:59.999999Z",
            "2024-02-29T12:30:00.1234567Z", "0001-01-01T00:00:00.000000001Z",
        ]
    static let uuids = ["6ba7b810-9dad-11d1-80b4-00c04fd430c8", "FFFFFFFF-0000-0000-0000-000000000001"]

    private let directory: TemporaryDirectory
    let sqlite: StoreReader
    let database: PGDatabase
    private let store: PostgreSQLStore
    /// A new one with a connection of its own: it stays with its thread.
    var server: PostgreSQLReader { PostgreSQLReader(store) }

    init(count: Int, seed: UInt64) throws {
        directory = try TemporaryDirectory()
        var random = SeededGenerator(seed: seed)
        let lines = (1...count).map { Self.record($0, &random) }.joined(separator: "\n")
        let source = try directory.write(lines, to: "things.ndjson")
        var options = JobOptions()
        options.model = try ModelDescription(parsing: Array(Self.model.utf8))
        let path = directory.path("things.sqlite")
        _ = try ImportPipeline(sources: [source], into: path, job: options, run: RunOptions()).run()
        database = try PGDatabase()
        store = PostgreSQLStore(try database.address())
        var run = RunOptions()
        run.chunkDirectory = directory.path("things.chunks")
        _ = try ImportPipeline(sources: [source], into: store, job: options, run: run).run()
        sqlite = try StoreReader(store: path)
        // Databases of others sort by a language; collations may even take different texts for the same.
        guard try !database.query("SELECT 1 FROM pg_collation WHERE collname = 'en-x-icu'").isEmpty else { return }
        try database.query(
            """
            CREATE COLLATION alike (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
            ALTER TABLE thing ALTER COLUMN s TYPE text COLLATE "en-x-icu", ALTER COLUMN t TYPE text COLLATE alike;
            """
        )
    }

    private static func record(_ id: Int, _ random: inout SeededGenerator) -> String {
        func quoted(_ text: String) -> String { JSONValue.string(text).serialized() }
        let values: [(String, [String])] = [
            ("s", texts.map(quoted)), ("t", texts.map(quoted)),
            ("l", ["a", "A", "z/Z", "B", "a_b"].map { quoted("http://x/\($0)") }),
            ("n", integers), ("big", integers + large), ("f", reals.filter { $0 != "1e300" }), ("d", reals),
            ("dec", decimals), ("b", ["true", "false"]), ("day", dates.map(quoted)), ("other", dates.map(quoted)),
            ("clock", dates.map(quoted)), ("unix", dates.map(quoted)), ("milli", dates.map(quoted)),
            ("micro", fineDates.map(quoted)), ("nano", fineDates.map(quoted)),
            ("u", uuids.map(quoted)), ("bin", [#""AAE=""#, #""""#, #""/w==""#]),
            ("bits", [#"{"a": true}"#, #"{"b": true}"#]), ("j", [#"{"k": [1, 2.50, "A"]}"#, #""x""#, "[]", "null"]),
        ]
        var members = ["\"id\": \(id)"]
        for (name, choices) in values {
            guard random.next(5) > 0, let value = choices.randomElement(using: &random) else { continue }
            members.append("\"\(name)\": \(random.next(8) == 0 ? "null" : value)")
        }
        return "{\(members.joined(separator: ", "))}"
    }

    /// What both print of a request's records: these attributes, nil for all.
    func both(
        _ request: FetchRequest,
        _ server: PostgreSQLReader,
        _ attributes: [String]? = ["id"],
        as format: RecordFormat = .ndjson
    ) throws -> (sqlite: String, server: String) {
        var (one, other): ([UInt8], [UInt8]) = ([], [])
        try sqlite.write(request, attributes: attributes, as: format) { one += $0 }
        try server.write(request, attributes: attributes, as: format) { other += $0 }
        return (String(decoding: one, as: UTF8.self), String(decoding: other, as: UTF8.self))
    }
}
