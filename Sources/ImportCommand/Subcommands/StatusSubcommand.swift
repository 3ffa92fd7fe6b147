import ArgumentParser
import Importer

/// Says how far a store's import is.
///
/// `importer status STORE`
struct StatusSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what has been done and what is left.",
        discussion: """
            Shows the import that `resume` would carry on with, and a line for each other one that is not finished; \
            where all are finished, the last one.

            EXAMPLES
              importer status people.sqlite
              importer status people.sqlite --json
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Flag(help: "Print the report as JSON, with the keys of import --report and all unfinished imports.")
    var json = false

    func run() throws {
        let inspection = StoreInspection(store: store)
        let report = try inspection.status()
        let unfinished = try inspection.unfinished()
        if json { return try StandardOutput.write(json: StatusRecord(report: report, unfinished: unfinished)) }
        try StandardOutput.write(
            ReportText.text(report, unfinished: unfinished, store: store, command: CommandName.text)
        )
    }
}
