import Foundation
import TestSupport
import Testing

/// Tables with as many columns as SQLite allows are compared, patched, undone and merged as others.
struct WideTableTests {
    /// A table of 2,000 columns with rows of these, and another value here and there.
    private static func table(_ key: String, _ rows: [String: [Int: String]], _ end: String = "") -> String {
        let columns = (0..<1_999).map { "c\($0) TEXT" }.joined(separator: ", ")
        let insertions = rows.sorted { $0.key < $1.key }.map { id, cells in
            let values = (0..<1_999).map { "'\(cells[$0] ?? "v\($0)")'" }.joined(separator: ",")
            return "INSERT INTO wide VALUES ('\(id)', \(values));"
        }
        return "CREATE TABLE wide (\(key), \(columns))\(end);" + insertions.joined()
    }

    @Test(arguments: [
        ["id INTEGER PRIMARY KEY", ""], ["id TEXT PRIMARY KEY NOT NULL", ""],
        ["id TEXT PRIMARY KEY NOT NULL", "WITHOUT ROWID"],
    ])
    func areComparedPatchedUndoneAndMerged(_ shape: [String]) throws {
        let stores = try PatchedStore()
        func make(_ name: String, _ rows: [String: [Int: String]]) throws {
            try stores.make(name, Self.table(shape[0], rows, shape[1]))
        }
        try make("a.db", ["1": [:], "2": [:], "3": [:]])
        try make("b.db", ["1": [:], "2": [0: "other", 1_998: "last"], "4": [7: "new"]])
        try make("ours.db", ["1": [:], "2": [500: "ours"], "3": [:]])
        try make("merged.db", ["1": [:], "2": [0: "other", 500: "ours", 1_998: "last"], "4": [7: "new"]])
        func content(_ name: String) throws -> String {
            let columns = (0..<1_999).map { "quote(c\($0))" }
            let groups = stride(from: 0, to: 1_999, by: 50).map {
                columns[$0..<min($0 + 50, 1_999)].joined(separator: " || ")
            }
            return try StoreContent.query(
                stores.directory.path(name),
                "SELECT id, \(groups.joined(separator: ", ")) FROM wide ORDER BY id"
            )
        }
        try stores.diff()
        #expect(try stores.patch().ending == .exit(0))
        #expect(try content("s.db") == content("b.db"))
        let undone = try stores.undo()
        #expect(undone.ending == .exit(0), "\(undone.errorText)")
        #expect(try content("s.db") == content("a.db"))
        let ours = stores.directory.path("ours.db")
        let merge = try run([
            Project.importer, "merge", stores.directory.path("a.db"), ours, stores.directory.path("b.db"), "--into",
            ours,
            "--quiet",
        ])
        #expect(merge.ending == .exit(0), "\(merge.errorText)")
        #expect(try content("ours.db") == content("merged.db"))
    }

    @Test func rowsWithoutAnythingUniqueAreFoundByAllOfTheirColumns() throws {
        let stores = try PatchedStore()
        let columns = (0..<400).map { "c\($0)" }.joined(separator: ", ")
        let values = (0..<400).map(String.init).joined(separator: ",")
        try stores.make(
            "a.db",
            "CREATE TABLE wide (id, \(columns)); INSERT INTO wide VALUES (1, \(values)), (2, \(values))"
        )
        try stores.make(
            "b.db",
            "CREATE TABLE wide (id, \(columns)); INSERT INTO wide VALUES (1, \(values)), (3, \(values))"
        )
        try stores.diff("--identifier", "wide:id")
        let before = try stores.digest
        let patched = try stores.patch("--identifier", "wide:id")
        #expect(patched.ending == .exit(0), "\(patched.errorText)")
        // As after VACUUM, rows have other row ids.
        try stores.make("s.db", "UPDATE wide SET rowid = rowid + 10")
        let undone = try stores.undo()
        #expect(undone.ending == .exit(0), "\(undone.errorText)")
        #expect(try stores.rows("SELECT group_concat(id) FROM (SELECT id FROM wide ORDER BY id)") == "1,2")
        #expect(try before != stores.digest)
    }
}
