import ArgumentParser
import ImportPostgreSQL
import Importer

/// Prints a model.
///
/// `importer infer SOURCE...`
struct InferSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer",
        abstract: "Print a model for this data.",
        discussion: """
            The model is inferred from all records and loses nothing: importing with it gives the same store as \
            importing without. It goes to standard output, notices to standard error.

            With --into it is the model for the tables of a store, and the notices say what each column is declared as.

            EXAMPLES
              importer infer people.json > people.model.json
              importer import people.json --into people.sqlite --model people.model.json
              importer infer tracks.json --into app.sqlite --entity Track
            """
    )

    @OptionGroup var sources: SourceArguments

    @Option(
        help: ArgumentHelp(
            "The SQLite store whose tables the model is for.",
            discussion: "Default: new tables.",
            valueName: "store"
        )
    )
    var into: String?

    @OptionGroup(title: "Job options") var shape: ShapeArguments
    @OptionGroup(title: "Job options") var inference: InferenceArguments

    @Option(
        help: ArgumentHelp("Workers.", discussion: "Default: processors, at most 4.", valueName: "n")
    )
    var workers: Int?

    @OptionGroup(title: "Output options") var progress: ProgressArguments

    @Flag(help: "Print one JSON object with the model and the notices.")
    var json = false

    func validate() throws {
        try ShapeArguments.check(workers ?? 1, "--workers", in: 1...256)
        if let into, PostgreSQLAddress.isOne(into) { throw ValidationError("--into of infer needs a SQLite store") }
    }

    func run() throws {
        var job = shape.options
        inference.apply(to: &job)
        let sources = try sources.all()
        let watch = InterruptibleRun(mode: progress.mode, purpose: .inferring)
        let model = try watch.perform {
            try ImportPipeline.infer(
                sources: sources,
                into: into,
                job: job,
                run: RunOptions(workers: RunArguments.workers(workers)),
                progress: watch.progress,
                interruption: watch.interruption
            )
        }
        // The order of a model's attributes is the order of the columns: the text is not parsed and written again.
        let json = TerminalText.escapedInJSON(model.text)
        let text = json.hasSuffix("\n") ? json : json + "\n"
        let notices = model.notices.map(CommandLineTerms().text)
        if self.json {
            return try StandardOutput.write("{\"notices\":\(JSONText.line(notices)),\"model\":\(text)}\n")
        }
        try StandardOutput.write(text)
        for notice in notices {
            StandardError.write(message: notice, mode: progress.mode)
        }
    }
}
