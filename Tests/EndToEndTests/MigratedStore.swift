import Foundation
import TestSupport

/// A store of orders, lines, people and tags, which is brought to other models as people do.
struct MigratedStore {
    static let records = """
        {"id": 7, "customer": {"id": 1, "name": "Ada"}, "items": [{"sku": "a", "count": 2}, {"sku": "b"}], "tags": ["red", "new"]}
        {"id": 8, "customer_id": 2, "items": [], "tags": ["new"]}
        {"id": 9, "customer": {"id": 2, "name": "Bob"}, "items": [{"sku": "c", "count": 70000}]}
        """

    static let orderAttributes = #""id": {"type": "integer64"}"#
    static let personAttributes = #""id": {"type": "integer64"}, "name": {"type": "string", "optional": true}"#
    static let lineAttributes = #""sku": {"type": "string"}, "count": {"type": "integer32", "optional": true}"#
    static let tags = #""tags": {"entity": "tag", "toMany": true}"#

    /// The model, with other attributes where they are given.
    static func model(
        order: String = orderAttributes,
        identifier: String = "id",
        person: String = personAttributes,
        line: String = lineAttributes,
        tags: String = tags,
        more: String = ""
    ) -> String {
        """
        {"entities": {
          "order": {"identifier": ["\(identifier)"], "attributes": {\(order)}, "relationships": {
            "customer": {"entity": "person", "from": ["customer_id", "customer"], "inverse": "orders"},
            "lines": {"entity": "line", "toMany": true, "from": "items", "deleteRule": "cascade"}, \(tags)}},
          "person": {"identifier": ["id"], "attributes": {\(person)},
            "relationships": {"orders": {"entity": "order", "toMany": true, "inverse": "customer", "from": []}}},
          "line": {"attributes": {\(line)}},
          "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}}\(more)}}
        """
    }

    let related: RelatedImport

    init(_ model: String = model(), records: String = records) throws {
        related = try RelatedImport()
        let result = try related.importing(records, "order", model)
        guard result.ending == .exit(0) else { throw StoreContent.Failure(result.errorText) }
    }

    var store: String { related.store }

    func migrate(to model: String, _ options: String...) throws -> ChildProcess.Result {
        let file = try related.directory.write(model, to: "new.json")
        return try run([Project.importer, "migrate", store, "--model", file] + options)
    }

    func query(_ sql: String) throws -> String { try related.query(sql) }

    /// The user tables as they are, with their schema.
    func everything() throws -> String {
        try StoreContent.text(store)
            + query(
                "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE '\\_import%' ESCAPE '\\' ORDER BY name"
            )
    }

    /// What SQLite and the importer say against the store; empty for nothing.
    func faults() throws -> String {
        var faults = try StoreContent.isWhole(store) ? "" : "not whole; "
        let verify = try runImporter("verify", store, "--strict")
        if verify.ending != .exit(0) { faults += verify.outputText + verify.errorText }
        return faults
    }
}
