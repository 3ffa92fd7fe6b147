import Foundation
import ImportModel
import Testing

@testable import ImportCommand

struct DocumentationTests {
    private static let subcommands = ImporterCommand.configuration.subcommands

    private static let root =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

    private static func readme() throws -> String {
        try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    }

    @Test func modelsInTheDocumentationAreSound() throws {
        let readme = try Self.readme()
        let start = try #require(readme.firstRange(of: "    {\n      \"entities\"")).lowerBound
        let end = try #require(readme[start...].firstRange(of: "\n    }\n")).upperBound
        let example = try ModelDescription(parsing: Array(readme[start..<end].utf8))
        #expect(example.entities.map(\.name) == ["people"])
        let generated = try JobArguments.readModel(Self.root.appending(path: "scripts/people.model.json").path)
        #expect(generated.entities.map(\.attributes.count) == [13])
    }

    @Test func readmeHasEverySubcommandAndOption() throws {
        let readme = try Self.readme()
        for subcommand in Self.subcommands {
            let name = try #require(subcommand.configuration.commandName)
            #expect(readme.contains("`importer \(name) "))
            let help = ImporterCommand.helpMessage(for: subcommand, columns: 200)
            for option in help.matches(of: /--[a-z-]+/).map({ String($0.output) }) where option != "--version" {
                #expect(option == "--help" || readme.contains(option), "\(option) of \(name)")
            }
        }
    }

    @Test func readmeHasNoOptionThatIsNot() throws {
        let help = Self.subcommands.map { ImporterCommand.helpMessage(for: $0, columns: 200) }.joined()
        let rows = try Self.readme().split(separator: "\n").filter { $0.hasPrefix("| `--") }
        #expect(rows.count > 10)
        for row in rows {
            let option = try #require(row.firstMatch(of: /--[a-z-]+/)).output
            #expect(help.contains(option), "\(option)")
        }
    }

    @Test func helpFitsAnEightyColumnTerminal() {
        for subcommand in Self.subcommands {
            let help = ImporterCommand.helpMessage(for: subcommand, columns: 80)
            let examples = help.split(separator: "\n").filter {
                $0.contains("  importer ") || $0.contains("| importer")
            }
            #expect(!examples.isEmpty)
            // A wrapped example could not be pasted.
            #expect(examples.allSatisfy { $0.count <= 80 })
            let written = subcommand.configuration.discussion.split(separator: "\n").filter {
                $0.contains("  importer ")
            }
            for example in written { #expect(help.contains(example)) }
        }
    }
}
