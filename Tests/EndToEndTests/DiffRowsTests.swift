import Foundation
import TestSupport
import Testing

/// `importer diff` of stores whose rows lie in all kinds of order, compared with a reading by identifier in Python.
struct DiffRowsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let rows = 30_000
    private static let table = "CREATE TABLE t(k TEXT PRIMARY KEY NOT NULL, n INTEGER, x REAL)"

    /// How the rows of the new store come from those of the old one.
    enum Layout: String, CaseIterable {
        /// Row ids are as they were.
        case copied = "INSERT INTO t(rowid, k, n, x) SELECT rowid, k, n, x FROM old.t"
        /// Rows are closer together: those that are gone leave no gaps.
        case rewritten = "INSERT INTO t SELECT k, n, x FROM old.t WHERE n % 1000 <> 5 ORDER BY rowid"
        /// Others come before them.
        case behind =
            "INSERT INTO t SELECT 'other' || k, n, x FROM old.t WHERE n < 300; INSERT INTO t SELECT k, n, x FROM old.t ORDER BY rowid"
        /// The first rows are the last ones.
        case moved =
            "INSERT INTO t SELECT k, n, x FROM old.t ORDER BY n < 100, rowid"
        case reversed = "INSERT INTO t SELECT k, n, x FROM old.t ORDER BY rowid DESC"
        /// Row ids are far from each other, negative ones among them.
        case sparse =
            "INSERT INTO t(rowid, k, n, x) SELECT (rowid - 15000) * 100000000000000, k, n, x FROM old.t"
        /// Parts are in order, and one after the other in another.
        case shuffled = "INSERT INTO t SELECT k, n, x FROM old.t ORDER BY (n / 3500 * 5) % 9, n"
    }

    private func make(_ layout: Layout) throws {
        let (old, new) = (directory.path("a.db"), directory.path("b.db"))
        try StoreContent.execute(
            old,
            """
            \(Self.table);
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(Self.rows))
                INSERT INTO t SELECT printf('%05d', (i * 7919) % 100003), i, i / 4.0 FROM c;
            """
        )
        try StoreContent.execute(
            new,
            """
            ATTACH '\(old)' AS old;
            \(Self.table);
            \(layout.rawValue);
            UPDATE t SET n = n + 1 WHERE n % 500 = 7;
            UPDATE t SET x = CAST(x AS INTEGER) WHERE n % 700 = 8;
            DELETE FROM t WHERE n % 900 = 1;
            INSERT INTO t VALUES('new', 1, 1.0), ('00000', NULL, NULL);
            """
        )
    }

    /// Kind and identifier of each change, in order.
    private static let model = """
        import json, sqlite3, sys
        def read(path):
            return {row[0]: row for row in sqlite3.connect(path).execute("SELECT k, n, x, typeof(n), typeof(x) FROM t")}
        old, new = read(sys.argv[1]), read(sys.argv[2])
        for key in sorted(old.keys() | new.keys(), key=lambda text: text.encode()):
            if old.get(key) != new.get(key):
                print("inserted" if key not in old else "deleted" if key not in new else "updated", key)
        """

    private func changeSet(workers: Int) throws -> String {
        let result = try run(
            [Project.importer, "diff", directory.path("a.db"), directory.path("b.db"), "--format", "ndjson"]
                + ["--workers", "\(workers)"]
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return result.outputText
    }

    @Test(arguments: Layout.allCases)
    func findsWhatDiffersWhereverTheRowsAre(_ layout: Layout) throws {
        try make(layout)
        let found = try changeSet(workers: 1)
        let changes = try found.split(separator: "\n").dropFirst().dropLast().map { line in
            let change = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let identifier = try #require(change["identifier"] as? [String: String])
            return "\(change["change"] as? String ?? "") \(identifier["k"] ?? "")"
        }
        let model = try Python.run(text: Self.model, [directory.path("a.db"), directory.path("b.db")])
        #expect(model.ending == .exit(0), "\(model.errorText)")
        #expect(changes == model.outputText.split(separator: "\n").map(String.init))
        #expect(changes.count > 80)
        let end = try #require(found.split(separator: "\n").last)
        let unchanged = Self.rows - changes.filter { !$0.hasPrefix("inserted") }.count
        #expect(end.contains(#""unchanged":\#(unchanged)"#), "\(end)")
        for workers in [3] { #expect(try changeSet(workers: workers) == found) }
    }

    /// In WAL mode a connection more might see another state.
    @Test func comparesOneStateInWALMode() throws {
        try make(.copied)
        let found = try changeSet(workers: 1)
        try StoreContent.execute(directory.path("b.db"), "PRAGMA journal_mode = WAL")
        #expect(try changeSet(workers: 3) == found)
    }

    @Test func readsTablesWithoutRowIDs() throws {
        for name in ["a.db", "b.db"] {
            try StoreContent.execute(
                directory.path(name),
                """
                CREATE TABLE t(k TEXT PRIMARY KEY, n, x) WITHOUT ROWID; INSERT INTO t VALUES('a', 1, 2), ('b', 2, '\(name)');
                CREATE TABLE u(rowid TEXT PRIMARY KEY NOT NULL, oid, _rowid_); INSERT INTO u VALUES('a', '\(name)', 1);
                """
            )
        }
        #expect(try changeSet(workers: 2).components(separatedBy: "\"change\":\"updated\"").count == 3)
    }

    /// Of long values digests are compared, and of rows with more columns than a function has arguments.
    @Test(arguments: [3, 150]) func comparesLongValuesToTheirLastByte(columns: Int) throws {
        let names = (1..<columns).map { "c\($0)" }.joined(separator: ", ")
        for (name, last) in [("a.db", "x"), ("b.db", "y")] {
            let long = "CAST(zeroblob(100000) AS TEXT)"
            let isOld = last == "x"
            let values = [
                "\(long) || '\(last)'", "\(long) || 'x'", "zeroblob(70000)", "'\(last)'", "'same'", "1.0",
                "CAST(zeroblob(70000) AS \(isOld ? "TEXT" : "BLOB"))", isOld ? "1" : "1.0", "NULL",
            ]
            let rows = values.enumerated().map { "(\($0.offset), \($0.element))" }.joined(separator: ", ")
            try StoreContent.execute(
                directory.path(name),
                """
                CREATE TABLE t(id INTEGER PRIMARY KEY, \(names));
                INSERT INTO t(id, c\(columns - 1)) VALUES \(rows);
                """
            )
        }
        let changes = try changeSet(workers: 1).split(separator: "\n").filter { $0.contains(#""change":"updated""#) }
        let identifiers = changes.compactMap { $0.firstMatch(of: /"identifier":\{"id":(\d+)\}/)?.output.1 }
        #expect(identifiers == ["0", "3", "6", "7"])
    }

    @Test(arguments: 1...24, ["integer", "text"])
    func findsWhatDiffersInRandomRows(seed: Int, kind: String) throws {
        let (old, new) = (directory.path("a.db"), directory.path("b.db"))
        let made = try Python.run("row_pairs.py", ["make", "\(seed)", old, new, kind])
        #expect(made.ending == .exit(0), "\(made.errorText)")
        let found = try changeSet(workers: 1 + seed % 3).split(separator: "\n")
        var lines = try found.dropFirst().dropLast().map { line in
            let change = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let identifier = try #require(change["identifier"] as? [String: Any])
            return "\(change["change"] as? String ?? "") \(identifier["k"] ?? "")"
        }
        let end = try #require(found.last?.firstMatch(of: /"unchanged":(\d+)/))
        lines.append("same \(end.output.1)")
        let model = try Python.run("row_pairs.py", ["differences", old, new])
        #expect(model.ending == .exit(0), "\(model.errorText)")
        #expect(lines == model.outputText.split(separator: "\n").map(String.init))
    }
}
