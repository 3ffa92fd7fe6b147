import Foundation
import TestSupport
import Testing

/// An import into a server's database comes to what the same import into a SQLite store comes to.
@Suite(.enabled(if: PostgreSQLServer.isAvailable, "PostgreSQL cannot be had here"))
struct PGImportTests {
    private static let valueModel = """
        {"entities": {"value": {"attributes": {
          "id": {"type": "integer64"},
          "s": {"type": "string", "optional": true, "default": "none"},
          "n16": {"type": "integer16", "optional": true, "default": 7},
          "n32": {"type": "integer32", "optional": true}, "n64": {"type": "integer64", "optional": true},
          "f": {"type": "float", "optional": true}, "d": {"type": "double", "optional": true},
          "dec": {"type": "decimal", "optional": true}, "b": {"type": "boolean", "optional": true},
          "t": {"type": "date", "optional": true},
          "clock": {"type": "date", "optional": true, "wallClock": true},
          "unix": {"type": "date", "optional": true, "format": "unix", "storage": "unix"},
          "milli": {"type": "date", "optional": true, "storage": "unixMilliseconds"},
          "u": {"type": "uuid", "optional": true}, "l": {"type": "uri", "optional": true},
          "bin": {"type": "binary", "optional": true},
          "bits": {"type": "bitfield", "optional": true, "bits": {"can.read": 0, "can.write": 1, "high": 62}},
          "j": {"type": "json", "optional": true}}}}}
        """

    private static let jobs =
        ImportJob.withModel(count: 300) + ImportJob.parts(count: 300).prefix(1)
        + [ImportJob.inferred(count: 300)[1], ImportJob.inferred(count: 300)[3]]

    /// Texts of 1 MB, extremes, nulls, defaults and missing keys among them.
    @Test(arguments: Cases.few(1, of: [1, 2]))
    func valuesOfEveryTypeAreTheirs(seed: Int) throws {
        let files = try ImportFiles(records: [[]], model: Self.valueModel, options: ["--entity", "value"])
        let printed = try ImportFiles.expected(by: "server_values.py", ["80", "\(seed)", files.sources[0]])
        let expected = try PGDatabase.sorted(printed)
        let database = try PGDatabase()
        let report = try database.imported(files, nil, ["--chunk-size", "6K"])
        #expect(try database.chunks("done") > 3)
        let rows = try database.rows(of: "value")
        #expect(PGDatabase.difference(rows, expected).isEmpty)
        let same = try files.storeOfTheSame()
        #expect(report == same.report)
        #expect(try database.difference(of: "value", from: same.path).isEmpty)
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        #expect(try database.isVerified())
    }

    /// Sources of many shapes, some of whose records do not fit, with and without a model.
    @Test(arguments: Cases.few(2, of: jobs))
    func isWhatASQLiteStoreIs(_ job: ImportJob) throws {
        let files = try job.files()
        let database = try PGDatabase()
        let report = try database.imported(files, nil, ["--chunk-size", "20K"])
        let same = try files.storeOfTheSame()
        #expect(report == same.report)
        let tables = try StoreContent.tables(same.path)
        #expect(!tables.isEmpty)
        for table in tables {
            #expect(try !database.rows(of: table).isEmpty)
            #expect(try database.difference(of: table, from: same.path).isEmpty)
        }
        #expect(try database.bookkeeping() == PGDatabase.bookkeeping(of: same.path))
        #expect(try database.isVerified())
        let status = try ComparableReport(database.importer(["status", database.url, "--json"]).output)
        #expect(status == report)
    }
}
