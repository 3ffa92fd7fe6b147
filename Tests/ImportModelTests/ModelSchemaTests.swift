import Foundation
import TestSupport
import Testing

@testable import ImportModel

struct ModelSchemaTests {
    private static let file = Project.root.appending(path: "model.schema.json")

    @Test func isTheOneThatIsCheckedIn() throws {
        if ProcessInfo.processInfo.environment["IMPORTER_WRITE_DOCUMENTATION"] == "1" {
            try ModelSchema.text.write(to: Self.file, atomically: true, encoding: .utf8)
        }
        let text = try String(contentsOf: Self.file, encoding: .utf8)
        #expect(text == ModelSchema.text, "Write it anew: importer model schema > model.schema.json")
    }

    private static let attributes: [(json: String, isSound: Bool)] = [
        (#"{"type": "string"}"#, true),
        (
            #"{"type": "string", "optional": true, "default": null, "from": ["a.b", "$"], "column": "c", "owner": "local"}"#,
            true
        ),
        (
            #"{"type": "date", "format": ["iso8601", "dd/MM/yyyy"], "timeZone": "Europe/Berlin", "storage": "unix"}"#,
            true
        ),
        (#"{"type": "date", "wallClock": true, "min": "2014-10-17"}"#, true),
        (#"{"type": "binary", "format": "base64url", "maxLength": 16}"#, true),
        (#"{"type": "binary", "format": "uuid"}"#, true),
        (#"{"type": "bitfield", "bits": {"a.b": 0, "c": 63}}"#, true),
        (#"{"type": "uuid", "generated": true}"#, true),
        (#"{"type": "string", "transform": "trim", "pattern": "^a", "enum": ["a"], "minLength": 0}"#, true),
        (#"{"type": "decimal", "transform": ["trim", "emptyToNull"], "min": 0, "max": "1.5"}"#, true),
        (#"{"type": "date", "format": "mongo", "max": {"$date": 5}}"#, true),
        (#"{"type": "integer16", "max": true}"#, false), (#"{"type": "string", "column": ""}"#, false),
        (#"{}"#, false), (#"{"type": "text"}"#, false), (#"{"type": "string", "nullable": true}"#, false),
        (#"{"type": "string", "optional": "yes"}"#, false), (#"{"type": "string", "from": []}"#, true),
        (#"{"type": "string", "format": "base64"}"#, false), (#"{"type": "binary", "format": "hex"}"#, false),
        (#"{"type": "bitfield"}"#, false), (#"{"type": "bitfield", "bits": {"a": 64}}"#, false),
        (#"{"type": "bitfield", "bits": {}}"#, false), (#"{"type": "string", "bits": {"a": 1}}"#, false),
        (#"{"type": "string", "min": 1}"#, false), (#"{"type": "string", "minLength": -1}"#, false),
        (#"{"type": "integer16", "pattern": "a"}"#, false), (#"{"type": "string", "generated": true}"#, false),
        (#"{"type": "string", "enum": []}"#, false), (#"{"type": "string", "owner": "me"}"#, false),
        (#"{"type": "date", "storage": "ticks"}"#, false), (#"{"type": "uuid", "transform": []}"#, false),
    ]

    /// What the schema refuses the reader refuses, and what the reader takes the schema takes.
    @Test(arguments: [false, true])
    func agreesWithTheReader(usingLibrary: Bool) throws {
        let models = Self.attributes.map { #"{"entities": {"E": {"attributes": {"a": \#($0.json)}}}}"# }
        for (model, attribute) in zip(models, Self.attributes) {
            let isRead = (try? ModelDescription(parsing: Array(model.utf8))) != nil
            #expect(isRead == attribute.isSound, "\(attribute.json)")
        }
        guard let verdicts = try verdicts(models, usingLibrary: usingLibrary) else { return }
        for (verdict, attribute) in zip(verdicts, Self.attributes) {
            #expect((verdict == "valid") == attribute.isSound, "\(attribute.json): \(verdict)")
        }
        #expect(verdicts.count == models.count)
    }

    @Test func takesTheProjectsModelsAndThoseThatAreWritten() throws {
        var generator = SeededGenerator(seed: 77)
        var models = [
            try String(contentsOf: Project.root.appending(path: "scripts/people.model.json"), encoding: .utf8)
        ]
        for type in AttributeType.allCases {
            var attribute = AttributeDescription(name: "a", type: type)
            attribute.addOptions(using: &generator)
            models.append(ModelDescription(entities: [EntityDescription(name: "E", attributes: [attribute])]).encoded())
        }
        let verdicts = try verdicts(models.map { $0.replacing("\n", with: " ") }, usingLibrary: false)
        #expect(verdicts == Array(repeating: "valid", count: models.count))
    }

    /// What the check in Python says of each document; nil if it lacks its library.
    private func verdicts(_ documents: [String], usingLibrary: Bool) throws -> [String]? {
        let directory = try TemporaryDirectory()
        let input = directory.path("models.ndjson")
        try Data((documents.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: input))
        let command = [Project.check("model_schema.py"), Self.file.path] + (usingLibrary ? ["--library"] : [])
        // The library may be there for the Python in PATH only.
        let result = try run([usingLibrary ? "python3" : Project.python] + command, input: input)
        if result.ending == .exit(3) { return nil }
        #expect(result.ending == .exit(0), "\(result.errorText)")
        return result.outputText.split(separator: "\n").map(String.init)
    }

    private func run(_ command: [String], input: String) throws -> ChildProcess.Result {
        try ChildProcess(command, input: input).wait()
    }
}
