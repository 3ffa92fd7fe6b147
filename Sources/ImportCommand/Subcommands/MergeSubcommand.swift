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
            BASE is the store that both copies were made from. OURS and THEIRS are the copies, or change sets from BASE to them. \
            Changes are merged attribute by attribute; an attribute that both sides have set to different values is a conflict. \
            The output is the change set from OURS to the merged state, with a line for each conflict. --into OURS applies it, as \
            a job that `importer undo` can undo; otherwise no store is changed.

            If there are conflicts, nothing is applied, and the exit code is 65. --conflicts ours or theirs resolves all of them; \
            mark applies everything else and keeps them in the store, for `importer conflicts` and `importer resolve`. The change \
            set can be edited, too: `importer patch` applies it when each of its conflicts has a "take".

            Unique indexes and foreign keys are checked in the merged state; where OURS is a change set, when the result is applied.

            EXAMPLES
              importer merge base.db mine.db server.db
              importer merge base.db mine.db server.db --output merged.changes.ndjson
              importer merge base.db mine.db server.db --into mine.db --conflicts mark
              importer merge base.db mine.changes.ndjson server.db --conflicts theirs
              importer merge base.db a.db b.db --identifier log:host,number --json
            """
    )

    @Argument(help: "The store that both sides were made from.")
    var base: String

    @Argument(help: "One side: a store, or a change set from BASE.")
    var ours: String

    @Argument(help: "The other side: a store, or a change set from BASE.")
    var theirs: String

    @Option(help: ArgumentHelp("Apply the result to this store: OURS, or what OURS leads to.", valueName: "store"))
    var into: String?

    @Option(help: ArgumentHelp("What to do with conflicts: stop, ours, theirs or mark.", valueName: "policy"))
    var conflicts = MergeOptions.ConflictPolicy.stop

    @Option(help: ArgumentHelp("Merge only this entity, with what it owns; may be repeated.", valueName: "name"))
    var entity: [String] = []

    @Option(
        help: ArgumentHelp(
            "What both sides may change without a conflict: attributes of an object, or only different objects.",
            valueName: "level"
        )
    )
    var granularity = MergeOptions.Granularity.attribute

    @Option(
        help: ArgumentHelp(
            "The attributes that identify the objects of an entity; may be repeated.",
            valueName: "entity:a,b"
        )
    )
    var identifier: [String] = []

    @Flag(help: "Print the numbers of changes and conflicts as JSON.")
    var json = false

    @Option(help: ArgumentHelp("Write the change set to this file.", valueName: "file"))
    var output: String?

    @Flag(help: "Let --output overwrite a file.")
    var force = false

    @Option(help: ArgumentHelp("With --into, changes per commit.", valueName: "n"))
    var commitEvery = RunOptions().commitEvery

    @Option(help: ArgumentHelp("With --into, SQLite's synchronous setting: full, normal or off.", valueName: "level"))
    var durability = RunOptions.Durability.normal

    @OptionGroup(title: "Output options") var progress: ProgressArguments

    func validate() throws {
        if output?.isEmpty == true { throw ValidationError("--output: the path is empty") }
        if force && output == nil { throw ValidationError("--force is for --output") }
        if into != nil, output != nil { throw ValidationError("--into and --output exclude each other") }
        if into?.isEmpty == true { throw ValidationError("--into: the path is empty") }
        try ShapeArguments.check(commitEvery, "--commit-every", in: 1...(.max))
        _ = try options
    }

    func run() throws {
        if let into { try apply(to: into) } else { try print() }
    }

    private func print() throws {
        if output != nil { try SignalForwarding.endAtOnce() }
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

    private func apply(to store: String) throws {
        let merge = MergePipeline(
            base: base,
            ours: ours,
            theirs: theirs,
            into: store,
            options: try options,
            run: RunOptions(commitEvery: commitEvery, durability: durability)
        )
        let watch = InterruptibleRun(progress: merge.progress, interruption: merge.interruption, mode: progress.mode)
        do {
            _ = try watch.perform { try merge.run() }
        } catch {
            // What is open is told, and then why nothing was written.
            if let summary = merge.summary { try tell(summary, merge) }
            throw error
        }
        if let summary = merge.summary { try tell(summary, merge) }
    }

    private func tell(_ summary: MergeSummary, _ merge: MergePipeline) throws {
        if json { return try StandardOutput.write(JSONText.document(summary)) }
        guard !progress.quiet else { return }
        let text = MergeText(usesColors: try DifferenceOutput(nil, overwrites: false).isTerminal)
        for conflict in merge.conflicts { text.append(conflict) }
        var said = text.text(summary)
        if let report = merge.report, let conflicts = report.conflicts, conflicts > 0 {
            said += ConflictText.text(report)
        }
        try StandardOutput.write(said)
    }

    private var options: MergeOptions {
        get throws {
            var options = MergeOptions()
            options.conflicts = conflicts
            options.granularity = granularity
            options.entities = entity
            options.identifiers = try IdentifierArguments.parse(identifier)
            return options
        }
    }
}

extension MergeOptions.ConflictPolicy: ExpressibleByArgument {}
extension MergeOptions.Granularity: ExpressibleByArgument {}
