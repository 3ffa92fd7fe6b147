import ArgumentParser
import Importer

/// Carries on with the deletions that an import has withheld.
///
/// `importer mirror STORE --job N`
struct MirrorSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "mirror",
        abstract: "Finish the deletions that an import with --mirror has withheld.",
        discussion: """
            The sources are not needed. If another job has changed the same entities since, nothing is deleted (exit 65): \
            import the sources again.

            EXAMPLES
              importer mirror people.sqlite --job 12 --max-delete 40%
              importer mirror people.sqlite --job 12 --allow-empty
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Option(help: ArgumentHelp("The import's number in the store; importer status lists them.", valueName: "n"))
    var job: Int64

    @OptionGroup var limits: MirrorLimitArguments

    @Option(help: ArgumentHelp("SQLite's synchronous setting: full, normal or off.", valueName: "level"))
    var durability = RunOptions.Durability.normal

    @OptionGroup(title: "Output options") var output: OutputArguments

    func run() throws {
        let pipeline = ImportPipeline(
            mirroring: job,
            in: store,
            options: limits.options,
            run: RunOptions(durability: durability)
        )
        var run = ImportRun(store: store, inspection: StoreInspection(store: store), sources: [], output: output)
        run.answer = .nothingToMirror
        try run.perform(pipeline)
    }
}
