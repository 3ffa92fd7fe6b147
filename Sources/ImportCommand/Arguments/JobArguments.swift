import ArgumentParser
import Foundation
import ImportModel
import Importer

/// The options on which the result of an import depends.
struct JobArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Model file; without it a model is inferred from all records.",
            discussion: "`importer infer` prints a model to start from.",
            valueName: "file"
        )
    )
    var model: String?

    @Option(
        help: ArgumentHelp(
            "What happens to a record whose object exists already.",
            discussion: """
                merge sets the attributes that the record has; replace sets every attribute; ignore keeps the object and \
                leaves the record out; error rejects the record.
                """,
            valueName: "policy"
        )
    )
    var onConflict = ConflictPolicy.merge

    @OptionGroup var shape: ShapeArguments
    @OptionGroup var inference: InferenceArguments

    @Option(
        help: ArgumentHelp(
            "What a value that does not fit does: reject (its record), null (where the attribute is optional) or stop."
        )
    )
    var onError = ErrorPolicy.reject

    @Option(
        help: ArgumentHelp(
            "Rejects allowed: n stops before the next one, n% is judged at the end, none is no limit.",
            discussion: """
                Default: no limit, but stop when the first 1,000 records are all rejected. May be changed for an import \
                that is not finished.
                """,
            valueName: "n|n%|none"
        ),
        transform: Self.errorLimit
    )
    var maxErrors: ErrorLimit?

    @Flag(help: "A value that would lose something does not fit: digits, a time zone, a key given twice.")
    var lossless = false

    /// - Throws: `ImportError` when the model file cannot be read or is no model.
    func options() throws -> JobOptions {
        var options = shape.options
        inference.apply(to: &options)
        options.model = try model.map(Self.readModel)
        options.onConflict = onConflict
        options.onError = onError
        options.maxErrors = maxErrors
        options.isLossless = lossless
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

    /// - Throws: `ImportError` when the file cannot be read or is no model.
    static func readModel(_ path: String) throws -> ModelDescription {
        let bytes = try modelFile(path)
        do {
            return try ModelDescription(parsing: bytes)
        } catch {
            // One line per mistake.
            throw ImportError(
                .modelInvalid,
                at: path,
                "is not a valid model file",
                advice: "\(error)",
                modelError: error
            )
        }
    }

    /// A larger model than this is not a model, in bytes.
    private static let mostModelBytes = 64 << 20

    /// The bytes of a file or a pipe.
    ///
    /// - Throws: `ImportError` when it cannot be read, or is too large.
    static func modelFile(_ path: String) throws -> [UInt8] {
        let bytes: Data
        do {
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? file.close() }
            bytes = try file.read(upToCount: mostModelBytes + 1) ?? Data()
        } catch {
            guard FileManager.default.fileExists(atPath: path) else {
                throw ImportError(.fileNotFound, at: path, "the model file does not exist")
            }
            throw ImportError(.fileUnreadable, at: path, "the model file cannot be read")
        }
        guard bytes.count <= mostModelBytes else {
            throw ImportError(.modelInvalid, at: path, "is not a model file: it is larger than 64 MiB")
        }
        return [UInt8](bytes)
    }
}

extension ConflictPolicy: ExpressibleByArgument {}
extension ErrorPolicy: ExpressibleByArgument {}
