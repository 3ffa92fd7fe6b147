import ArgumentParser
import Importer

/// Takes back what a job has done.
///
/// `importer undo STORE [--job N]`
struct UndoSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Undo what a job has done to a store.",
        discussion: """
            Rows that the job inserted are deleted; those that it changed or deleted are restored, with their row ids. Patches, \
            undos and `importer import --undo` keep what is needed; --forget drops it. An import that only inserted rows can be \
            undone without it, as long as these have not changed.

            An undo is a job itself, and can be undone, too. An interrupted job can be undone; it cannot be resumed then. A \
            value that has changed since the job is a conflict, which stops the undo (exit 65) unless --conflicts says otherwise.

            EXAMPLES
              importer undo copy.sqlite
              importer undo copy.sqlite --job 2
              importer undo copy.sqlite --conflicts keep
              importer undo copy.sqlite --forget --older-than 30d
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Option(
        help: ArgumentHelp("The job. Default: the newest one that is neither undone nor an undo.", valueName: "n")
    )
    var job: Int64?

    @Option(
        help: ArgumentHelp(
            "What to do if a value has changed since the job: stop, keep or take; may be repeated.",
            discussion: """
                stop lists the conflicts and writes nothing; keep leaves the changed value; take restores the value before the \
                job. ENTITY:POLICY applies to an entity, ENTITY.NAME:POLICY to an attribute. Default: stop.
                """,
            valueName: "policy"
        ),
        transform: ConflictArguments.rule
    )
    var conflicts: [PatchOptions.Rule] = []

    @Flag(help: "Drop what is kept for undo, of --job or of all jobs.")
    var forget = false

    @Option(
        help: ArgumentHelp(
            "With --forget, only jobs that finished at least this long ago: 30d, 12h, 45m or 90s.",
            valueName: "age"
        ),
        transform: age
    )
    var olderThan: Duration?

    @Option(help: ArgumentHelp("SQLite's synchronous setting: full, normal or off.", valueName: "level"))
    var durability = RunOptions.Durability.normal

    @OptionGroup(title: "Output options") var output: OutputArguments

    private static func age(_ text: String) throws -> Duration {
        let units: [Character: Int64] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()),
            (0...1_000_000_000).contains(number)
        else { throw ValidationError("--older-than \(text): write a number and d, h, m or s, as in 30d") }
        return .seconds(number * unit)
    }

    func validate() throws {
        if olderThan != nil, !forget { throw ValidationError("--older-than is for --forget") }
        if forget, output.report != nil {
            throw ValidationError("--forget makes no report file; --json prints what it does")
        }
        if forget, !conflicts.isEmpty { throw ValidationError("--conflicts is not for --forget") }
    }

    func run() throws {
        if forget { return try forgetLogs() }
        var options = PatchOptions()
        options.conflicts = conflicts
        let pipeline = UndoPipeline(
            of: store,
            job: job,
            options: options,
            run: RunOptions(durability: durability)
        )
        let run = ChangeRun(store: store, output: output)
        try run.perform(pipeline.progress, pipeline.interruption, found: { pipeline.report }) { try pipeline.run() }
    }

    private func forgetLogs() throws {
        let forgotten = try UndoPipeline.forget(in: store, job: job, olderThan: olderThan)
        if output.json { return try StandardOutput.write(json: ForgottenJSON(forgotten: forgotten)) }
        guard !output.progress.quiet else { return }
        try StandardOutput.write(
            forgotten.isEmpty
                ? "Nothing was kept for undo.\n"
                : "Forgotten: job \(forgotten.map(String.init).joined(separator: ", ")).\n"
        )
    }
}

/// What `undo --forget --json` prints.
struct ForgottenJSON: Encodable {
    /// The jobs that cannot be undone any more.
    let forgotten: [Int64]
}
