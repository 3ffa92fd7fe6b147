import Foundation
import TestSupport
import Testing

/// A source in which every other record is faulty, imported, in a directory of a test's own.
///
/// Python makes it, and says what must come of repairing it.
struct RepairJob {
    /// How the source's records are laid out.
    enum Shape: String, CaseIterable {
        case lines
        case array
        /// Two arrays and an object keyed by id, each of an entity of its own.
        case document
    }

    let directory: TemporaryDirectory
    let store: String
    /// What was exported, and the result of editing it.
    let exported: String
    let edited: String
    let options: [String]

    /// Makes the source and imports it as it is.
    init(_ shape: Shape, count: Int) throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
        exported = directory.path("fix.ndjson")
        edited = directory.path("edited.ndjson")
        options = [
            "--strict", "--max-record-bytes", "2000", "--model",
            try directory.write(Self.model(shape), to: "model.json"),
        ]
        try Self.check("make", shape.rawValue, "\(count)", directory.path)
        let result = try run([Project.importer, "import", directory.path("broken.json"), "--into", store] + options)
        try #require(result.ending == .exit(0), "\(result.errorText)")
    }

    /// Exports the open rejects and mends every so manieth of them.
    func export(every: Int = 1) throws {
        let result = try runImporter("rejects", store, "--to", exported, "--force")
        try #require(result.ending == .exit(0), "\(result.errorText)")
        try Self.check("edit", exported, directory.path, edited, "\(every)")
    }

    /// Whether the store's tables have the rows of an import of the mended source.
    func isMended() throws -> Bool {
        let other = directory.path("mended.sqlite")
        let result = try run([Project.importer, "import", directory.path("mended.json"), "--into", other] + options)
        try #require(result.ending == .exit(0), "\(result.errorText)")
        return try Python.run("repair.py", ["same", store, other]).ending == .exit(0)
    }

    /// How many rejects are in each state.
    func states() throws -> [String: Int] {
        let rows = try StoreContent.query(store, "SELECT state, count(*) FROM _import_reject GROUP BY state")
        return Dictionary(
            uniqueKeysWithValues: rows.split(separator: "\n").map { row in
                let parts = row.split(separator: "|")
                return (String(parts[0]), Int(parts[1]) ?? -1)
            }
        )
    }

    /// Whether `verify` has nothing to say.
    func isSound() throws -> Bool { try runImporter("verify", store).ending == .exit(0) }

    static func check(_ arguments: String...) throws {
        let result = try Python.run("repair.py", arguments)
        try #require(result.ending == .exit(0), "\(result.outputText) \(result.errorText)")
    }

    private static func model(_ shape: Shape) -> String {
        let path = [Shape.lines: "$", .array: "$[*]", .document: "$.people[*]"][shape] ?? "$"
        let person = """
            "Person": {"records": "\(path)", "table": "person", "attributes": {
              "id": {"type": "integer64"}, "name": {"type": "string"}, "age": {"type": "double"},
              "note": {"type": "json", "optional": true}}}
            """
        let others = """
            , "Order": {"records": "$.orders[*]", "identifier": ["number"], "attributes": {
              "number": {"type": "integer64"}, "paid": {"type": "boolean"}}},
            "Tag": {"records": "$.tags.*", "identifier": ["name"], "attributes": {
              "name": {"type": "string", "from": "$key"}, "weight": {"type": "integer16"}}}
            """
        return "{\"entities\": {\(person)\(shape == .document ? others : "")}}"
    }
}
