import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportEngine

struct ImportPhaseTests {
    @Test func importsWhatIsLeftAndThenNothing() throws {
        let given = try MemoryImport(MemoryImport.document(items: 40, faulty: [7], notes: 2))
        let run = try given.imported()
        let ids = (0..<40).filter { $0 != 7 }.map(String.init)
        #expect(given.rows(of: 0) == ids)
        #expect(given.rows(of: 1) == ["n0", "n1"])
        #expect(given.store.state.withLock { $0.rejects } == [8])
        #expect(try run.marker().recordOrdinal == 42)
        // All of it is behind the marker.
        let again = try given.store.importRecords(of: run)
        #expect(given.rows(of: 0) == ids)
        #expect(try again.marker() == run.marker())
    }

    /// A commit that fails takes no other with it, and none comes after it.
    @Test(arguments: [0, 1, 5]) func keepsWhatWasCommittedBeforeAFailure(commits: Int) throws {
        let given = try MemoryImport(MemoryImport.document(items: 40))
        let run = try given.start()
        given.store.state.withLock { $0.commitsLeft = commits }
        #expect(throws: MemoryStore.Failure.self) { try given.store.importRecords(of: run) }
        let ordinal = try run.marker().recordOrdinal
        #expect(given.rows(of: 0) == (0..<Int(ordinal)).map(String.init))
        #expect(try run.marker().commits == Int64(commits))
    }

    @Test func endsBetweenCommitsOnceItIsInterrupted() throws {
        let given = try MemoryImport(MemoryImport.document(items: 40))
        let run = try given.start()
        given.interruption.request(.terminate)
        let error = #expect(throws: ImportError.self) { try given.store.importRecords(of: run) }
        #expect(error?.code == .terminated)
        #expect(Int64(given.rows(of: 0).count) == (try run.marker().recordOrdinal))
        #expect(given.rows(of: 1).isEmpty)
    }
}
