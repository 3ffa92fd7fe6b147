import ArgumentParser
import Foundation
import ImportModel
import Importer

/// Merges two states of a store that have grown out of the same one.
///
/// `importer merge BASE OURS THEIRS`
struct MergeSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract: "Merge two copies of a store that have been changed apart.",
        discussion: """
            BASE is the store that both copies have grown out of. OURS and THEIRS are the copies, or change sets that lead from BASE to \
            them. What only one side has changed is as that side has it, attribute by attribute; what both have changed, and not to the \
            same value, is a conflict. No store is written to: what is printed is the change set that leads from OURS to the merged \
            state, with a line for each conflict.

            Conflicts that are open end it with exit code 65, and the change set is written all the same. Those who give each of its \
            conflicts a "take" decide what counts.

            EXAMPLES
              importer merge base.sqlite mine.sqlite server.sqlite
              importer merge base.sqlite mine.sqlite server.sqlite --output merged.changes.ndjson
              importer merge base.sqlite mine.changes.ndjson server.sqlite --conflicts theirs
              importer merge base.db a.db b.db --identifier log:host,number --json
            """
    )

    @Argument(help: "The store that both sides have grown out of.")
    var base: String

    @Argument(help: "The one side: a store, or a change set from BASE.")
    var ours: String

    @Argument(help: "The other side: a store, or a change set from BASE.")
    var theirs: String

    @Option(help: ArgumentHelp("What becomes of conflicts: stop, ours, theirs or mark.", valueName: "policy"))
    var conflicts = MergeOptions.ConflictPolicy.stop

    @Option(help: "What both sides may change without a conflict: attributes of an object, or only different objects.")
    var granularity = MergeOptions.Granularity.attribute

    @Option(
        help: ArgumentHelp("The attributes by which objects of an entity are the same.", valueName: "entity:a,b")
    )
    var identifier: [String] = []

    @Flag(help: "Print how much changes, and how many conflicts there are, as JSON.")
    var json = false

    @Option(help: ArgumentHelp("Write the change set to this file.", valueName: "file"))
    var output: String?

    @Flag(help: "Let --output overwrite a file.")
    var force = false

    func validate() throws {
        if output?.isEmpty == true { throw ValidationError("--output: the path is empty") }
        if force && output == nil { throw ValidationError("--force is for --output") }
        _ = try options
    }

    func run() throws {
        let merge = try ThreeWayMerge(base: base, ours: ours, theirs: theirs, options: options)
        let text = MergeText(usesColors: try DifferenceOutput(nil, overwrites: false).isTerminal)
        if output == nil, json {
            while try merge.next() != nil {}
        } else {
            let target = try DifferenceOutput(output, overwrites: force)
            try merge.write(to: ChangeSetWriter { try target.write($0) }) { text.append($0) }
            try target.finish()
        }
        let summary = merge.summary
        if json {
            try StandardOutput.write(JSONText.document(summary))
        } else if output != nil {
            try StandardOutput.write(text.text(summary))
        }
        guard conflicts == .stop, summary.conflicts > 0 else { return }
        throw ImportError.openConflicts(summary.conflicts, isWritten: output != nil || !json)
    }

    private var options: MergeOptions {
        get throws {
            var options = MergeOptions()
            options.conflicts = conflicts
            options.granularity = granularity
            options.identifiers = try IdentifierArguments.parse(identifier)
            return options
        }
    }
}

extension MergeOptions.ConflictPolicy: ExpressibleByArgument {}
extension MergeOptions.Granularity: ExpressibleByArgument {}
