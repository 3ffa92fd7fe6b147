import Foundation
import GRDB
import TestSupport
import Testing

@testable import Importer

struct WALWritebackTests {
    private let directory: TemporaryDirectory
    private var wal: String { directory.path("s.sqlite-wal") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// How many descriptors of this process are the WAL's.
    private func descriptors() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            .filter { (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == wal }
            .count
    }

    @Test func hasADescriptorOfItsOwnUntilItIsStopped() throws {
        let link = directory.path("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path("s.sqlite"))
        let queue = try StoreConnection.writer(link, durability: .normal)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (x)") }
        let before = try descriptors()
        #expect(before > 0)
        let writeback = try queue.inDatabase(WALWriteback.init)
        #expect(try descriptors() == before + 1)
        writeback.stop()
        let deadline = ContinuousClock.now + patience
        while try descriptors() > before, ContinuousClock.now < deadline { usleep(1_000) }
        #expect(try descriptors() == before)
        try queue.close()
    }

    @Test func makesNoWALWhereThereIsNone() throws {
        let queue = try DatabaseQueue(path: directory.path("s.sqlite"))
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE; CREATE TABLE t (x)") }
        try queue.inDatabase(WALWriteback.init).stop()
        #expect(!FileManager.default.fileExists(atPath: wal))
        try queue.close()
    }
}
