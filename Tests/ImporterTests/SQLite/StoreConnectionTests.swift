import Dispatch
import Foundation
import GRDB
import Importer
import Synchronization
import TestSupport
import Testing

struct StoreConnectionTests {
    /// `PRAGMA synchronous` gives back 0 for OFF, 1 for NORMAL and 2 for FULL.
    @Test(arguments: [(RunOptions.Durability.off, 0), (.normal, 1), (.full, 2)])
    func writesAsDurablyAsWasAsked(durability: RunOptions.Durability, synchronous: Int) throws {
        let directory = try TemporaryDirectory()
        // The second one finds the store as the first one has left it.
        for _ in 1...2 {
            let queue = try StoreConnection.writer(directory.path("s.sqlite"), durability: durability)
            let (level, mode, size) = try queue.inDatabase { database in
                (
                    try Int.fetchOne(database, sql: "PRAGMA synchronous"),
                    try String.fetchOne(database, sql: "PRAGMA journal_mode"),
                    try Int.fetchOne(database, sql: "PRAGMA page_size")
                )
            }
            #expect(level == synchronous)
            #expect(mode == "wal")
            #expect(size == 16_384)
        }
    }

    /// The last connection to close takes the WAL away, also while a writer is just being opened.
    @Test func opensWhileReadersComeAndGo() throws {
        let directory = try TemporaryDirectory()
        let isOver = Atomic(false)
        let current = Mutex(directory.path("0.sqlite"))
        let readers = DispatchGroup()
        for _ in 1...2 {
            readers.enter()
            Thread.detachNewThread {
                while !isOver.load(ordering: .relaxed) {
                    let store = current.withLock { $0 }
                    // There is nothing in it yet, or a WAL without a table.
                    try? StoreConnection.reader(store).close()
                }
                readers.leave()
            }
        }
        defer {
            isOver.store(true, ordering: .relaxed)
            readers.wait()
        }
        for round in 1...400 {
            let store = directory.path("\(round).sqlite")
            current.withLock { $0 = store }
            let queue = try StoreConnection.writer(store, durability: .normal)
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (\(round))") }
            try queue.close()
        }
    }
}
