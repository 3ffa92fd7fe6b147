import Foundation
import GRDB
import TestSupport
import Testing

@testable import Importer

/// Steps bring a store of any format up, in one transaction or not at all.
struct MigratorTests {
    private struct Failure: Error {}

    /// Two formats that are not there yet: one with a new column, one with a table that is filled from what there is.
    private static let later = [
        Migrator.Step(to: 11) {
            try $0.execute(sql: "ALTER TABLE _import_job ADD COLUMN host TEXT NOT NULL DEFAULT ''")
        },
        Migrator.Step(to: 12) { database in
            try database.execute(
                sql: """
                    CREATE TABLE _import_host (job INTEGER PRIMARY KEY, host TEXT NOT NULL) STRICT;
                    INSERT INTO _import_host SELECT id, host || 'h' || id FROM _import_job;
                    """
            )
        },
    ]

    /// Those that are there.
    private static let own = [
        Migrator.Step.format4, .format5, .format6, .format7, .format8, .format9, .format10,
    ]

    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func open(format: Int) throws -> DatabaseQueue {
        try DatabaseQueue(path: OlderStore.make(ofFormat: format, in: directory))
    }

    private static func format(_ database: Database) throws -> Int64? {
        try Int64.fetchOne(database, sql: "SELECT value FROM _import_meta WHERE key = 'format'")
    }

    /// Everything that a store holds.
    private static func content(_ database: Database) throws -> [String] {
        let tables = try Row.fetchAll(database, sql: "SELECT name, sql FROM sqlite_master ORDER BY type, name")
        return try tables.map(\.description)
            + tables.compactMap { $0["name"] as String? }.filter { try database.tableExists($0) }.flatMap { name in
                try Row.fetchAll(database, sql: "SELECT * FROM \(name)").map { "\(name) \($0)" }
            }
    }

    @Test(arguments: OlderStore.formats) func bringsAStoreOfEachFormatUpToTheNewest(format: Int) throws {
        let migrator = Migrator(Self.own + Self.later)
        let store = try open(format: format)
        try store.write { try migrator.bringUp($0, store: "store") }
        let new = try DatabaseQueue()
        try new.write { try migrator.bringUp($0, store: "new") }
        let tables = "SELECT name, sql FROM sqlite_master WHERE name LIKE '\\_import\\_%' ESCAPE '\\' ORDER BY name"
        let made = try new.read { try Row.fetchAll($0, sql: tables) }
        try store.read { (database: Database) throws in
            #expect(try Self.format(database) == 12)
            #expect(try Row.fetchAll(database, sql: tables) == made)
            // What the steps read and write is the job that was interrupted.
            #expect(try String.fetchAll(database, sql: "SELECT host FROM _import_host") == ["h1"])
            #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM _import_chunk") == 4)
            #expect(try migrator.check(database, store: "store") == 12)
        }
    }

    @Test func doesEachStepOnce() throws {
        let store = try open(format: 4)
        let steps = Self.own + Self.later
        let migrators = steps.indices.map { Migrator(Array(steps[...$0])) }
        for (migrator, format) in zip(migrators + migrators.suffix(1), [4, 5, 6, 7, 8, 9, 10, 11, 12, 12]) {
            try store.write { try migrator.bringUp($0, store: "store") }
            #expect(try store.read { try migrator.check($0, store: "store") } == Int64(format))
        }
    }

    @Test(arguments: OlderStore.formats) func leavesTheStoreAsItWasWhereAStepFails(format: Int) throws {
        let store = try open(format: format)
        let before = try store.read(Self.content)
        let failing = Migrator(Self.own + Self.later + [Migrator.Step(to: 13) { _ in throw Failure() }])
        #expect(throws: Failure.self) { try store.write { try failing.bringUp($0, store: "store") } }
        #expect(try store.read(Self.content) == before)
    }

    @Test func refusesANewerFormatByItsNumber() throws {
        let store = try open(format: 4)
        try store.write {
            try Migrator(Self.own + Self.later).bringUp($0, store: "store")
        }
        let before = try store.read(Self.content)
        let error = #expect(throws: ImportError.self) {
            try store.write { try StoreSchema.prepareBookkeeping($0, store: "store") }
        }
        #expect(error?.message == "store: has the format 12, and this program knows formats up to 10")
        #expect(try store.read(Self.content) == before)
    }

    /// What is known of the tables without making them is what SQLite keeps of them.
    @Test func knowsTheTextsOfTheTablesThatAStepMakes() throws {
        let store = try DatabaseQueue()
        for step in Self.own {
            let tables = try store.write { database in
                try step.change(database)
                return try BookkeepingTable.all(database)
            }
            #expect(tables.count > 10)
            #expect(Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0.text) }) == step.texts)
        }
    }

    /// Today's program writes no later format than the one that a store of today is kept of.
    @Test func hasAStoreOfEachFormat() throws {
        #expect(StoreSchema.bookkeeping.newestFormat == OlderStore.formats.max().map(Int64.init))
        for format in OlderStore.formats {
            #expect(try open(format: format).read(Self.format) == Int64(format))
        }
    }

    @Test(arguments: OlderStore.formats) func readersReadAnOlderStore(format: Int) throws {
        let store = try OlderStore.make(ofFormat: format, in: directory)
        #expect(try StoreInspection(store: store).status().recordsRead == 8)
        #expect(try StoreReader(store: store).entities.map(\.name) == ["thing"])
        #expect(try StoreWatch(store: store).look()?.job == 1)
        #expect(try StoreFollower(store: store, from: .start).poll() != nil)
        #expect(try StoreModel(of: store).model.entities.map(\.name) == ["thing"])
        #expect(try DatabaseQueue(path: store).read(Self.format) == Int64(format))
    }
}
