import ArgumentParser
import Importer

/// Proves that every record is accounted for.
///
/// `importer verify STORE`
struct VerifySubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Prove that every record is accounted for.",
        discussion: """
            One line per check, and a note for each import that is not finished. Exits 0 when all checks hold and 65 \
            when one does not; an unfinished import is no failure.

            EXAMPLES
              importer verify people.sqlite
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Flag(help: "Print the checks as JSON.")
    var json = false

    func run() throws {
        let inspection = StoreInspection(store: store)
        let checks = try inspection.verify()
        let unfinished = try inspection.unfinished()
        if json {
            let records = checks.map(CheckRecord.init) + unfinished.map(CheckRecord.init(unfinished:))
            try StandardOutput.write(json: records)
        } else {
            try StandardOutput.write(CheckText.text(checks, unfinished: unfinished))
        }
        if checks.contains(where: { !$0.holds }) { throw ExitCode(ImportError.Code.badInput.rawValue) }
    }
}
