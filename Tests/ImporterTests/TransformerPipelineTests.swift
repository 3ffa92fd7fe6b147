import ImportModel
import Importer
import TestSupport
import Testing

/// Transformers of a program's own work through the whole pipeline, and the store outlives them.
struct TransformerPipelineTests {
    private static let model = """
        {"entities": {"item": {"records": "$[*]", "identifier": ["key"], "attributes": {
          "key": {"type": "string", "transform": ["reversed", "trim"]},
          "word": {"type": "string", "transform": "reversed", "default": "none"}
        }}}}
        """

    private static var registry: TransformerRegistry {
        var registry = TransformerRegistry.standard
        registry.register("reversed") { String($0.reversed()) }
        return registry
    }

    private let job: LibraryImport
    private let options: JobOptions

    init() throws {
        job = try LibraryImport(#"[{"key":"ab ","word":"stressed"},{"key":"cd"},{"key":"ab","word":5}]"#)
        options = JobOptions(
            model: try ModelDescription(parsing: Array(Self.model.utf8), transformers: Self.registry)
        )
    }

    private func pipeline(_ run: RunOptions = RunOptions()) -> ImportPipeline {
        ImportPipeline(
            sources: [job.source],
            into: job.store,
            job: options,
            run: run,
            transformers: Self.registry
        )
    }

    private func rows() throws -> String {
        try StoreContent.query(job.store, "SELECT key, word FROM item ORDER BY rowid")
    }

    @Test func changesIdentifiersValuesAndDefaultsBeforeTheyAreStored() throws {
        let report = try pipeline().run().report
        // The number is no text, so it is coerced as it is.
        #expect(try rows() == "ba|5\ndc|enon")
        #expect([report.inserted, report.updated, report.rejected] == [2, 1, 0])
        let again = try pipeline(RunOptions(again: true)).run().report
        #expect([again.inserted, again.updated, again.unchanged] == [0, 2, 1])
    }

    @Test func aStoreIsReadWithoutThemAndAnImportThatNeedsThemSaysWhich() throws {
        _ = try pipeline().run()
        let inspection = StoreInspection(store: job.store)
        #expect(try inspection.status().inserted == 2)
        #expect(try inspection.verify().allSatisfy(\.holds))
        let before = try rows()
        let error = #expect(throws: ImportError.self) {
            try job.pipeline(options, RunOptions(again: true)).run()
        }
        let mistake = "$.entities.item.attributes.key.transform[0]: no transformer is called 'reversed'"
        #expect(error?.advice?.contains(mistake) == true, "\(String(describing: error))")
        #expect(try rows() == before)
        // Other imports into the same table need none.
        let plain = Self.model.replacing(#"["reversed", "trim"]"#, with: #""trim""#).replacing("reversed", with: "trim")
        let other = JobOptions(model: try ModelDescription(parsing: Array(plain.utf8)))
        #expect(try job.pipeline(other, RunOptions(again: true)).run().report.inserted == 2)
    }
}
