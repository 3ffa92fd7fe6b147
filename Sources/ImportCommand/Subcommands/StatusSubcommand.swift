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
            EXAMPLES
              importer status people.sqlite
              importer status people.sqlite --json
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Flag(help: "Print the report as JSON, with the keys of import --report.")
    var json = false

    func run() throws {
        let report = try StoreInspection(store: store).status()
        if json { return try StandardOutput.write(json: report) }
        try StandardOutput.write(ReportText.text(report, store: store, command: CommandName.text))
    }
}
