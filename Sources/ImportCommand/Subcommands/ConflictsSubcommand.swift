import ArgumentParser
import ImportModel
import Importer

/// Lists the conflicts that merges have left in a store.
///
/// `importer conflicts STORE`
struct ConflictsSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List the open conflicts that merges have left in a store.",
        discussion: """
            `importer merge … --into STORE --conflicts mark` keeps conflicts in STORE. --to writes them to a file, one per line. \
            Resolve a line with a "take" (base, ours, theirs, or an object with values), and apply them with \
            `importer resolve STORE FILE`.

            EXAMPLES
              importer conflicts mine.sqlite
              importer conflicts mine.sqlite --to conflicts.ndjson
            """
    )

    @Argument(help: "The store.")
    var store: String

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Print how many there are.")
    var count = false

    @Option(help: ArgumentHelp("Write the lines to this file.", valueName: "file"))
    var to: String?

    @Flag(help: "Let --to overwrite a file.")
    var force = false

    func validate() throws {
        if to?.isEmpty == true { throw ValidationError("--to: the path is empty") }
        if force && to == nil { throw ValidationError("--force is for --to") }
        if [json, count, to != nil].count(where: { $0 }) > 1 {
            throw ValidationError("--json, --count and --to exclude each other")
        }
    }

    func run() throws {
        if to != nil { try SignalForwarding.endAtOnce() }
        let conflicts = try StoreConflicts(of: store)
        if count { return try StandardOutput.write("\(try conflicts.count())\n") }
        let target = try DifferenceOutput(to, overwrites: force)
        var found: Int64 = 0
        while let conflict = try conflicts.next() {
            found += 1
            if json || to != nil {
                try target.write(conflicts.line(conflict) + [UInt8(ascii: "\n")])
            } else {
                try target.write(MergeText.line(conflict, usesColors: target.isTerminal) + "\n")
            }
        }
        try target.finish()
        guard !json else { return }
        if let to {
            try StandardOutput.write("\(NumberText.counted(found, "conflict")) in \(TerminalText.escaped(to))\n")
        } else {
            try StandardOutput.write("\(NumberText.counted(found, "open conflict"))\n")
        }
    }
}
