import Foundation
import TestSupport

/// A store that records of entities that relate to one another are imported into, as people do.
struct RelatedImport {
    let directory: TemporaryDirectory
    let store: String

    init() throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
    }

    func importing(
        _ records: String,
        _ entity: String,
        _ model: String,
        _ options: String...
    ) throws -> ChildProcess.Result {
        // A file of its own each time: what a store has already is not imported again.
        let source = try directory.write(records, to: "\(UUID().uuidString).ndjson")
        let model = try directory.write(model, to: "model.json")
        let command = [Project.importer, "import", source, "--into", store, "--model", model, "--entity", entity]
        return try run(command + ["--progress", "none"] + options)
    }

    func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }
}
