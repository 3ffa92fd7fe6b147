import ArgumentParser
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

            EXAMPLES
              importer verify people.sqlite
              importer verify people.sqlite --strict --quiet
            """
    )

    @Argument(help: "The store.")
    var store: String

    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments

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
    }

    func run() throws {
        let location = try StoreLocation(store, schema)
        let inspection = location.inspection
        let checks = try inspection.verify()
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
