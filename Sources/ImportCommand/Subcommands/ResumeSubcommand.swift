import ArgumentParser
import Importer

/// Carries on.
///
/// `importer resume STORE`
struct ResumeSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Carry on with an interrupted import.",
        discussion: """
            Sources and job options are those that the store has kept. An import of standard input goes on when the \
            same stream is piped in again.

            EXAMPLES
              importer resume people.sqlite
              gzip -dc events.json.gz | importer resume events.sqlite
            """
    )

    @Argument(help: "The store of the interrupted import.")
    var store: String

    @OptionGroup(title: "Run options") var runArguments: RunArguments
    @OptionGroup(title: "Output options") var output: OutputArguments

    func run() throws {
        let pipeline = ImportPipeline(resuming: store, run: runArguments.options)
        let inspection = StoreInspection(store: store)
        let job = try? inspection.status()
        let unfinished = (try? inspection.unfinished()) ?? []
        if let job, unfinished.count > 1 {
            StandardError.write(
                message:
                    "carrying on with \(ReportText.sources(job)), the newest of \(unfinished.count) unfinished imports",
                mode: output.progress.progress
            )
        }
        let others = runArguments.chunks.map { [(role: "the chunk directory", path: $0)] } ?? []
        var run = ImportRun(store: store, sources: job?.sources ?? [], others: others, output: output)
        run.answer = .nothingToResume
        try run.perform(pipeline)
    }
}
