import Foundation
import Importer
import TestSupport
import Testing

@testable import ImportEngine

struct InferPhaseTests {
    @Test func givesTheJobTheModelOfAllRecordsAndImportsNone() throws {
        let text = "{\"items\":[\((0..<40).map { "{\"id\":\($0)}" }.joined(separator: ",")),{\"late\":true}]}"
        let given = try MemoryImport(text, hasModel: false)
        let run = try given.start().inferModel()
        let model = try #require(run.job.model)
        #expect(model.entities.map(\.name) == ["item"])
        #expect(model.entities[0].attributes.map(\.name) == ["id", "late"])
        #expect(given.store.jobs().first?.model == model)
        #expect(given.store.jobs().first?.isModelFinal == true)
        #expect(given.rows(of: 0).isEmpty)
        #expect(try run.marker() == Marker())
    }

    /// Every record is in a chunk, which is imported without another look at the source.
    @Test func keepsTheChunksForTheImport() throws {
        let given = try MemoryImport(MemoryImport.document(items: 40), hasModel: false)
        let run = try given.start().inferModel()
        let content = try #require(try ChunkManifest.read(in: run.directory))
        #expect(content.entries.reduce(0) { $0 + $1.records } == 40)
        #expect(run.cutChunks?.isEmpty == false)
        try Data(repeating: 0x78, count: 50).write(to: URL(filePath: given.files.source))
        _ = try given.store.importRecords(of: run)
        #expect(given.rows(of: 0) == (0..<40).map(String.init))
    }

    /// What is before a fault of the source is imported first, and then the fault ends the run.
    @Test func keepsAFaultForAfterTheImport() throws {
        let text = MemoryImport.document(items: 40, notes: 0).dropLast(15)
        let given = try MemoryImport(String(text), hasModel: false)
        let run = try given.start().inferModel()
        let fault = try #require(run.fault)
        #expect(fault.code == .badInput)
        #expect(given.store.jobs().first?.isModelFinal == false)
        let error = #expect(throws: ImportError.self) { try given.store.importRecords(of: run) }
        #expect(error?.message == fault.message)
        #expect(given.rows(of: 0).count >= 38)
    }

    /// Nor is a job left in the way that can never be done.
    @Test func takesAJobOutWhoseIndexNoEntityHas() throws {
        var given = try MemoryImport(MemoryImport.document(items: 4), hasModel: false)
        given.run.indexes = [["none"]]
        let run = try given.start()
        #expect(throws: ImportError.self) { try run.inferModel() }
        #expect(given.store.jobs().isEmpty)
        #expect(!given.hasChunks)
    }
}
