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
            abstract: "List the mistakes in a model file, each with its path.",
            discussion: """
                Prints one line per mistake; the exit code is 65 if there are any. What the store does not enforce by itself, \
                such as some delete rules, is a warning on standard error, and so is what a model file cannot express of a \
                Core Data model.

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
                FILE is an .xcdatamodeld (its current version; X.xcdatamodeld:NAME reads another), an .xcdatamodel, or the \
                contents in it. JSON is printed in its plain form. The printed model imports like FILE itself. Parts of FILE \
                that it cannot express are listed on standard error: one line per attribute or relationship, with its line in \
                the file.

                If a property's userInfo names its JSON key (mappedKeyName, sync.remoteKey, JSONKeyPath, importKey and \
                others), that is its key; --key-style decides all others.

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
            abstract: "Print the model of a store, as an import without a model file uses it.",
            discussion: """
                The model has each attribute with its type and its key paths ("from"). Importing with it reads records as an \
                import without a model does, but adds no columns. What it leaves out is listed on standard error.

                A table that no import has written is described by the declared types of its columns; name it if the store \
                has other tables.

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
            abstract: "Print the JSON Schema of model files, for completion in editors.",
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
