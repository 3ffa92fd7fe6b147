import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportEngine

struct StartPhaseTests {
    @Test func aNewJobIsInTheStoreWithItsChunkDirectory() throws {
        let given = try MemoryImport(MemoryImport.document(items: 3))
        let run = try given.start()
        let job = try #require(given.store.jobs().first)
        #expect(run.previous == nil)
        #expect(job.id == run.job.id)
        #expect(job.chunkDirectory == given.chunks)
        #expect(given.store.files().map(\.path) == [given.chunks])
        #expect(given.hasChunks)
        // Nothing is imported by it.
        #expect(given.rows(of: 0).isEmpty)
    }

    /// A directory that has somebody else's chunks is refused before the store is changed.
    @Test func aJobWithoutAChunkDirectoryIsNotInTheStore() throws {
        let given = try MemoryImport(MemoryImport.document(items: 3))
        try FileManager.default.createDirectory(atPath: given.chunks, withIntermediateDirectories: false)
        let chunk = given.chunks + "/chunk-000001.ndjson"
        try "mine".write(toFile: chunk, atomically: false, encoding: .utf8)
        let error = #expect(throws: ImportError.self) { try given.start() }
        #expect(error?.code == .cannotCreate)
        #expect(given.store.jobs().isEmpty)
        #expect(try String(contentsOfFile: chunk, encoding: .utf8) == "mine")
    }

    @Test func aJobThatIsThereIsOpenedAsItWasLeft() throws {
        let given = try MemoryImport(MemoryImport.document(items: 30))
        let first = try given.start()
        given.store.state.withLock { $0.commitsLeft = 2 }
        #expect(throws: (any Error).self) { try given.store.importRecords(of: first) }
        try first.journal.stop(first.job, .failed, "no more", seconds: 1)
        let second = try given.start()
        #expect(second.previous?.state == .failed)
        #expect(second.previous?.message == "no more")
        #expect(second.job.id == first.job.id)
        #expect(try second.marker().recordOrdinal == 6)
        #expect(given.rows(of: 0).count == 6)
    }
}
