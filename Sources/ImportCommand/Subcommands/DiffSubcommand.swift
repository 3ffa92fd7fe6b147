import ArgumentParser
import Foundation
import ImportModel
import Importer

/// Prints what changed from one store to another.
///
/// `importer diff OLD NEW`
struct DiffSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Print what changed from one store to another, or write it as a change set.",
        discussion: """
            Objects are matched by their identifiers: those of the model, else the primary key, else the only unique index \
            without nulls. Values are equal if their storage class and bytes are. Any SQLite files can be compared: a table \
            without a model is an entity of its own. Neither store is changed.

            --format text prints counts and then a line for each change; --format ndjson is the change set; --format html is a \
            single page, in which j and k go from change to change. Owned objects are nested in their owners. \
            --include, --exclude and --only accept ENTITY.NAME or *.NAME, with the name of an attribute or relationship.

            EXAMPLES
              importer diff sunday.sqlite monday.sqlite
              importer diff sunday.sqlite monday.sqlite --format summary
              importer diff sunday.sqlite monday.sqlite --output monday.changes.ndjson
              importer diff sunday.sqlite monday.sqlite --output monday.html
              importer diff a.sqlite b.sqlite --entity person --exclude person.seen
              importer diff a.db b.db --root order=1017 --include order.customer
              importer diff a.db b.db --identifier log:host,number --exit-code
              importer diff people.sqlite --job 7
            """
    )

    /// How the difference is written.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, summary, ndjson, html
    }

    @Argument(help: "The store as it was.")
    var old: String

    @Argument(help: "The store as it is; none with --job.")
    var new: String?

    @Option(
        help: ArgumentHelp(
            "Print what this job has done to the one store that is given, as far as it can be undone.",
            valueName: "number"
        )
    )
    var job: Int64?

    @Option(help: ArgumentHelp("Compare only this entity, with what it owns; may be repeated.", valueName: "name"))
    var entity: [String] = []

    @Option(
        name: .customLong("where"),
        // What begins with a dash is a predicate too: -1 < age.
        parsing: .unconditional,
        help: ArgumentHelp("Compare only objects that match in either store.", valueName: "predicate")
    )
    var predicate: String?

    @Option(
        help: ArgumentHelp(
            "Compare only this entity, or one object of it, with what it owns and what --include adds; may be repeated.",
            valueName: "entity[=id]"
        )
    )
    var root: [String] = []

    @Option(
        help: ArgumentHelp(
            "Nest the objects of a relationship, each once; or compare an attribute that is left out; may be repeated.",
            valueName: "entity.name"
        )
    )
    var include: [String] = []

    @Option(
        help: ArgumentHelp("Leave out an attribute or relationship; may be repeated.", valueName: "entity.name")
    )
    var exclude: [String] = []

    @Option(
        help: ArgumentHelp(
            "Of this entity, compare only this attribute or relationship; may be repeated.",
            valueName: "entity.name"
        )
    )
    var only: [String] = []

    @Option(
        help: ArgumentHelp(
            "The attributes that identify the objects of an entity; may be repeated.",
            valueName: "entity:a,b"
        )
    )
    var identifier: [String] = []

    @Option(name: .customLong("old"), help: ArgumentHelp("Old values that a change set has.", valueName: "which"))
    var oldValues = DifferenceOptions.OldValues.changed

    @Option(help: "Output format.")
    var format: Format?

    @Flag(help: "Print the summary as JSON.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "Print at most this many changes; with --format html, this many objects (default: 10,000).",
            valueName: "number"
        )
    )
    var limit: Int?

    @Option(
        help: ArgumentHelp("Write to this file; the suffix .ndjson or .html sets the format.", valueName: "file")
    )
    var output: String?

    @Flag(help: "Let --output overwrite a file.")
    var force = false

    @Flag(help: "Exit with 1 when the stores differ.")
    var exitCode = false

    @Flag(help: "Print the changes from NEW to OLD.")
    var reverse = false

    @Option(
        help: ArgumentHelp(
            "Threads that read rows in parallel, each with its own connections.",
            discussion: "Default: processors, at most 4.",
            valueName: "n"
        )
    )
    var workers: Int?

    func validate() throws {
        if job == nil, new == nil {
            throw ValidationError("the second store is missing; --job compares one store with itself")
        }
        if job != nil, new != nil { throw ValidationError("--job is for one store") }
        try ShapeArguments.check(workers ?? 1, "--workers", in: 1...256)
        if json, let format, format != .summary {
            throw ValidationError("--json and --format \(format) exclude each other")
        }
        if let limit, limit < 0 { throw ValidationError("--limit must not be negative") }
        if limit != nil, ![.text, .html].contains(chosenFormat) {
            throw ValidationError("--limit is for --format text and --format html")
        }
        if !root.isEmpty, !entity.isEmpty { throw ValidationError("--root and --entity exclude each other") }
        if output?.isEmpty == true { throw ValidationError("--output: the path is empty") }
        if force && output == nil { throw ValidationError("--force is for --output") }
        _ = try options
    }

    func run() throws {
        if output != nil { try SignalForwarding.endAtOnce() }
        if let job {
            try StoreDifference.ofJob(job, in: old, options: options) { try write($0, to: "job \(job)") }
        } else if let new {
            try write(StoreDifference(from: old, to: new, options: options), to: new)
        }
    }

    private func write(_ difference: StoreDifference, to new: String) throws {
        let target = try DifferenceOutput(output, overwrites: force)
        switch chosenFormat {
        case .ndjson:
            let writer = ChangeSetWriter { try target.write($0) }
            try difference.write(to: writer)
        case .summary:
            while try difference.next() != nil {}
            let summary = difference.summary
            try target.write(
                json ? JSONText.document(summary) : DifferenceText.counts(summary).joined(separator: "\n") + "\n"
            )
        case .text:
            let text = try DifferenceText(limit: limit, usesColors: target.isTerminal)
            while let change = try difference.next() { try text.append(change) }
            try target.write(DifferenceText.counts(difference.summary).joined(separator: "\n") + "\n")
            try text.write { try target.write($0) }
        case .html:
            let page = try DifferencePage(limit: limit ?? Self.mostObjects)
            while let change = try difference.next() { try page.append(change) }
            let names = reverse ? (old: new, new: old) : (old: old, new: new)
            try page.write(names, difference.summary) { try target.write($0) }
        }
        try target.finish()
        for each in difference.summary.leftOut {
            let (before, after) = (NumberText.counted(each.old, "row"), NumberText.counted(each.new, "row"))
            StandardError.write(
                message:
                    "\(each.name): \(before) only in the old store, \(after) only in the new one, in no change",
                mode: .lines
            )
        }
        if exitCode, !difference.summary.isEmpty { throw ExitCode(1) }
    }

    private var chosenFormat: Format {
        if json { return .summary }
        if let format { return format }
        if output?.hasSuffix(".html") == true { return .html }
        return output?.hasSuffix(".ndjson") == true ? .ndjson : .text
    }

    /// How many objects a page has, unless it is said.
    private static let mostObjects = 10_000

    private var options: DifferenceOptions {
        get throws {
            var options = DifferenceOptions()
            options.entities = entity
            options.predicate = try predicate.map { try RecordPredicate(parsing: $0) }
            options.roots = try root.map { text in
                let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                guard let name = parts.first, !name.isEmpty else {
                    throw ValidationError("--root \(text): write ENTITY, or ENTITY=ID")
                }
                return .init(name, identifier: parts.count > 1 ? [parts[1]] : nil)
            }
            options.included = try include.map { try PropertyName.parse($0, of: "--include") }
            options.excluded = try exclude.map { try PropertyName.parse($0, of: "--exclude") }
            options.only = try only.map { try PropertyName.parse($0, of: "--only") }
            options.identifiers = try IdentifierArguments.parse(identifier)
            options.old = oldValues
            options.isReversed = reverse
            options.workers = RunArguments.workers(workers)
            return options
        }
    }
}

extension DifferenceOptions.OldValues: ExpressibleByArgument {}
