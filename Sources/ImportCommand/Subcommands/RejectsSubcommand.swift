import ArgumentParser
import ImportModel
import Importer

/// Lists or exports what was not accepted.
///
/// `importer rejects STORE`
struct RejectsSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejects",
        abstract: "List rejected records with their errors, or export them to be repaired.",
        discussion: """
            Values are printed only with --show-values.

            --to writes a line of JSON for each open reject: its number, its position, its errors, and under "record" \
            the original record (as a string if it is not JSON). Edit the records, remove lines that you do not need, and \
            import them with `importer retry`. --all also lists rejects that are repaired or of jobs that are undone.

            EXAMPLES
              importer rejects people.sqlite
              importer rejects people.sqlite --show-values | less
              importer rejects people.sqlite --json --show-values > rejects.ndjson
              importer rejects people.sqlite --to fix.ndjson
              importer rejects people.sqlite --raw > records.txt
            """
    )

    @Argument(help: "The store.")
    var store: String

    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments

    @OptionGroup var rejects: RejectArguments

    @Flag(help: "Also rejects that are repaired or undone, and records that a retry has rejected.")
    var all = false

    @Flag(help: "Print one JSON object per line.")
    var json = false

    @Flag(help: "Show the records too: their beginning, or all of their bytes with --json.")
    var showValues = false

    @Option(
        help: ArgumentHelp("Write them to this file to be edited and retried; - is standard output.", valueName: "file")
    )
    var to: String?

    @Flag(help: "Write the records' original bytes alone, one per line; without --to to standard output.")
    var raw = false

    @Flag(help: "Let --to overwrite a file.")
    var force = false

    func validate() throws {
        if to?.isEmpty == true { throw ValidationError("--to: the path is empty") }
        if force && to == nil { throw ValidationError("--force is for --to") }
        if all && to != nil && !raw {
            throw ValidationError("--to writes what can be retried: open rejects, not --all")
        }
        guard to != nil || raw else { return }
        if json { throw ValidationError("\(to == nil ? "--raw" : "--to") and --json exclude each other") }
        if showValues { throw ValidationError("\(to == nil ? "--raw" : "--to") writes the records as it is") }
    }

    func run() throws {
        var selection = rejects.selection
        selection.includesSettled = all
        let location = try StoreLocation(store, schema, showsValues: showValues)
        if to != nil || raw { return try export(selection, of: location) }
        var pending = ""
        var isEmpty = true
        do {
            try location.inspection.forEachReject(selection) { reject in
                isEmpty = false
                pending +=
                    json
                    ? try JSONText.line(RejectJSON(reject: reject, showsRecord: showValues))
                    : RejectText.text(reject, showsRecord: showValues)
                guard pending.utf8.count >= 1 << 16 else { return }
                try StandardOutput.write(pending)
                pending = ""
            }
        } catch let error as ImportError {
            // Some cannot be read: the others are listed.
            try StandardOutput.write(pending)
            throw error
        }
        try StandardOutput.write(pending)
        if isEmpty {
            try location.check(rejects)
            StandardError.write(
                "importer: there are no \(all ? "" : "open ")rejects\(TerminalText.escaped(rejects.words))\n"
            )
        }
    }

    private func export(_ selection: RejectSelection, of location: StoreLocation) throws {
        let inspection = location.inspection
        let format: RejectExport.Format = raw ? .raw : .repairLines
        let export: RejectExport
        if let to, to != "-" {
            if case .file = location { try checkThatStoreIsNot(to) }
            try SignalForwarding.endAtOnce()
            export = try inspection.exportRejects(selection, as: format, toFile: to, overwrites: force)
        } else {
            export = try inspection.exportRejects(selection, as: format) { try StandardOutput.write(bytes: $0) }
        }
        if export.rejects == 0 { try location.check(rejects) }
        var message = NumberText.counted(export.rejects, "\(all ? "" : "open ")reject")
        if let to, to != "-" { message += " in \(to)" }
        if export.partial > 0 {
            message += "; only the first bytes are kept of \(NumberText.grouped(export.partial)) (\"is_partial\")"
        }
        StandardError.write(message: message, mode: .lines)
        if let to, to != "-", !raw, export.rejects > 0 {
            let option = schema.schema.map { " --schema \($0.shellQuoted)" } ?? ""
            StandardError.write(
                "  Edit the records, then:  \(CommandName.text) retry \(store.shellQuoted) "
                    + "\(to.shellQuoted)\(option)\n"
            )
        }
    }

    /// With --force too, an export is not to be written over the store.
    private func checkThatStoreIsNot(_ path: String) throws {
        guard let own = FileIdentity(path) else { return }
        for suffix in ["", "-wal", "-shm", "-journal", ".lock"] where FileIdentity(store + suffix) == own {
            throw ImportError(
                .sameFile,
                "--to is the same file as the store \(store + suffix)",
                advice: "Give the rejects a file of their own."
            )
        }
    }
}
