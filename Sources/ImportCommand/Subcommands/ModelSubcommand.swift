import ArgumentParser
import Foundation
import ImportModel
import Importer

/// Checks model files, prints their schema, and prints the model that a store holds.
///
/// `importer model check FILE`, `importer model schema`, `importer model print STORE`
struct ModelSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Check a model file, print a store's model, or the schema of model files.",
        discussion: """
            EXAMPLES
              importer model check people.model.json
              importer model print people.sqlite > people.model.json
              importer model schema > model.schema.json
            """,
        subcommands: [Check.self, Print.self, Schema.self]
    )

    /// Names every mistake of a model file.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Name every mistake of a model file, each with its path.",
            discussion: """
                One line per mistake. Exits 0 when there is none, and 65 when there are. What the store does not keep by \
                itself, delete rules for example, is a warning on standard error.

                EXAMPLES
                  importer model check people.model.json
                """
        )

        @Argument(help: "The model file.")
        var file: String

        @Flag(help: "Print the mistakes as JSON.")
        var json = false

        func run() throws {
            let (mistakes, warnings) = try Self.mistakes(in: file)
            if json {
                try StandardOutput.write(json: mistakes.map(MistakeRecord.init))
            } else {
                let lines = mistakes.map { TerminalText.escaped("\(file): \($0)") + "\n" }
                try StandardOutput.write(lines.isEmpty ? "no mistakes\n" : lines.joined())
            }
            for warning in warnings {
                StandardError.write("importer: " + TerminalText.escaped("\(file): warning: \(warning)") + "\n")
            }
            if !mistakes.isEmpty { throw ExitCode(ImportError.Code.badInput.rawValue) }
        }

        /// - Throws: `ImportError` when the file cannot be read.
        static func mistakes(
            in file: String
        ) throws -> (mistakes: [ModelError.Mistake], warnings: [ModelError.Mistake]) {
            let bytes = try JobArguments.modelFile(file)
            do throws(ModelError) {
                return ([], try ModelDescription(parsing: bytes).warnings())
            } catch {
                return (error.mistakes, [])
            }
        }
    }

    /// Prints the model that a store holds.
    struct Print: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "print",
            abstract: "Print the model of a store, from which an import without a model starts.",
            discussion: """
                Each attribute with its type and its key paths ("from"). Importing with the printed model reads records \
                as an import without one does, but adds no columns. What the model leaves out is printed on standard error.

                A table that no import has written is described by the declared types of its columns, where it is named \
                or the store has no others.

                EXAMPLES
                  importer model print people.sqlite > people.model.json
                  importer model print shop.sqlite orders
                """
        )

        @Argument(help: "The store.")
        var store: String

        @Argument(help: ArgumentHelp("Only these entities or tables.", valueName: "entity"))
        var entities: [String] = []

        func run() throws {
            let stored = try StoreModel(of: store, entities: entities)
            try StandardOutput.write(stored.model.encoded())
            for notice in stored.notices {
                StandardError.write("importer: " + TerminalText.escaped(notice) + "\n")
            }
        }
    }

    /// Prints the JSON Schema of model files.
    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Print the JSON Schema of model files, by which editors complete them.",
            discussion: """
                EXAMPLES
                  importer model schema > model.schema.json
                """
        )

        func run() throws {
            try StandardOutput.write(ModelSchema.text)
        }
    }
}

/// A mistake as `model check --json` prints it.
struct MistakeRecord: Encodable {
    let path: String
    let message: String

    init(_ mistake: ModelError.Mistake) {
        path = mistake.path
        message = mistake.message
    }
}
