import Foundation
import GRDB
import Importer
import TestSupport
import Testing

@testable import ImportSQLite

struct CheckpointerTests {
    private let directory: TemporaryDirectory
    private var store: String { directory.path("s.sqlite") }
    private static let pageSize = 512
    /// Pages that a commit of `commit` writes, and then some for the tree above them.
    private static let pagesPerCommit = 250

    init() throws {
        directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: store)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA page_size = \(Self.pageSize); VACUUM; CREATE TABLE t (x BLOB)")
        }
        try queue.close()
    }

    private func size(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: store + name)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }

    /// Pages that the WAL has room for in its file.
    private func pagesOfWAL() throws -> Int { (try size("-wal") - 32) / (Self.pageSize + 24) }

    private func commit(_ queue: DatabaseQueue) throws {
        try queue.write { database in
            for _ in 0..<200 { try database.execute(sql: "INSERT INTO t VALUES (zeroblob(450))") }
        }
    }

    private func withWriter(_ body: (DatabaseQueue) throws -> Void) throws {
        let checkpointer = try Checkpointer(store: store, durability: .normal)
        let queue = try StoreConnection.writer(store, durability: .normal)
        queue.inDatabase { checkpointer.attach(to: $0) }
        try body(queue)
        try queue.close()
        try checkpointer.close()
    }

    @Test func walBeginsAnewHoweverMuchIsCommitted() throws {
        try withWriter { queue in
            for _ in 0..<100 {
                try commit(queue)
                #expect(try pagesOfWAL() < Checkpointer.restartPages + Self.pagesPerCommit)
            }
        }
        let reader = try StoreConnection.reader(store)
        #expect(try reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 20_000)
        #expect(try reader.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    }

    @Test func storeGrowsBesideCommits() throws {
        try withWriter { queue in
            // More than what a checkpoint begins with, all of which it moves.
            let expected = try size("") + 1_000 * Self.pageSize
            // Fewer pages than those at which the committing worker makes a checkpoint.
            for _ in 0..<10 { try commit(queue) }
            #expect(try pagesOfWAL() < Checkpointer.restartPages)
            let deadline = ContinuousClock.now + patience
            while try size("") < expected, ContinuousClock.now < deadline { usleep(1_000) }
            #expect(try size("") >= expected)
        }
    }

    @Test func commitsGoOnWhileAReaderKeepsTheWAL() throws {
        try withWriter { queue in
            let reader = try DatabasePool(path: store)
            try commit(queue)
            try reader.read { database in
                #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM t") == 200)
                for _ in 0..<40 { try commit(queue) }
                #expect(try Int.fetchOne(database, sql: "SELECT count(*) FROM t") == 200)
            }
            let most = try pagesOfWAL()
            #expect(most > Checkpointer.restartPages)
            for _ in 0..<100 { try commit(queue) }
            // As far as it had grown and no further.
            #expect(try pagesOfWAL() < most + Self.pagesPerCommit)
            try reader.close()
        }
    }
}
