import GRDB
import Testing

@testable import Importer

/// The bookkeeping tables, of which a store's are compared with texts.
struct BookkeepingTablesTests {
    /// Else no store would be read again.
    @Test func areKnownAsSQLiteKeepsThem() throws {
        let kept = try DatabaseQueue().write { database in
            try database.execute(sql: StoreSchema.bookkeeping)
            return try Row.fetchAll(
                database,
                sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
            ).map { [$0[0] as String, $0[1] as String] }
        }
        #expect(kept.count > 20)
        #expect(StoreSchema.bookkeepingTables.map { [$0.name, $0.sql] } == kept)
    }
}
