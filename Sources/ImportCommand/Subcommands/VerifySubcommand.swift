import ArgumentParser
import ImportPostgreSQL
import Importer

/// Checks that every record is accounted for.
///
/// `importer verify STORE`
struct VerifySubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that every record is accounted for.",
        discussion: """
            Prints one line per check, over all imports of the store, and a note for each import that is not finished. The \
            exit code is 0 if all checks hold, and 65 if one does not; an unfinished import is no failure.

            Changes that other programs have made to the tables are reported, and are a failure only with --strict. The number \
            of rows is checked exactly; values are compared in 256 rows per table.

            With --sources, all sources are imported again into a temporary store, and every value of every row is compared \
            with it. They have to be as they were.

            EXAMPLES
              importer verify people.sqlite
              importer verify people.sqlite --sources
              importer verify people.sqlite --strict --quiet
            """
    )

    @Argument(help: "The store.")
    var store: String

    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments

    @Flag(help: "Import the sources again into a temporary store, and compare all rows with it.")
    var sources = false

    @Flag(help: "Exit with 65 also if other programs have deleted, added or changed rows.")
    var strict = false

    @Flag(help: "Print the checks of each import and each table on separate lines.")
    var verbose = false

    @Flag(help: "Print only the result.")
    var quiet = false

    @Flag(help: "Print the checks as JSON.")
    var json = false

    func validate() throws {
        if [verbose, quiet, json].count(where: { $0 }) > 1 {
            throw ValidationError("--verbose, --quiet and --json exclude each other")
        }
        if sources, PostgreSQLAddress.isOne(store) { throw ValidationError("--sources is for a SQLite store") }
    }

    func run() throws {
        let location = try StoreLocation(store, schema)
        let inspection = location.inspection
        var checks = try inspection.verify()
        if sources, let store = inspection as? StoreInspection {
            let watch = InterruptibleRun(mode: .quiet)
            checks += try watch.perform {
                try store.verifySources(progress: watch.progress, interruption: watch.interruption)
            }
        }
        let tables = try (inspection as? StoreInspection)?.tables() ?? []
        let unfinished = try inspection.unfinished()
        if json {
            let records =
                checks.map { CheckJSON($0) } + tables.map { CheckJSON($0, isStrict: strict) }
                + unfinished.map { CheckJSON(unfinished: $0) }
            try StandardOutput.write(json: records)
        } else {
            let text = CheckText(checks: checks, tables: tables, unfinished: unfinished)
            try StandardOutput.write(text.text(quiet ? .quiet : verbose ? .verbose : .brief))
        }
        let isTouched = strict && tables.contains { !$0.isUntouched }
        guard !isTouched, checks.allSatisfy(\.holds) else { throw ExitCode(ImportError.Code.badInput.rawValue) }
    }
}
