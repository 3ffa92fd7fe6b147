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

    /// A store with three things, and a migration that makes the number of each a text.
    private func things(in directory: TemporaryDirectory) throws -> (store: String, migration: ModelMigration) {
        func model(_ type: AttributeType) -> ModelDescription {
            let number = AttributeDescription(name: "number", type: type, isOptional: true)
            return ModelDescription(entities: [EntityDescription(name: "thing", attributes: [number])])
        }
        let store = directory.path("store.sqlite")
        let source = try directory.write("[{\"number\": 7}, {\"number\": 8}, {\"number\": 9}]", to: "things.json")
        let job = JobOptions(model: model(.integer32))
        _ = try ImportPipeline(sources: [source], into: store, job: job, run: RunOptions()).run()
        return (store, ModelMigration(of: store, to: model(.string)))
    }

    @Test func aValueThatComesAfterThePlanIsNotLost() throws {
        let directory = try TemporaryDirectory()
        let (store, migration) = try things(in: directory)
        let error = #expect(throws: ImportError.self) {
            try migration.run { _ in try StoreContent.execute(store, "UPDATE thing SET number = x'00' WHERE rowid = 2")
            }
        }
        #expect(error?.reason == .migrationRefused)
        let rows = try StoreContent.query(store, "SELECT rowid, typeof(number), hex(number) FROM thing")
        #expect(rows == "1|integer|37\n2|blob|00\n3|integer|39")
    }

    @Test func rowIDsStayWhereARowGoesAfterThePlan() throws {
        let directory = try TemporaryDirectory()
        let (store, migration) = try things(in: directory)
        try migration.run { _ in try StoreContent.execute(store, "DELETE FROM thing WHERE rowid = 2") }
        #expect(try StoreContent.query(store, "SELECT rowid, quote(number) FROM thing") == "1|'7'\n3|'9'")
    }
}
