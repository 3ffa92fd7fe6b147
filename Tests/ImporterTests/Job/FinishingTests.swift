import Importer
import TestSupport
import Testing

struct FinishingTests {
    @Test func finishesTheJobAndRemovesItsChunks() throws {
        let given = try MemoryImport(MemoryImport.document(items: 10))
        let run = try given.imported()
        #expect(given.hasChunks)
        try run.judge()
        try run.finish()
        #expect(given.store.jobs().map(\.state) == [.finished])
        #expect(given.progress.snapshot.phase == .finished)
        #expect(given.progress.snapshot.messages.isEmpty)
        #expect(!given.hasChunks)
    }

    /// One of ten records is rejected; whatever is kept, a job with too many is not finished.
    @Test(arguments: [(10, false), (9.99, false), (9.99, true)])
    func aJobWithTooManyRejectsIsNotFinished(percent: Double, keepsChunks: Bool) throws {
        var given = try MemoryImport(MemoryImport.document(items: 9, faulty: [3]))
        given.options.maxErrors = .percent(percent)
        given.run.keepsChunks = keepsChunks
        let run = try given.imported()
        guard percent < 10 else {
            try run.judge()
            return try run.finish()
        }
        let error = #expect(throws: ImportError.self) { try run.judge() }
        #expect(error?.code == .badInput)
        #expect(given.store.jobs().map(\.state) != [.finished])
        #expect(given.hasChunks == keepsChunks)
    }

    @Test func namesARecordPathThatHadNoRecords() throws {
        let given = try MemoryImport(MemoryImport.document(items: 10, notes: 0))
        let run = try given.imported()
        try run.judge()
        try run.finish()
        #expect(given.progress.snapshot.messages == ["\(given.files.source): no records were found at $.notes[*]"])
    }
}
