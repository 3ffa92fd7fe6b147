import ArgumentParser
import Foundation
import ImportModel
import Importer

/// Resolves conflicts that merges have left in a store.
///
/// `importer resolve STORE FILE`
struct ResolveSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Resolve conflicts that merges have left in a store.",
        discussion: """
            FILE is written by `importer conflicts STORE --to FILE`; resolve a line by its "take": "base", "ours", "theirs", or an \
            object with values. Lines whose "take" is null stay open. --ours and --theirs need no file. This is one job, which \
            `importer undo` can undo. If a value has changed since the merge, nothing is written, and the conflict is listed.

            EXAMPLES
              importer resolve mine.sqlite conflicts.ndjson
              importer resolve mine.sqlite --theirs --entity person
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Argument(help: ArgumentHelp("The edited conflicts.", valueName: "file"))
    var file: String?

    @Flag(help: "Keep what the store has.")
    var ours = false

    @Flag(help: "Write what the other side has.")
    var theirs = false

    @Option(help: ArgumentHelp("With --ours or --theirs, only conflicts of this entity.", valueName: "name"))
    var entity: String?

    @Option(
        help: ArgumentHelp(
            "With --ours or --theirs, only conflicts about this attribute or relationship.",
            valueName: "name"
        )
    )
    var attribute: String?

    @Option(help: ArgumentHelp("Changes per commit.", valueName: "n"))
    var commitEvery = RunOptions().commitEvery

    @Option(help: ArgumentHelp("SQLite's synchronous setting: full, normal or off.", valueName: "level"))
    var durability = RunOptions.Durability.normal

    @OptionGroup(title: "Output options") var output: OutputArguments

    func validate() throws {
        try ShapeArguments.check(commitEvery, "--commit-every", in: 1...(.max))
        if [file != nil, ours, theirs].count(where: { $0 }) != 1 {
            throw ValidationError("give a FILE, --ours or --theirs")
        }
        if file != nil, entity != nil || attribute != nil {
            throw ValidationError("--entity and --attribute are for --ours and --theirs")
        }
    }

    func run() throws {
        let resolution: ConflictResolution =
            if let file {
                .file(URL(filePath: file))
            } else {
                .side(ours ? .ours : .theirs, entity: entity, attribute: attribute)
            }
        let pipeline = ResolutionPipeline(
            of: store,
            by: resolution,
            run: RunOptions(commitEvery: commitEvery, durability: durability)
        )
        let run = ChangeRun(store: store, output: output)
        do {
            try run.perform(
                pipeline.progress,
                pipeline.interruption,
                sources: file.map { [$0] } ?? [],
                found: { pipeline.report }
            ) {
                guard let outcome = try pipeline.run() else { throw NothingToResolve() }
                return outcome
            }
        } catch is NothingToResolve {
            guard !output.progress.quiet, !output.json else { return }
            try StandardOutput.write("There are no conflicts to resolve.\n")
        }
    }

    private struct NothingToResolve: Error {}
}
