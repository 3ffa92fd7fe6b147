import ArgumentParser
import Foundation
import ImportModel
import Importer

/// The options on which the result of an import depends.
struct JobArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Model file; without it a model is inferred from all records.",
            discussion: """
                JSON, or a Core Data model: an .xcdatamodeld (NAME after a colon picks another version than the current \
                one), an .xcdatamodel, or its contents. `importer infer` prints a model to start from.
                """,
            valueName: "file"
        )
    )
    var model: String?

    @OptionGroup var keys: ModelFileArguments

    @Option(
        help: ArgumentHelp(
            "What happens to a record whose object exists already.",
            discussion: """
                merge sets the attributes that the record has; replace sets every attribute; ignore keeps the object and \
                skips the record; error rejects the record.
                """,
            valueName: "policy"
        )
    )
    var onConflict = ConflictPolicy.merge

    @OptionGroup var shape: ShapeArguments
    @OptionGroup var inference: InferenceArguments

    @Option(
        help: ArgumentHelp(
            "What happens to a value that does not match its type: reject (its record), null (if it is optional) or stop.",
            valueName: "policy"
        )
    )
    var onError = ErrorPolicy.reject

    @Option(
        help: ArgumentHelp(
            "What happens to a text with U+0000 in a server's database, which cannot store it.",
            discussion: """
                error, the default, handles it as --on-error says; replace stores U+FFFD instead, and counts it. A SQLite \
                store keeps U+0000.
                """,
            valueName: "error|replace"
        )
    )
    var nul: NULPolicy?

    @Option(
        help: ArgumentHelp(
            "Rejects allowed: n stops before the next one, n% is checked at the end, none is no limit.",
            discussion: """
                Default: no limit, but stop when the first 1,000 records are all rejected. May be changed for an import \
                that is not finished.
                """,
            valueName: "n|n%|none"
        ),
        transform: Self.errorLimit
    )
    var maxErrors: ErrorLimit?

    @Flag(help: "A value that would lose something is an error: digits, a time zone, a duplicate key.")
    var lossless = false

    @Flag(
        help: ArgumentHelp(
            "Let triggers of the store use virtual tables, as those of full-text search do.",
            discussion: "Only for a store whose schema you trust."
        )
    )
    var trustTriggers = false

    /// - Parameter isQuiet: whether nothing is said of what a Core Data model says that the model has not.
    /// - Throws: `ImportError` when the model file cannot be read or is no model.
    func options(isQuiet: Bool = false) throws -> JobOptions {
        var options = shape.options
        inference.apply(to: &options)
        options.model = try model.map { try keys.readModel($0, isQuiet: isQuiet) }
        if let client = options.client { options.model = options.model?.stored(for: client) }
        options.onConflict = onConflict
        options.onError = onError
        options.nul = nul ?? .error
        options.maxErrors = maxErrors
        options.isLossless = lossless
        options.trustsTriggers = trustTriggers
        return options
    }

    func validate() throws {
        if onError == .stop, maxErrors != nil {
            throw ValidationError("--on-error stop and --max-errors exclude each other")
        }
    }

    static func errorLimit(_ text: String) throws -> ErrorLimit {
        guard let limit = ErrorLimit(text) else {
            throw ValidationError("expected a number, a percentage up to 100%, or none. Examples: 0  50  2.5%  none")
        }
        return limit
    }
}

extension ConflictPolicy: ExpressibleByArgument {}
extension NULPolicy: ExpressibleByArgument {}
extension ErrorPolicy: ExpressibleByArgument {}
