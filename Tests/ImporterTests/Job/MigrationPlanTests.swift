import ImportModel
import Importer
import TestSupport
import Testing

struct MigrationPlanTests {
    @Test func aPlanHearsAnInterruption() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store.sqlite")
        let source = try directory.write(#"{"id": 1}"#, to: "thing.json")
        let id = AttributeDescription(name: "id", type: .integer64)
        let model = ModelDescription(entities: [EntityDescription(name: "thing", identifier: ["id"], attributes: [id])])
        _ = try ImportPipeline(sources: [source], into: store, job: JobOptions(model: model), run: RunOptions()).run()
        let migration = ModelMigration(of: store, to: model)
        #expect(try migration.plan().isEmpty)
        let interruption = Interruption()
        interruption.request(.interrupt)
        let error = #expect(throws: ImportError.self) { try migration.plan(interruption: interruption) }
        #expect(error?.isInterruption == true)
    }
}
