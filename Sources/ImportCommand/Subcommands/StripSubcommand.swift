import ArgumentParser
import ImportPostgreSQL
import Importer

/// Takes the importer's own tables out of a store.
///
/// `importer strip STORE [--to FILE]`
struct StripSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "strip",
        abstract: "Take the importer's own tables out of a store.",
        discussion: """
            What is left is what you would have made by hand: your tables, rows and indexes, in rollback-journal mode. What is no \
            longer possible: undo, verify, retry, mirror and resume, telling where a row is from, and knowing what is in already. A \
            later import into the store treats its tables as any other program's.

            Nothing is stripped while a job is unfinished or conflicts are open, nor while rejects are open (exit 64), unless \
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
            "\(TerminalText.escaped(file)): \(NumberText.counted(Int64(outcome.tables), "table")) of the importer's taken out"
            + "\(rejects)\(sizes).\n"
            + (outcome.isCompact ? "" : "It was not vacuumed, as that might give rows other row ids.\n")
    }
}
