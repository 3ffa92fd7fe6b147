import Foundation
import ImportModel
import Importer
import Testing

@testable import ImportCommand

struct ModelSubcommandTests {
    private func withFile(_ text: String, _ body: (String) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "model-\(UUID().uuidString).json")
        try Data(text.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        try body(file.path)
    }

    @Test func namesEveryMistakeWithItsPlace() throws {
        let text = #"{"entities": {"E": {"attributes": {"a": {"type": "int"}, "b": {"type": "uri", "min": 1}}}}}"#
        try withFile(text) { file in
            let mistakes = try ModelSubcommand.Check.mistakes(in: file).mistakes
            #expect(mistakes.map(\.path) == ["$.entities.E.attributes.a.type", "$.entities.E.attributes.b.min"])
            #expect(ImporterCommand.run(["model", "check", file]) == 65)
            #expect(ImporterCommand.run(["model", "check", "--json", file]) == 65)
        }
    }

    @Test func saysNothingIsWrongWhereNothingIs() throws {
        try withFile(#"{"entities": {"E": {"attributes": {"a": {"type": "uri"}}}}}"#) { file in
            let mistakes = try ModelSubcommand.Check.mistakes(in: file).mistakes
            #expect(mistakes.isEmpty)
            #expect(ImporterCommand.run(["model", "check", file]) == 0)
        }
    }

    @Test func tellsAFileThatIsNotThere() {
        #expect(ImporterCommand.run(["model", "check", "/nowhere/at/all.json"]) == 66)
    }

    @Test func printsTheSchema() {
        #expect(ImporterCommand.run(["model", "schema"]) == 0)
    }
}
