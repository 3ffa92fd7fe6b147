import ArgumentParser
import Foundation
import ImportModel
import Importer

/// Checks and converts model files, prints their schema, and prints the model that a store holds.
///
/// `importer model check FILE`, `importer model convert FILE`, `importer model schema`, `importer model print STORE`
struct ModelSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model",
        abstract: "Check or convert a model file, print a store's model, or the schema of model files.",
        discussion: """
            EXAMPLES
              importer model check people.model.json
              importer model convert Moody.xcdatamodeld > moody.model.json
              importer model print people.sqlite > people.model.json
              importer model schema > model.schema.json
            """,
        subcommands: [Check.self, Convert.self, Print.self, Schema.self]
    )

    /// Names every mistake of a model file.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Name every mistake of a model file, each with its path.",
            discussion: """
                One line per mistake. Exits 0 when there is none, and 65 when there are. What the store does not keep by \
                itself, delete rules for example, is a warning on standard error; so is what a Core Data model says that \
                a model file cannot.

                EXAMPLES
                  importer model check people.model.json
                  importer model check Moody.xcdatamodeld
                  importer model convert Moody.xcdatamodeld | importer model check -
                """
        )

        @Argument(help: "The model file, or - for standard input.")
        var file: String

        @OptionGroup var keys: ModelFileArguments

        @Flag(help: "Print the mistakes as JSON.")
        var json = false

        func run() throws {
            let (mistakes, warnings) = try Self.mistakes(in: file, keyStyle: keys.keyStyle)
            if json {
                try StandardOutput.write(json: mistakes.map(MistakeJSON.init))
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
            in file: String,
            keyStyle: CoreDataModel.KeyStyle = .any
        ) throws -> (mistakes: [ModelError.Mistake], warnings: [ModelError.Mistake]) {
            do {
                let model = try ModelFile(at: file.orStandardInput, keyStyle: keyStyle)
                return ([], model.notices + model.model.warnings())
            } catch let error as ImportError {
                guard let mistakes = error.modelError?.mistakes else { throw error }
                return (mistakes, [])
            }
        }
    }

    /// Prints a model file as JSON.
    struct Convert: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "convert",
            abstract: "Print a Core Data model as a model file in JSON.",
            discussion: """
                FILE is an .xcdatamodeld, of which the current version is read (X.xcdatamodeld:NAME reads another), an \
                .xcdatamodel, or the contents in it. JSON is printed in its plain form. The printed model imports what FILE \
                itself imports with --model. What of FILE it cannot express is listed on standard error: a line for each \
                attribute or relationship, with its line in the file.

                Where the userInfo of a property says its key in the JSON (mappedKeyName, sync.remoteKey, JSONKeyPath, \
                importKey and others), that is its key; --key-style makes the keys of all others.

                EXAMPLES
                  importer model convert Moody.xcdatamodeld > moody.model.json
                  importer model convert 'Moody.xcdatamodeld:Moody 3'
                  importer model convert Sample.xcdatamodel/contents --key-style snake
                """
        )

        @Argument(help: "The Core Data model, or - for standard input.")
        var file: String

        @OptionGroup var keys: ModelFileArguments

        func run() throws {
            try StandardOutput.write(try keys.readModel(file.orStandardInput).encoded())
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

extension String {
    /// The path, or that of standard input for `-`.
    fileprivate var orStandardInput: String { self == "-" ? "/dev/stdin" : self }
}

/// A mistake as `model check --json` prints it.
struct MistakeJSON: Encodable {
    let path: String
    let message: String

    init(_ mistake: ModelError.Mistake) {
        path = mistake.path
        message = mistake.message
    }
}
