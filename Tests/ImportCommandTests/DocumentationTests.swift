import Foundation
import ImportModel
import Importer
import Testing

@testable import ImportCommand

/// The documents say what the code does: commands, options, defaults, exit codes, keys and models.
struct DocumentationTests {
    private static let subcommands = ImporterCommand.configuration.subcommands

    /// The tables of options that several commands share.
    private static let shared = ["Job options", "Run options", "Output options", "Server options", "Page options"]

    @Test func modelsInTheDocumentationAreSound() throws {
        var examples = 0
        for page in try Documents.all() {
            for model in page.models {
                let entities = try ModelDescription(parsing: Array(model.utf8)).entities
                #expect(!entities.isEmpty, "\(page.path)")
                examples += 1
            }
        }
        #expect(examples >= 3)
        let generated = try ModelFile(at: Documents.root.appending(path: "scripts/people.model.json").path).model
        #expect(generated.entities.map(\.attributes.count) == [13])
    }

    @Test func theArticleHasEverySubcommand() throws {
        let article = try Documents.article("CommandLine")
        for subcommand in Self.subcommands {
            let name = try #require(subcommand.configuration.commandName)
            #expect(article.text.contains("\n| `importer \(name) ") && article.sections[name] != nil, "\(name)")
        }
    }

    @Test func theArticleHasEveryOptionOfEverySubcommand() throws {
        let article = try Documents.article("CommandLine")
        let common = Self.shared.compactMap { article.sections[$0] }.flatMap(Documents.options)
        #expect(common.count > 20)
        for subcommand in Self.subcommands where subcommand.configuration.subcommands.isEmpty {
            let name = try #require(subcommand.configuration.commandName)
            let documented = common + Documents.options(in: article.sections[name] ?? "")
            let help = ImporterCommand.helpMessage(for: subcommand, includeHidden: true, columns: 200)
            for option in Self.options(inHelp: help) where !["--help", "--version"].contains(option) {
                #expect(documented.contains(option), "\(option) of \(name)")
            }
        }
    }

    @Test func theArticleHasNoOptionThatACommandLacks() throws {
        let article = try Documents.article("CommandLine")
        let helps = Dictionary(
            uniqueKeysWithValues: try Self.subcommands.map { subcommand in
                let name = try #require(subcommand.configuration.commandName)
                return (name, ImporterCommand.helpMessage(for: subcommand, includeHidden: true, columns: 200))
            }
        )
        for (name, section) in article.sections {
            guard let help = Self.shared.contains(name) ? helps["import"] : helps[name] else { continue }
            for option in Documents.options(in: section) {
                #expect(Self.options(inHelp: help).contains(option), "\(option) of \(name)")
            }
        }
        // Elsewhere an option may be of any command, or of the project's scripts.
        let known = Set(helps.values.flatMap(Self.options(inHelp:)))
            .union(Self.options(mentionedIn: try Documents.scripts()))
        for page in try Documents.all() where page.path == "README.md" || page.isArticle {
            for option in Self.options(mentionedIn: page.text) {
                #expect(known.contains(option), "\(option) in \(page.path)")
            }
        }
    }

    @Test func theArticleHasTheDefaultsOfTheHelp() throws {
        let article = try Documents.article("CommandLine")
        let rows = Self.shared.compactMap { article.sections[$0] }.flatMap { $0.split(separator: "\n") }
        let help = ImporterCommand.helpMessage(for: ImportSubcommand.self, columns: 400)
        var compared = 0
        for line in help.split(separator: "\n") {
            guard let option = line.firstMatch(of: /^ +(?:-[a-z], )?(--[a-z-]+)/)?.output.1,
                let value = line.firstMatch(of: /default: ([^);]+)\)/)?.output.1
            else { continue }
            let row = try #require(rows.first { $0.hasPrefix("| `\(option)") }, "\(option)")
            #expect(row.hasSuffix("| \(value) |"), "\(option)")
            compared += 1
        }
        #expect(compared > 5)
    }

    @Test func theArticleHasEveryExitCodeAndNoOther() throws {
        let section = try #require(try Documents.article("Reports").sections["Exit codes"])
        let documented = section.matches(of: /\n\| (\d+) \|/).compactMap { Int32($0.output.1) }
        let codes = (Int32(1)...255).filter { ImportError.Code(rawValue: $0) != nil }
        #expect(documented == [0] + codes)
        let help = ImporterCommand.helpMessage(columns: 400)
        let listed = try #require(help.firstMatch(of: /Exit codes: (.*)\./)).output.1
        for code in codes where code != ImportError.Code.software.rawValue {
            #expect(listed.contains("\(code)"), "\(code)")
        }
    }

    @Test func theArticleHasEveryReasonWithItsExitCode() throws {
        let article = try Documents.article("Errors").text
        let rows = article.matches(of: /\n\| ``ImportError\/Reason\/(\w+)`` \| (\d+) \|/)
        let documented = rows.map { "\($0.output.1) \($0.output.2)" }
        #expect(documented == ImportError.Reason.allCases.map { "\($0.rawValue) \($0.code.rawValue)" })
    }

    @Test func theArticleHasEveryKeyOfJSONOutput() throws {
        let article = try Documents.article("Reports")
        let report = try Samples.report(
            #"""
            {"message": "why", "unresolved": {}, "undoes": 1, "undone_by": 2, "deleted": 1, "withheld": 0, "withheld_reason": "limit",
                "deleted_list": [], "conflicts": 0, "conflict_list": []}
            """#
        )
        let status = StatusReport(report: report, unfinished: [], jobs: [], jobCount: 1)
        let table = try #require(article.sections["The report"])
        let rows = Set(
            table.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
                row.split(separator: "|")[0].matches(of: /`([a-z_]+)`/).map { String($0.output.1) }
            }
        )
        #expect(rows == (try Self.keys(of: JSONText.line(status))))
        let others = [
            "Progress": try ProgressLine.json(Samples.frame(), state: "running"),
            "Rejects": try JSONText.line(RejectJSON(reject: Samples.reject(record: [0xFF]), showsRecord: true)),
        ]
        for (name, line) in others {
            let section = try #require(article.sections[name])
            for key in try Self.keys(of: line) { #expect(section.contains("`\(key)`"), "\(key) of \(name)") }
        }
    }

    @Test func readmeIsShort() throws {
        #expect(
            try Documents.page("README.md").text.split(separator: "\n", omittingEmptySubsequences: false).count <= 150
        )
    }

    @Test func linksBetweenDocumentsWork() throws {
        let pages = try Documents.all()
        let articles = Set(pages.filter(\.isArticle).map(\.name))
        let catalog = try Documents.article("Importer")
        for article in articles where article != "Importer" {
            #expect(catalog.text.contains("\n- <doc:\(article)>"), "\(article) is not in the catalog")
        }
        for page in pages {
            for link in page.links {
                let target = link.split(separator: "#", omittingEmptySubsequences: false)
                let file = target[0].isEmpty ? page.path : Documents.resolve(String(target[0]), from: page.path)
                let url = Documents.root.appending(path: file)
                #expect(FileManager.default.fileExists(atPath: url.path), "\(link) in \(page.path)")
                if target.count > 1, let linked = pages.first(where: { $0.path == file }) {
                    #expect(linked.anchors.contains(String(target[1])), "\(link) in \(page.path)")
                }
            }
            for match in page.text.matches(of: /<doc:([A-Za-z]+)>/) {
                #expect(
                    page.isArticle && articles.contains(String(match.output.1)),
                    "\(match.output.0) in \(page.path)"
                )
            }
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
            // So are lines of a list.
            let written = subcommand.configuration.discussion.split(separator: "\n").filter { $0.hasPrefix("  ") }
            for line in written { #expect(help.contains(line), "\(line)") }
            let repeated = help.matches(of: /--([a-z-]+) <([a-z-]+)>/).filter {
                $0.output.1 == $0.output.2 && $0.output.1 != "format"
            }
            #expect(repeated.isEmpty, "\(repeated.map(\.output.0))")
        }
    }

    /// The options that a help text describes, each at the beginning of a line.
    private static func options(inHelp text: String) -> Set<String> {
        Set(text.matches(of: /^ +(?:-[a-z], )?(--[a-z-]+)/.anchorsMatchLineEndings()).map { String($0.output.1) })
    }

    /// The options that a text mentions anywhere.
    private static func options(mentionedIn text: String) -> Set<String> {
        Set(text.matches(of: /(?:^|[^a-z-])(--[a-z][a-z-]*)/.anchorsMatchLineEndings()).map { String($0.output.1) })
    }

    private static func keys(of line: String) throws -> Set<String> {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        return Set(try #require(object as? [String: Any]).keys)
    }
}
