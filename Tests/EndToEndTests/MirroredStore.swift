import Foundation
import TestSupport
import Testing

/// A store that mirrors sources, in a directory of a test's own.
struct MirroredStore {
    static let users = """
        {"entities": {"user": {"identifier": ["id"], "attributes": {"id": {"type": "integer64"},
          "name": {"type": "string", "optional": true}}}}}
        """

    /// What an import has printed.
    struct Outcome {
        let ending: ChildProcess.Ending
        let report: [String: Any]
        let errorText: String

        func number(_ key: String) -> Int? { (report[key] as? NSNumber)?.intValue }
        var reason: String? { report["withheld_reason"] as? String }
    }

    let directory: TemporaryDirectory
    let store: String
    let model: String

    init(model: String = users) throws {
        directory = try TemporaryDirectory()
        store = directory.path("store.sqlite")
        self.model = try directory.write(model, to: "model.json")
    }

    /// Imports a source with `--mirror`.
    ///
    /// - Parameter text: JSON.
    func mirroring(_ text: String, as name: String = "user.json", _ options: String...) throws -> Outcome {
        try importing(text, as: name, ["--mirror"] + options)
    }

    func importing(_ text: String, as name: String = "user.json", _ options: [String] = []) throws -> Outcome {
        let source = try directory.write(text, to: name)
        return try running(["import", source, "--into", store, "--model", model, "--again"] + options)
    }

    func running(_ arguments: [String]) throws -> Outcome {
        let result = try run([Project.importer] + arguments + ["--progress", "none", "--json"])
        let report = try? JSONSerialization.jsonObject(with: result.output) as? [String: Any]
        return Outcome(ending: result.ending, report: report ?? [:], errorText: result.errorText)
    }

    /// Carries on with what the last job has withheld.
    func finishing(job: Int, _ options: String...) throws -> Outcome {
        try running(["mirror", store, "--job", "\(job)"] + options)
    }

    func query(_ sql: String) throws -> String { try StoreContent.query(store, sql) }

    /// The identifiers of a table's rows, in order.
    func ids(_ table: String = "user") throws -> String {
        try query("SELECT group_concat(id, ' ') FROM (SELECT id FROM \(table) ORDER BY id)")
    }

    /// Users with these identifiers.
    static func users(_ ids: some Sequence<Int>) -> String {
        "[" + ids.map { #"{"id": \#($0), "name": "u\#($0)"}"# }.joined(separator: ",") + "]"
    }
}
