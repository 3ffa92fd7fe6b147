import Foundation
import TestSupport
import Testing

/// Stores that change sets are applied to, and the commands that do so.
struct PatchedStore {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    var store: String { directory.path("s.db") }
    var file: String { directory.path("c.changes.ndjson") }

    /// Runs SQL on a store of this name.
    func make(_ name: String, _ sql: String) throws { try StoreContent.execute(directory.path(name), sql) }

    /// Writes a change set by hand, without the footer's counts and hash.
    func write(_ entities: String, _ changes: [String], options: String = "{}", hasFooter: Bool = true) throws {
        let header =
            #"{"format":"importer-changes","version":1,"program":"0","old":{"name":"a"},"new":{"name":"b"},"entities":\#(entities),"options":\#(options)}"#
        let footer = hasFooter ? [#"{"end":true,"changes":\#(changes.count)}"#] : []
        try directory.write(([header] + changes + footer).joined(separator: "\n") + "\n", to: "c.changes.ndjson")
    }

    /// Makes the difference of `a.db` and `b.db`, and the store a copy of `a.db`.
    func diff(_ arguments: String...) throws {
        let command = [Project.importer, "diff", directory.path("a.db"), directory.path("b.db"), "--output", file]
        let result = try run(command + arguments)
        #expect(result.ending == .exit(0), "\(result.errorText)")
        try FileManager.default.copyItem(atPath: directory.path("a.db"), toPath: store)
    }

    func patch(_ arguments: String..., input: String = "/dev/null") throws -> ChildProcess.Result {
        try run([Project.importer, "patch", store, file, "--quiet"] + arguments, input: input)
    }

    func undo(_ arguments: String...) throws -> ChildProcess.Result {
        try run([Project.importer, "undo", store, "--quiet"] + arguments)
    }

    /// A command with `--json`, which ends with this code.
    func report(_ command: String, _ arguments: String..., code: Int32 = 0) throws -> [String: Any] {
        let own = command == "patch" ? [store, file] : [store]
        let result = try run([Project.importer, command] + own + arguments + ["--json", "--progress", "none"])
        #expect(result.ending == .exit(code), "\(result.errorText)")
        let object = try JSONSerialization.jsonObject(with: result.output)
        return try #require(object as? [String: Any])
    }

    func counts(_ report: [String: Any]) -> [String: Int] {
        var counts: [String: Int] = [:]
        for key in ["records_read", "inserted", "updated", "deleted", "unchanged", "ignored", "rejected", "conflicts"] {
            if let count = report[key] as? Int, count != 0 { counts[key] = count }
        }
        return counts
    }

    /// The conflicts of a report: kind, identifier and attribute.
    func conflicts(_ report: [String: Any]) throws -> [String] {
        let list = try #require(report["conflict_list"] as? [[String: Any]])
        return list.map { conflict in
            let identifier = (conflict["identifier"] as? [String: Any])?.values.map { "\($0)" }.joined(separator: ",")
            return [conflict["kind"] as? String, identifier, conflict["attribute"] as? String].compactMap(\.self)
                .joined(separator: " ")
        }
    }

    func rows(_ sql: String) throws -> String { try StoreContent.query(store, sql) }

    var digest: String { get throws { try StoreContent.digest(store) } }

    var bytes: Data { get throws { try Data(contentsOf: URL(filePath: store)) } }

    /// `verify` finds that all is accounted for.
    ///
    /// - Parameter isStrict: also that nobody else has changed a row.
    func verify(isStrict: Bool = true) throws {
        let result = try run([Project.importer, "verify", store] + (isStrict ? ["--strict"] : []))
        #expect(result.ending == .exit(0), "\(result.outputText)\(result.errorText)")
    }
}
