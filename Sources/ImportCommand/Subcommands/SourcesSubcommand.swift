import ArgumentParser
import Foundation
import ImportModel
import Importer

/// Lists the sources of a store's imports.
///
/// `importer sources STORE`
struct SourcesSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "sources",
        abstract: "List the sources of a store, and what is kept of them beside their records.",
        discussion: """
            A line for each source of each job: how much of it is imported (waiting, partial, done, or bad where the rest of it \
            was left out), its records, and the entities that they are of.

            Values outside of the records, such as "generated" in {"generated": "2024-07-01", "items": [ … ]}, are kept with \
            the source, up to 1 MiB. --outside prints them: an object for each source that has any.

            EXAMPLES
              importer sources prices.sqlite
              importer sources prices.sqlite --outside
              importer sources prices.sqlite --outside --json | jq .outside
              importer fetch prices.sqlite item --columns name,price,@source.generated
            """
    )

    @Argument(help: "The store.")
    var store: String

    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments

    @Option(help: ArgumentHelp("List the sources of this job only.", valueName: "n"))
    var job: Int64?

    @Flag(help: "Print the values outside of the records.")
    var outside = false

    @Flag(help: "Print an object for each source, on a line of its own.")
    var json = false

    func run() throws {
        let inspection = try StoreLocation(store, schema).inspection
        var table = ColumnText(
            headers: ["job", "state", "records", "source", "entities"],
            numbers: [true, false, true, false, false]
        )
        try inspection.forEachSource(of: job, includingOutside: outside) { source in
            if json { return try StandardOutput.write(TerminalText.escapedInJSON(line(source).serialized()) + "\n") }
            if outside {
                guard let values = source.outside, values != .object([]) else { return }
                let name = TerminalText.escaped(source.source)
                return try StandardOutput.write("\(name)  \(TerminalText.escapedInJSON(values.serialized()))\n")
            }
            table.addRow([
                "\(source.job)", source.state.rawValue, NumberText.grouped(source.records),
                TerminalText.escaped(source.source), TerminalText.escaped(source.entities.joined(separator: ", ")),
            ])
        }
        if !json, !outside { try StandardOutput.write(table.lines.joined(separator: "\n") + "\n") }
    }

    private func line(_ source: StoreInspection.Source) -> JSONValue {
        var members: [(String, JSONValue?)] = [
            ("source", .string(source.source)), ("job", .number("\(source.job)")),
            ("state", .string(source.state.rawValue)), ("size", source.size.map { .number("\($0)") }),
            ("modified", source.modified.map { .string($0.formatted(.iso8601)) }),
            ("records", .number("\(source.records)")),
            ("record_paths", .array(source.recordPaths.map { .string($0) })),
            ("entities", .array(source.entities.map { .string($0) })),
        ]
        if outside { members.append(("outside", source.outside)) }
        return .object(members.compactMap { key, value in value.map { JSONValue.Member(key: key, value: $0) } })
    }
}
