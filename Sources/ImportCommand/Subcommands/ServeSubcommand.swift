import ArgumentParser
import Foundation
import ImportServer
import Importer

/// Shows a store in browsers.
///
/// `importer serve STORE`
struct ServeSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Show a store in a browser, while an import fills it and afterwards.",
        discussion: """
            Prints the address of a page that shows how far the import is, how fast it goes, rejected records, and the \
            records themselves. It only reads, may be started before the import, and ends with Ctrl-C.

            EXAMPLES
              importer serve people.sqlite
              importer serve people.sqlite --open
              importer serve people.sqlite --port 9000 --hide-values
            """
    )

    @Argument(help: "The store; it need not exist yet.")
    var store: String

    @OptionGroup(title: "Page options") var page: ServeArguments

    func validate() throws {
        if store.isEmpty { throw ValidationError("the store's path is empty") }
    }

    func run() throws {
        try WatchSubcommand.checkFolder(of: store)
        // Another file will never be shown.
        try StoreWatch(store: store).connect()
        let interruption = Interruption()
        try SignalForwarding.start(to: interruption)
        let server = ServeRun(page, store: store)
        if !FileManager.default.fileExists(atPath: store) {
            StandardError.write(TerminalText.escaped("importer: waiting for an import into \(store)") + "\n")
        }
        try server.start()
        server.wait(for: interruption)
        if let reason = interruption.reason { throw ExitCode(reason.exitCode) }
    }
}
