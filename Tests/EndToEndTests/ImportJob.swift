import Foundation
import TestSupport
import Testing

/// A source with everything that decides the result of importing it.
struct ImportJob: Sendable, CustomTestStringConvertible {
    let name: String
    let source: Data
    let fileName: String
    var model: String?
    var options: [String] = []

    var testDescription: String { name }

    /// The job's files in a directory of a test's own.
    func files() throws -> ImportFiles {
        try ImportFiles([(fileName, source)], model: model, options: options)
    }

    /// People with a model, in many shapes; some records do not fit.
    static func withModel(count: Int) -> [ImportJob] {
        let people = Samples.peopleWithFaults(count: count, seed: 7)
        return [
            ImportJob(
                name: "array, model without identifier",
                source: Data(people.array.utf8),
                fileName: "people.json",
                model: Samples.model()
            ),
            ImportJob(
                name: "array over lines, integer identifier",
                source: Data(people.pretty.utf8),
                fileName: "people.json",
                model: Samples.model(identifier: "id")
            ),
            ImportJob(
                name: "NDJSON with broken lines, string identifier",
                source: Data(withBrokenLines(people).utf8),
                fileName: "people.ndjson",
                model: Samples.model(records: "$", identifier: "guid")
            ),
            ImportJob(
                name: "several collections",
                source: Data(collections(people).utf8),
                fileName: "people.json",
                model: twoEntities
            ),
        ]
    }

    /// The same without one.
    static func inferred(count: Int) -> [ImportJob] {
        let people = Samples.people(count: count, seed: 8)
        return [
            ImportJob(name: "array, inferred", source: Data(people.array.utf8), fileName: "people.json"),
            ImportJob(
                name: "NDJSON with broken lines, inferred",
                source: Data(withBrokenLines(people).utf8),
                fileName: "people.ndjson",
                options: ["--max-record-bytes", "2000"]
            ),
            ImportJob(
                name: "concatenated, inferred",
                source: Data(people.concatenated.utf8),
                fileName: "people.json",
                options: ["--records", "$"]
            ),
            ImportJob(
                name: "keyed, inferred",
                source: Data(people.keyed.utf8),
                fileName: "people.json",
                options: ["--records", "$.*"]
            ),
            ImportJob(
                name: "keys on the way, inferred",
                source: Data(groups(people).utf8),
                fileName: "people.json",
                options: ["--records", "$.*.items.*", "--records", "$.*.list[*]"]
            ),
        ]
    }

    /// A part of the records of each path.
    static func parts(count: Int) -> [ImportJob] {
        let people = Samples.peopleWithFaults(count: count, seed: 9)
        return [
            ImportJob(
                name: "several collections, of each a part",
                source: Data(collections(people).utf8),
                fileName: "people.json",
                model: twoEntities,
                options: ["--skip", "13", "--limit", "\(count / 2 - 20)"]
            ),
            ImportJob(
                name: "NDJSON with broken lines, a part, inferred",
                source: Data(withBrokenLines(people).utf8),
                fileName: "people.ndjson",
                options: ["--skip", "3", "--limit", "\(count - 10)"]
            ),
        ]
    }

    /// Objects that get UUIDs, some of them as their identifier.
    static func generated(count: Int) -> [ImportJob] {
        let people = Samples.people(count: count, seed: 10)
        let attributes = """
            "id": {"type": "integer64"}, "name": {"type": "string"},
            "key": {"type": "uuid", "generated": true, "from": "note"}
            """
        return ["id", "key"].map { identifier in
            ImportJob(
                name: "generated, \(identifier) as identifier",
                source: Data(people.pretty.utf8),
                fileName: "people.json",
                model: "{\"entities\": {\"P\": {\"identifier\": [\"\(identifier)\"], \"attributes\": {\(attributes)}}}}"
            )
        }
    }

    /// Lines that are not JSON, an empty one, and one above 2,000 bytes, among the others.
    private static func withBrokenLines(_ samples: Samples) -> String {
        var lines = samples.records
        for index in stride(from: 5, to: lines.count, by: 67) {
            lines[index] = String(lines[index].dropLast(index % 40 + 1))
        }
        lines[lines.count / 3] = "{\"id\":1,\"guid\":\"x\",\"name\":\"" + String(repeating: "long ", count: 500) + "\"}"
        lines.insert("", at: lines.count / 2)
        return lines.joined(separator: "\n") + "\n"
    }

    /// In groups of 50, a half of each under keys.
    private static func groups(_ samples: Samples) -> String {
        let groups = stride(from: 0, to: samples.records.count, by: 50).map { start in
            let records = samples.records[start..<min(start + 50, samples.records.count)]
            let members = records.prefix(25).enumerated().map { "\"k\\u00e9\($0)\" : \($1)" }.joined(separator: ",\n")
            let list = records.dropFirst(25).joined(separator: ", ")
            return "\"group \\\"\(start)\": {\"items\": {\(members)}, \"n\": 1, \"list\": [\(list)]}"
        }
        return "{\(groups.joined(separator: ", "))}"
    }

    private static func collections(_ samples: Samples) -> String {
        let half = samples.records.count / 2
        let people = samples.records[..<half].joined(separator: ", ")
        let orders = (0..<half).map { "{\"number\": \($0), \"person\": \($0 * 3 % half), \"paid\": \($0 % 2 == 0)}" }
        return """
            {"version": 2, "users": [\(people)],
             "other": {"a": [1, 2]}, "orders": [\(orders.joined(separator: ",\n"))]}
            """
    }

    private static let twoEntities: String = {
        let person = Samples.model(records: "$.users[*]").dropFirst("{\"entities\": {".count).dropLast(2)
        return """
            {"entities": {\(person),
            "Order": {"records": "$.orders[*]", "table": "orders", "identifier": ["number"], "attributes": {
              "number": {"type": "integer32"}, "person": {"type": "integer64"}, "paid": {"type": "boolean"}}}
            }}
            """
    }()
}

extension ImportFiles {
    /// Imports without interruption and gives back what the store holds then.
    func uninterruptedResult(_ runOptions: [String] = []) throws -> String {
        let result = try run(command(into: "whole.sqlite", runOptions))
        guard result.ending == .exit(0) else {
            throw StoreContent.Failure("\(result.ending): \(result.errorText)")
        }
        return try StoreContent.result(directory.path("whole.sqlite"))
    }
}
