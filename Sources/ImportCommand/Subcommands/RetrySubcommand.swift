import ArgumentParser
import ImportModel
import ImportPostgreSQL
import Importer

/// Imports repaired rejects.
///
/// `importer retry STORE [FILE]`
struct RetrySubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Import repaired rejects.",
        discussion: """
            FILE is written by `importer rejects STORE --to FILE` and edited by you: one line per reject, with the repaired \
            record under "record". The records are imported as a new job, with the model and the options of the job that \
            rejected them, and their rejects are closed. Rejects whose lines you removed stay open, and so do records that \
            are rejected again. Lines of closed rejects are ignored.

            Without FILE, --model imports the stored open rejects as they are, with another model.

            An interrupted retry is resumed by the same command, or by `importer resume`.

            EXAMPLES
              importer rejects people.sqlite --to fix.ndjson
              importer retry people.sqlite fix.ndjson
              importer retry people.sqlite --model better.json
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Argument(help: ArgumentHelp("The edited lines.", valueName: "file"))
    var file: String?

    @Option(
        help: ArgumentHelp(
            "Model file to import with.",
            discussion: "Default: the model of the job that rejected the records.",
            valueName: "file"
        )
    )
    var model: String?

    @OptionGroup var keys: ModelFileArguments
    @OptionGroup var rejects: RejectArguments

    @OptionGroup(title: "Run options") var runArguments: RunArguments
    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments
    @OptionGroup(title: "Output options") var output: OutputArguments

    func validate() throws {
        guard file != nil || model != nil else {
            throw ValidationError("give the edited FILE of `importer rejects STORE --to FILE`, or --model")
        }
        if file == "-" { throw ValidationError("a retry reads its file twice: save the lines to a file") }
        if file?.isEmpty == true { throw ValidationError("the file's path is empty") }
        if file != nil, let option = rejects.given.first {
            throw ValidationError("\(option) is for stored rejects; FILE names those to retry")
        }
    }

    func run() throws {
        let location = try StoreLocation(store, schema)
        let given = try model.map { try keys.readModel($0, isQuiet: output.progress.quiet) }
        let (selection, options) = (rejects.selection, runArguments.options)
        let pipeline =
            switch location {
            case .file(let path):
                ImportPipeline(retrying: file, in: path, model: given, selection: selection, run: options)
            case .server(let server):
                ImportPipeline(retrying: file, in: server, model: given, selection: selection, run: options)
            }
        var others: [(role: String, path: String)] = []
        if let model { others.append((role: "the model", path: model)) }
        if let chunks = runArguments.chunks { others.append((role: "the chunk directory", path: chunks)) }
        var run = ImportRun(
            store: store,
            inspection: location.inspection,
            sources: file.map { [$0] } ?? [],
            others: others,
            output: output
        )
        run.hasModel = model != nil
        run.answer = file == nil ? .nothingToRetry : .retried
        try run.perform(pipeline)
    }
}
