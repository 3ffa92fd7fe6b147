import GRDB
import Importer
import TestSupport
import Testing

@testable import ImportSQLite

/// A store's bookkeeping is what this program makes, or is refused before anything in it is read.
struct BookkeepingTableTests {
    /// A store with bookkeeping that something has been done to.
    private func check(_ change: String) throws {
        try DatabaseQueue().write { database in
            try BookkeepingSchema.prepareBookkeeping(database, store: "store")
            try database.execute(sql: change)
            try BookkeepingSchema.checkFormat(database, store: "store")
        }
    }

    /// What is known of the tables without making them is what SQLite keeps of them.
    @Test func knowsTheTextsOfAllTables() throws {
        let kept = try DatabaseQueue().write { database in
            try BookkeepingSchema.prepareBookkeeping(database, store: "store", all: true)
            return try BookkeepingTable.texts(database, store: "store")
        }
        #expect(kept.count > 30 && kept == BookkeepingSchema.texts)
        #expect(!kept.values.contains { $0.contains("--") })
    }

    /// Each other table is made when it is needed, and goes when it is empty.
    @Test func hasFewTablesThatLast() throws {
        try DatabaseQueue().write { database in
            func names() throws -> Set<String> { try Set(BookkeepingTable.texts(database, store: "store").keys) }
            try BookkeepingSchema.prepareBookkeeping(database, store: "store")
            #expect(try names() == Set(BookkeepingSchema.lasting) && BookkeepingSchema.lasting.count == 8)
            try BookkeepingSchema.makeAll(database)
            try database.execute(
                sql: """
                    INSERT INTO _import_ledger (job, entity, attribute, kind, count) VALUES (1, '', 'a', 'outside', 1);
                    INSERT INTO _import_undo_range VALUES (1, 't', 1, 2, x'', x'');
                    """
            )
            try BookkeepingSchema.dropEmpty(database)
            #expect(try names() == Set(BookkeepingSchema.lasting + BookkeepingSchema.undo + ["_import_ledger"]))
        }
    }

    @Test(arguments: [
        "CREATE TABLE people (name TEXT); INSERT INTO people VALUES ('a')", "CREATE TABLE _import_more (x)", "ANALYZE",
        "CREATE INDEX more ON _import_job (state)",
    ])
    func whatElseIsInTheStoreIsNobodysMatter(change: String) throws {
        #expect(throws: Never.self) { try check(change) }
    }

    @Test(arguments: [
        "DROP TABLE _import_chunk", "ALTER TABLE _import_chunk RENAME TO _import_other",
        "ALTER TABLE _import_job ADD COLUMN more TEXT", "CREATE TABLE _import_ledger (x)",
        "DROP TABLE _import_meta",
        "CREATE VIEW _import_ledger AS SELECT 1",
        "CREATE TRIGGER t AFTER INSERT ON _import_chunk BEGIN DELETE FROM _import_job; END",
    ])
    func anotherTableIsRefused(change: String) throws {
        let error = #expect(throws: ImportError.self) { try check(change) }
        #expect(error?.code == .badInput, "\(error.map { "\($0)" } ?? "")")
    }

    @Test(arguments: [2, 10, Int64.max]) func anotherFormatIsRefusedByItsNumber(format: Int64) throws {
        let error = #expect(throws: ImportError.self) {
            try check("UPDATE _import_meta SET value = \(format) WHERE key = 'format'")
        }
        #expect(error?.code == .cannotCreate)
        let message = "store: its bookkeeping has the format \(format), and this program knows the format 1"
        #expect(error?.message == message)
    }

    /// A store that says nothing of its format is checked as well.
    @Test func tablesOfOthersAreRefusedWithoutAFormat() throws {
        let database = try DatabaseQueue()
        try database.write { database in
            try database.execute(sql: "CREATE VIEW _import_job AS SELECT 1 AS id")
            #expect(throws: ImportError.self) { try BookkeepingSchema.prepareBookkeeping(database, store: "store") }
        }
    }
}
