import GRDB
import TestSupport
import Testing

@testable import Importer

/// What counts of a bookkeeping table is what it does, not how its statement is written.
struct BookkeepingTableTests {
    private static let ledger = """
        CREATE TABLE _import_ledger (
            job INTEGER NOT NULL,
            entity TEXT NOT NULL,
            attribute TEXT NOT NULL,
            kind TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (job, entity, attribute, kind)
        ) STRICT, WITHOUT ROWID
        """

    private static let table = """
        CREATE TABLE _import_table (
            table_name TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
            last_rowid INTEGER NOT NULL,
            columns TEXT NOT NULL
        ) STRICT, WITHOUT ROWID
        """

    private static let job = """
        CREATE TABLE _import_job (
            id INTEGER PRIMARY KEY, token TEXT NOT NULL, state TEXT NOT NULL, message TEXT, options TEXT NOT NULL,
            model INTEGER REFERENCES _import_model (id), is_model_final INTEGER NOT NULL DEFAULT 1,
            chunk_directory TEXT NOT NULL, started TEXT NOT NULL, finished TEXT
        ) STRICT
        """

    /// A store of today's format, with one table made by another statement.
    private func check(_ statement: String) throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try StoreSchema.prepareBookkeeping(database, store: "store")
            let name = try #require(statement.firstMatch(of: /_import_[a-z]+/)).output
            try database.execute(sql: "DROP TABLE \(name)")
            try database.execute(sql: statement)
            try StoreSchema.checkFormat(database, store: "store")
        }
    }

    @Test(arguments: [
        ledger, table, job,
        ledger.replacing("\n", with: " ").replacing(" (", with: "("),
        ledger.replacing("STRICT, WITHOUT ROWID", with: "WITHOUT ROWID, STRICT"),
        ledger.replacing("count INTEGER", with: "\"count\" integer /* how many */"),
        ledger.replacing("NOT NULL,", with: "not null ,"),
        ledger.replacing("    PRIMARY", with: "    CONSTRAINT once PRIMARY"),
        table.replacing(" PRIMARY KEY", with: "").replacing(
            "columns TEXT NOT NULL",
            with: "columns TEXT NOT NULL, PRIMARY KEY (table_name)"
        ),
        job.replacing("NOT NULL DEFAULT 1", with: "DEFAULT 1 NOT NULL"),
    ])
    func anotherTextOfTheSameTableIsAccepted(statement: String) throws {
        #expect(throws: Never.self) { try check(statement) }
    }

    @Test(arguments: [
        ledger.replacing(" STRICT,", with: ""),
        ledger.replacing(" STRICT, WITHOUT ROWID", with: " STRICT"),
        ledger.replacing("count INTEGER", with: "count ANY"),
        ledger.replacing("count INTEGER NOT NULL", with: "count INTEGER"),
        ledger.replacing("count INTEGER NOT NULL", with: "count INTEGER NOT NULL DEFAULT 7"),
        ledger.replacing("count INTEGER NOT NULL", with: "count INTEGER NOT NULL ON CONFLICT IGNORE"),
        ledger.replacing("count INTEGER NOT NULL", with: "count INTEGER NOT NULL CHECK (count < 7)"),
        ledger.replacing("count INTEGER NOT NULL", with: "count INTEGER NOT NULL UNIQUE"),
        ledger.replacing("count INTEGER NOT NULL", with: "count INTEGER NOT NULL AS (job + 1)"),
        ledger.replacing("count INTEGER NOT NULL", with: "count INTEGER NOT NULL, more TEXT"),
        ledger.replacing("kind TEXT NOT NULL,", with: "kind TEXT COLLATE NOCASE NOT NULL,"),
        ledger.replacing("attribute, kind)", with: "kind, attribute)"),
        ledger.replacing("entity, attribute, kind)", with: "entity, attribute)"),
        ledger.replacing("attribute, kind)", with: "attribute, kind) ON CONFLICT IGNORE"),
        ledger.replacing("entity TEXT", with: "object TEXT").replacing("entity,", with: "object,"),
        table.replacing(" COLLATE NOCASE", with: ""),
        table.replacing("NOCASE", with: "RTRIM"),
        job.replacing("id INTEGER PRIMARY KEY", with: "id INTEGER PRIMARY KEY AUTOINCREMENT"),
        job.replacing("DEFAULT 1", with: "DEFAULT 0"),
        job.replacing("(id),", with: "(id) ON DELETE CASCADE,"),
        ledger.replacing("job INTEGER NOT NULL", with: "job INTEGER NOT NULL REFERENCES _import_job (id)"),
    ])
    func anotherTableIsRefused(statement: String) throws {
        let error = #expect(throws: ImportError.self) { try check(statement) }
        #expect(error?.code == .badInput)
        #expect(error?.message.hasSuffix("is not as this program makes it") == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test(arguments: ["DROP TABLE _import_ledger", "ALTER TABLE _import_ledger RENAME TO _import_other"])
    func aTableThatIsNotThereIsMissed(change: String) throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try StoreSchema.prepareBookkeeping(database, store: "store")
            try database.execute(sql: change)
            #expect(throws: ImportError.self) { try StoreSchema.checkFormat(database, store: "store") }
        }
    }

    /// A store that says nothing of its format is checked as well.
    @Test func tablesOfOthersAreRefusedWithoutAFormat() throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try database.execute(sql: "CREATE VIEW _import_job AS SELECT 1 AS id")
            #expect(throws: ImportError.self) { try StoreSchema.prepareBookkeeping(database, store: "store") }
        }
    }
}
