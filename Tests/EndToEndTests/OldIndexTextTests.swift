import Foundation
import TestSupport
import Testing

/// A store of format 3 keeps the texts of the indexes that an interrupted import has dropped.
///
/// They are read, never run.
struct OldIndexTextTests {
    private static let oldTable = """
        CREATE TABLE _import_dropped_index (job INTEGER NOT NULL, entity INTEGER NOT NULL, number INTEGER NOT NULL,
            table_name TEXT NOT NULL, name TEXT NOT NULL, sql TEXT NOT NULL, is_identifier INTEGER NOT NULL,
            PRIMARY KEY (job, entity, number)) STRICT, WITHOUT ROWID
        """

    private let directory: TemporaryDirectory
    private let source: String
    private let store: String
    /// Another database, which no text of the store's may change.
    private let victim: String

    init() throws {
        directory = try TemporaryDirectory()
        source = directory.path("thing.ndjson")
        store = directory.path("store.sqlite")
        victim = directory.path("victim.sqlite")
        try Self.sql(victim, "CREATE TABLE precious (a)", "INSERT INTO precious VALUES (1)")
        try Self.sql(
            store,
            "CREATE TABLE thing (id INTEGER, name TEXT COLLATE NOCASE, note TEXT)",
            "CREATE INDEX by_name ON thing (name, note COLLATE RTRIM DESC)"
        )
        try directory.write(Self.records + "{\"id\":4,\"na", to: "thing.ndjson")
        let begun = try runImporter("import", source, "--into", store)
        try #require(begun.ending == .exit(65), "\(begun.errorText)")
    }

    private static let records = "{\"id\":1,\"name\":\"a\"}\n{\"id\":2,\"name\":\"A\"}\n{\"id\":3,\"name\":\"c\"}\n"

    private static func sql(_ database: String, _ statements: String...) throws {
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            for statement in sys.argv[2:]: database.execute(statement)
            database.commit()
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            """
        let result = try Python.run(text: script, [database] + statements)
        try #require(result.ending == .exit(0), "\(result.errorText)")
    }

    /// Makes the store one of format 3 that keeps such a text.
    private func keep(_ text: String) throws {
        try Self.sql(
            store,
            Self.oldTable,
            """
            INSERT INTO _import_dropped_index
            SELECT job, entity, number, table_name, name, '\(text.replacing("'", with: "''"))', is_identifier
            FROM _import_waiting_index WHERE position = 0
            """,
            "DROP TABLE _import_waiting_index",
            "UPDATE _import_meta SET value = 3 WHERE key = 'format'"
        )
        try directory.write(Self.records + "{\"id\":4,\"name\":\"d\"}\n", to: "thing.ndjson")
    }

    @Test func anIndexOfAnOlderStoreIsMadeAgain() throws {
        try keep("CREATE INDEX by_name ON thing (name, note COLLATE RTRIM DESC)")
        #expect(try runImporter("status", store).ending == .exit(0))
        let result = try runImporter("resume", store)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        let columns = try StoreContent.query(
            store,
            "SELECT name, coll, \"desc\" FROM pragma_index_xinfo('by_name') WHERE key ORDER BY seqno"
        )
        #expect(columns == "name|NOCASE|0\nnote|RTRIM|1")
        #expect(try StoreContent.query(store, "SELECT value FROM _import_meta WHERE key = 'format'") == "10")
        #expect(try runImporter("verify", store).ending == .exit(0))
    }

    @Test(arguments: [
        "ATTACH 'VICTIM' AS v",
        "CREATE INDEX by_name ON thing (name); ATTACH 'VICTIM' AS v; DELETE FROM v.precious",
        "ATTACH 'VICTIM' AS v; CREATE INDEX by_name ON thing (name)",
        "CREATE INDEX by_name ON thing (abs(id))",
        "CREATE INDEX by_name ON thing (name) WHERE id > 1",
        "CREATE INDEX other ON thing (name)",
        "DELETE FROM thing", "DROP TABLE thing", "PRAGMA user_version = 7", "VACUUM INTO 'VICTIM'", "", "{[",
    ])
    func noOtherTextIsRun(text: String) throws {
        try keep(text.replacing("VICTIM", with: victim))
        let before = try Data(contentsOf: URL(filePath: victim))
        let rows = try StoreContent.digest(store)
        let result = try runImporter("resume", store)
        #expect(result.ending == .exit(74), "\(result.errorText)")
        #expect(result.errorText.contains("the store is damaged: _import_dropped_index.sql is "))
        #expect(try Data(contentsOf: URL(filePath: victim)) == before)
        #expect(try StoreContent.digest(store) == rows)
        #expect(try StoreContent.query(store, "PRAGMA user_version") == "0")
    }
}
