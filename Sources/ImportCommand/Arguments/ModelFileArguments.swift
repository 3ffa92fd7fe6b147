import ArgumentParser
import ImportModel
import Importer

/// How model files are read.
struct ModelFileArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How the JSON spells the properties of a Core Data model.",
            discussion: """
                Used where the model's userInfo does not name the key. exact: as in the model; snake: in snake_case; any: whichever of \
                exact, snake_case and camelCase a record has; sync: as any, or by the rules of the library Sync (NAME_id, NAME_ids, \
                id for remoteID).
                """,
            valueName: "style"
        )
    )
    var keyStyle = CoreDataModel.KeyStyle.any

    /// Reads a model file; prints what a Core Data model says that the model has not, a line each, unless it is to be quiet.
    ///
    /// - Throws: `ImportError` when the file cannot be read or is no model.
    func readModel(_ path: String, isQuiet: Bool = false) throws -> ModelDescription {
        let file = try ModelFile(at: path, keyStyle: keyStyle)
        for notice in file.notices where !isQuiet {
            StandardError.write("importer: " + TerminalText.escaped("\(path): \(notice)") + "\n")
        }
        return file.model
    }
}

extension CoreDataModel.KeyStyle: ExpressibleByArgument {}
