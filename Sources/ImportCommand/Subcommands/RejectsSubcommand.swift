import ArgumentParser
import Importer

/// Lists what was not taken.
///
/// `importer rejects STORE`
struct RejectsSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejects",
        abstract: "List the records that were not taken, and why.",
        discussion: """
            Values are not printed unless asked for.

            EXAMPLES
              importer rejects people.sqlite
              importer rejects people.sqlite --show-values | less
              importer rejects people.sqlite --json --show-values > rejects.ndjson
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Show the records too: their beginning, or all of their bytes with --json.")
    var showValues = false

    func run() throws {
        var pending = ""
        var isEmpty = true
        try StoreInspection(store: store).forEachReject { reject in
            isEmpty = false
            pending +=
                json
                ? try JSONText.line(RejectRecord(reject, showsRecord: showValues))
                : RejectText.text(reject, showsRecord: showValues)
            guard pending.utf8.count >= 1 << 16 else { return }
            try StandardOutput.write(pending)
            pending = ""
        }
        try StandardOutput.write(pending)
        if isEmpty { StandardError.write("importer: there are no rejects\n") }
    }
}
