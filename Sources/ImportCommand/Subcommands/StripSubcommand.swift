import ArgumentParser
import ImportPostgreSQL
import Importer

/// Takes the importer's own tables out of a store.
///
/// `importer strip STORE [--to FILE]`
struct StripSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "strip",
        abstract: "Remove the importer's own tables from a store.",
        discussion: """
            Your tables, rows and indexes stay, in rollback-journal mode. Undo, verify, retry, mirror and resume are no longer \
            possible, and the store no longer knows where its rows are from, or which sources it has. A later import treats its \
            tables like those of any other program.

            A store with an unfinished job or open conflicts is not stripped, nor one with open rejects (exit 64), unless \
            --allow-loss drops them.

            EXAMPLES
              importer strip people.sqlite
              importer strip people.sqlite --to shipped.sqlite
              importer strip postgres://server/warehouse --schema staging
            """
    )

    @Argument(help: "The store.")
    var store: String

    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments

    @Option(help: ArgumentHelp("Make a stripped copy, and leave the store as it is.", valueName: "file"))
    var to: String?

    @Flag(help: "Drop open rejects.")
    var allowLoss = false

    @Flag(help: "Print a JSON object.")
    var json = false

    func validate() throws {
        if to?.isEmpty == true { throw ValidationError("--to: the path is empty") }
        if to != nil, PostgreSQLAddress.isOne(store) { throw ValidationError("--to needs a SQLite store") }
    }

    func run() throws {
        let outcome = try StoreLocation(store, schema).stripped(allowsLoss: allowLoss, to: to)
        if json { return try StandardOutput.write(json: outcome) }
        try StandardOutput.write(Self.text(outcome, to ?? store))
    }

    /// What was done, in a line or two.
    static func text(_ outcome: StripTool.Outcome, _ file: String) -> String {
        var sizes = ""
        if let before = outcome.bytesBefore, let after = outcome.bytesAfter {
            sizes = "; \(NumberText.grouped(before)) to \(NumberText.grouped(after)) bytes"
        }
        let rejects = outcome.rejects > 0 ? ", with \(NumberText.counted(outcome.rejects, "reject"))" : ""
        return
            "\(TerminalText.escaped(file)): \(NumberText.counted(Int64(outcome.tables), "table")) of the importer removed"
            + "\(rejects)\(sizes).\n"
            + (outcome.isCompact ? "" : "It was not vacuumed, because that could change row ids.\n")
    }
}
