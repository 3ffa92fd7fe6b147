import Foundation
import TestSupport
import Testing

/// What undo needs is the same whether it is noted with each change or, since the store has a trigger, before commits.
struct UndoNotesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// Its columns have names of what undo keeps, and others that need quoting.
    private static let columns = """
        "number" REAL, "key" TEXT, "before" TEXT, "after" INTEGER, "job" TEXT, "it's ""so"" x" TEXT, "nüll" TEXT, "raw" BLOB DEFAULT x'00ff',
        "twice" INTEGER AS ("after" * 2), "kept" TEXT AS ("key" || '!') STORED
        """

    enum Table: String, CaseIterable {
        case ownRowID = "id INTEGER PRIMARY KEY"
        case implicitRowID = "id TEXT PRIMARY KEY NOT NULL"
        case unkeyed = "id"
    }

    private func make(_ table: Table, named name: String) throws {
        try StoreContent.execute(
            directory.path("plain.db"),
            """
            CREATE TABLE "\(name)"(\(table.rawValue), \(Self.columns));
            CREATE TABLE unrelated(x);
            CREATE TABLE apart(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
            INSERT INTO apart VALUES('a', 1);
            """
        )
    }

    private static func record(_ id: Int, _ version: Int, isText: Bool) -> [String: Any] {
        [
            "id": isText ? "k\(id)" as Any : id, "number": id % 3 == 0 ? Double(id + version) : Double(id) / 4,
            "key": version % 2 == 0 ? "é\u{301}\(version)" : "\u{1F600}",
            "before": id % 4 == 1 ? NSNull() : "b\(version)" as Any,
            "after": id % 7 == version % 7 ? NSNull() : (id * 3 + version) as Any, "job": "",
            "it's \"so\" x": "\(version)", "nüll": NSNull(),
        ]
    }

    private func write(_ name: String, _ records: [[String: Any]]) throws -> String {
        let data = try JSONSerialization.data(withJSONObject: records)
        return try directory.write(String(decoding: data, as: UTF8.self), to: name)
    }

    /// Imports into a store, and gives back what the report counts.
    private func load(_ store: String, _ arguments: [String]) throws -> [String: Int] {
        let result = try run(
            [Project.importer, "import", "--into", directory.path(store), "--json", "--progress", "none"] + arguments
        )
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let report = try JSONSerialization.jsonObject(with: result.output) as? [String: Any]
        return ["records_read", "inserted", "updated", "unchanged", "rejected", "deleted", "withheld"]
            .reduce(into: [:]) { counts, key in counts[key] = report?[key] as? Int }
    }

    private func notes(_ store: String) throws -> String {
        try StoreContent.query(
            directory.path(store),
            """
            SELECT table_name, number, hex(key), hex(before), before IS NULL, hex(after), after IS NULL FROM _import_undo
            WHERE job = 2 ORDER BY table_name, number, key
            """
        )
    }

    @Test(
        arguments: Table.allCases,
        [["--undo"], ["--undo", "--mirror", "--max-delete", "100%"], ["--mirror", "--max-delete", "100%"]]
    )
    func areTheSameWithAndWithoutTriggers(_ table: Table, _ options: [String]) throws {
        for (name, commitEvery, workers) in [("own", 1, 1), ("Tür's", 3, 3), ("t", 10_000, 1)] {
            for store in ["plain.db", "triggered.db"] {
                try? FileManager.default.removeItem(atPath: directory.path(store))
            }
            try make(table, named: name)
            func record(_ id: Int, _ version: Int) -> [String: Any] {
                Self.record(id, version, isText: table == .implicitRowID)
            }
            let first = try write("first.json", (1...60).map { record($0, 0) })
            // Updated, updated twice, changed and changed back, inserted and updated, as before.
            let second = try write(
                "second.json",
                (1...40).map { record($0, 1) } + (11...20).map { record($0, 2) } + (21...30).map { record($0, 0) }
                    + (101...110).map { record($0, 1) } + (106...110).map { record($0, 2) }
                    + (41...45).map { record($0, 0) }
            )
            let identity = ["--entity", name, "--identifier", "id"]
            _ = try load("plain.db", [first] + identity)
            let before = try StoreContent.digest(directory.path("plain.db"))
            try FileManager.default.copyItem(atPath: directory.path("plain.db"), toPath: directory.path("triggered.db"))
            try StoreContent.execute(
                directory.path("triggered.db"),
                "CREATE TRIGGER harmless AFTER INSERT ON unrelated BEGIN SELECT 1; END"
            )
            let how = [second, "--commit-every", "\(commitEvery)", "--workers", "\(workers)"] + identity + options
            let counts = try load("plain.db", how)
            #expect(try load("triggered.db", how) == counts)
            try StoreContent.execute(directory.path("triggered.db"), "DROP TRIGGER harmless")
            let isMirror = options.contains("--mirror")
            #expect(counts["inserted"] == 10 && counts["deleted"] == (isMirror ? 15 : nil), "\(counts)")
            let after = try StoreContent.digest(directory.path("plain.db"))
            #expect(try StoreContent.digest(directory.path("triggered.db")) == after)
            let kept = try notes("plain.db")
            #expect(try notes("triggered.db") == kept)
            // Ten were changed back; of a mirror's rows, fifteen are gone.
            let lines = kept.isEmpty ? 0 : kept.split(separator: "\n").count
            #expect(lines == (isMirror ? 55 : 40), "\(kept)")
            for store in ["plain.db", "triggered.db"] {
                let result = try runImporter("undo", directory.path(store), "--quiet")
                #expect(result.ending == .exit(0), "\(result.errorText)")
                #expect(try StoreContent.digest(directory.path(store)) == before)
            }
        }
    }
}
