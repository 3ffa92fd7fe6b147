import ArgumentParser
import Importer

/// Brings a store to another model.
///
/// `importer migrate STORE --model FILE`
struct MigrateSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring a store to another model: tables, columns, rows and references.",
        discussion: """
            Prints the plan, one line per change, and then makes all changes or none. A renamingIdentifier in the model is the \
            former name; everything else is matched by name.

            A change that would lose values is refused (exit 65; nothing is changed), with the number of affected rows and the \
            first three of them. --allow-loss drops what the model no longer has.

            A new required attribute gets its default in existing rows, or, if it is "generated", a UUID made from the row's \
            identifier: the same each time.

            EXAMPLES
              importer model print people.sqlite > people.model.json   # then edit it
              importer migrate people.sqlite --model people.model.json --dry-run
              importer migrate people.sqlite --model people.model.json
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Option(help: ArgumentHelp("The new model.", valueName: "file"))
    var model: String

    @OptionGroup var modelFile: ModelFileArguments

    @Flag(
        help: "Drop values without an attribute in the model, digits of a second, links beyond the first, and orders."
    )
    var allowLoss = false

    @Flag(help: "Print the plan. Change nothing.")
    var dryRun = false

    @OptionGroup(title: "Output options") var progress: ProgressArguments

    @Flag(help: "Print the plan as JSON.")
    var json = false

    func run() throws {
        let migration = ModelMigration(
            of: store,
            to: try modelFile.readModel(model),
            allowsLoss: allowLoss
        )
        // What is being done is said in words; there are no records to count.
        let watch = InterruptibleRun(mode: progress.quiet ? .quiet : .none)
        if dryRun {
            let plan = try watch.perform { try migration.plan(interruption: watch.interruption) }
            try print(plan)
            return try plan.check(store)
        }
        let done = try watch.perform {
            try migration.run(progress: watch.progress, interruption: watch.interruption, accept: print)
        }
        guard !json, !progress.quiet, !done.isEmpty else { return }
        try StandardOutput.write("The store has this model now.\n")
    }

    private func print(_ plan: ModelMigration.Plan) throws {
        if json { return try StandardOutput.write(json: plan) }
        guard !progress.quiet || dryRun else { return }
        try StandardOutput.write(MigrationText.text(plan, store: store))
    }
}
