import Importer
import TestSupport
import Testing

struct SettlingTests {
    private static func settlement(rejected: Int64) -> MergeNotification {
        var changes = EntityChanges(entity: "item", table: "item")
        changes.rejected = rejected
        return MergeNotification(
            job: 1,
            commit: 99,
            changes: [changes],
            totals: [],
            marker: Marker(),
            isFinished: false
        )
    }

    /// What only the stored objects tell are rejects as well.
    @Test func countsTheRejectsOfSettling() throws {
        let given = try MemoryImport(MemoryImport.document(items: 10, faulty: [3]))
        let run = try given.imported()
        let before = given.progress.snapshot.rejects
        given.store.state.withLock { $0.settlement = Self.settlement(rejected: 2) }
        try run.settle()
        #expect(given.store.state.withLock { $0.settled } == 1)
        #expect(given.progress.snapshot.rejects == before + 2)
        #expect(given.progress.snapshot.phase == .finishing)
    }

    @Test func doesNotBeginOnceItIsInterrupted() throws {
        let given = try MemoryImport(MemoryImport.document(items: 10))
        let run = try given.imported()
        given.interruption.request(.interrupt)
        let error = #expect(throws: ImportError.self) { try run.settle() }
        #expect(error?.code == .interrupted)
        #expect(given.store.state.withLock { $0.settled } == 0)
    }
}
