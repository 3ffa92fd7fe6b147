import ArgumentParser
import ImportModel
import Importer

/// Applies a change set to a store.
///
/// `importer patch STORE FILE|-`
struct PatchSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "patch",
        abstract: "Apply a change set to a store.",
        discussion: """
            FILE is written by `importer diff OLD NEW --output FILE`; - is standard input. All of it is first compared with the \
            store. Then it is applied as a job: in commits, resumable with `importer resume`, and listed by `importer status`. \
            STORE may be any SQLite file.

            A value is written if the store has the change's old value. If it has the new value already, nothing is done, so a \
            patch may be applied twice. Any other value is a conflict. So are an object to update that is missing, an object to \
            insert that exists with other values, and what the table's constraints refuse. Conflicts stop the patch (exit 65) \
            unless --conflicts says otherwise. Constraints are checked at the end: unique values may be swapped.

            EXAMPLES
              importer diff sunday.sqlite monday.sqlite --output monday.changes.ndjson
              importer patch copy.sqlite monday.changes.ndjson --dry-run
              importer patch copy.sqlite monday.changes.ndjson
              importer patch copy.sqlite monday.changes.ndjson --conflicts keep
              importer patch copy.sqlite monday.changes.ndjson --conflicts p.city:take
              importer diff a.db b.db --format ndjson | importer patch c.db -
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Argument(help: ArgumentHelp("The change set, or - for standard input.", valueName: "file"))
    var file: String

    @OptionGroup var policies: ConflictArguments

    @Option(
        help: ArgumentHelp(
            "The attributes that identify the objects of an entity; may be repeated.",
            valueName: "entity:a,b"
        )
    )
    var identifier: [String] = []

    @Flag(help: "Only compare the change set with the store, and print what the patch would do.")
    var dryRun = false

    @Flag(help: "Apply all of it in one transaction.")
    var atomic = false

    @Flag(help: "Do not keep what the rows were before.")
    var noUndo = false

    @Flag(help: "Apply the changes of a truncated change set up to its end.")
    var partial = false

    @Flag(help: "Apply changes that have no old values, without comparing.")
    var unchecked = false

    @Flag(help: "Apply a change set again that this store has already.")
    var again = false

    @Option(help: ArgumentHelp("Changes per commit.", valueName: "n"))
    var commitEvery = RunOptions().commitEvery

    @Option(help: ArgumentHelp("SQLite's synchronous setting: full, normal or off.", valueName: "level"))
    var durability = RunOptions.Durability.normal

    @OptionGroup(title: "Output options") var output: OutputArguments

    func validate() throws {
        try ShapeArguments.check(commitEvery, "--commit-every", in: 1...(.max))
        if file.isEmpty { throw ValidationError("the file's path is empty") }
        if dryRun, output.report != nil { throw ValidationError("--dry-run makes no report file; --json prints it") }
        _ = try IdentifierArguments.parse(identifier)
    }

    func run() throws {
        var options = PatchOptions()
        options.conflicts = policies.conflicts
        options.identifiers = try IdentifierArguments.parse(identifier)
        options.isAtomic = atomic
        options.keepsUndo = !noUndo
        options.isPartial = partial
        options.isUnchecked = unchecked
        let pipeline = PatchPipeline(
            path: file,
            into: store,
            options: options,
            run: RunOptions(commitEvery: commitEvery, again: again, durability: durability)
        )
        let run = ChangeRun(store: store, output: output)
        try run.perform(pipeline.progress, pipeline.interruption, sources: [file], found: { pipeline.report }) {
            dryRun ? .init(report: try pipeline.check(), wasAlreadyFinished: false) : try pipeline.run()
        }
    }
}
