import GRDB
import Importer
import TestSupport
import Testing

/// The differences of two stores, for programs.
struct StoreDifferenceTests {
    @Test func holdsNobodyUpOnceAllIsRead() throws {
        let directory = try TemporaryDirectory()
        let (old, new) = (directory.path("a.db"), directory.path("b.db"))
        for store in [old, new] {
            try StoreContent.execute(store, "CREATE TABLE p(id INTEGER PRIMARY KEY); INSERT INTO p VALUES(1)")
        }
        let difference = try StoreDifference(from: old, to: new)
        try withExtendedLifetime(difference) { () throws in
            func mode() throws -> String? {
                try DatabaseQueue(path: old).writeWithoutTransaction {
                    try String.fetchOne($0, sql: "PRAGMA journal_mode = WAL")
                }
            }
            let before = Result { try mode() }
            #expect(throws: DatabaseError.self) { try before.get() }
            let change = try difference.next()
            #expect(change == nil)
            let after = try mode()
            #expect(after == "wal")
        }
        #expect(difference.summary.entities.first?.counts.unchanged == 1)
    }
}
