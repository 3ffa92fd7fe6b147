import ArgumentParser
import ImportModel
import ImportPostgreSQL
import Importer

/// Resumes.
///
/// `importer resume STORE`
struct ResumeSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume an interrupted import.",
        discussion: """
            Sources and job options are those kept in the store. To resume an import of standard input, pipe the same \
            stream in again.

            EXAMPLES
              importer resume people.sqlite
              importer resume people.sqlite --max-errors none
              gzip -dc events.json.gz | importer resume events.sqlite
            """
    )

    @Argument(help: "The store of the interrupted import.")
    var store: String

    @Option(
        help: ArgumentHelp(
            "Rejects allowed from now on: n stops before the next one, n% is checked at the end, none is no limit.",
            discussion: "Default: the import's own limit. It is kept for later resumes.",
            valueName: "n|n%|none"
        ),
        transform: JobArguments.errorLimit
    )
    var maxErrors: ErrorLimit?

    @OptionGroup(title: "Run options") var runArguments: RunArguments
    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments
    @OptionGroup(title: "Server options") var messages: PostgreSQLMessageArguments
    @OptionGroup(title: "Output options") var output: OutputArguments

    func run() throws {
        let given = [("--show-values", messages.showValues)]
        let location = try StoreLocation(store, schema, given, showsValues: messages.showValues)
        let pipeline =
            switch location {
            case .file(let path): ImportPipeline(resuming: path, run: runArguments.options, maxErrors: maxErrors)
            case .server(let server): ImportPipeline(resuming: server, run: runArguments.options, maxErrors: maxErrors)
            }
        let job = try? resumedJob(location.inspection)
        let others = runArguments.chunks.map { [(role: "the chunk directory", path: $0)] } ?? []
        var run = ImportRun(
            store: store,
            inspection: location.inspection,
            sources: job?.sources ?? [],
            others: others,
            output: output
        )
        run.answer = .nothingToResume
        try run.perform(pipeline)
    }

    /// The job that is going to be resumed; says so where there are several.
    private func resumedJob(_ inspection: any JobInspection) throws -> ImportReport {
        let job = try inspection.status()
        let count = try inspection.unfinished().count
        if count > 1 {
            StandardError.write(
                message:
                    "resuming the import of \(ReportText.sources(job)), the newest of \(count.grouped) unfinished imports",
                mode: output.progress.mode
            )
        }
        return job
    }
}
