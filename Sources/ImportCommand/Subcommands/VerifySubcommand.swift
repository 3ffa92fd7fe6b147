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
            One line per check. Exits 0 when all hold and 65 when one does not.

            EXAMPLES
              importer verify people.sqlite
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Flag(help: "Print the checks as JSON.")
    var json = false

    func run() throws {
        let checks = try StoreInspection(store: store).verify()
        if json {
            try StandardOutput.write(json: checks)
        } else {
            try StandardOutput.write(CheckText.text(checks))
        }
        if checks.contains(where: { !$0.holds }) { throw ExitCode(ImportError.Code.badInput.rawValue) }
    }
}
