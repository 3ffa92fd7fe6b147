import ArgumentParser
import ImportPostgreSQL
import Importer

/// Says how far a store's imports are.
///
/// `importer status STORE`
struct StatusSubcommand: ParsableCommand, StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what has been done and what is left.",
        discussion: """
            Lists the last 20 imports and other jobs of the store, a line each; --job shows one of them in full. Where there \
            is one only, it is shown in full at once.

            EXAMPLES
              importer status people.sqlite
              importer status people.sqlite --job 1
              importer status people.sqlite --json
              importer status shop.sqlite --unresolved
            """
    )

    @Argument(help: "The store.")
    var store: String

    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments

    @Option(help: ArgumentHelp("Show this job in full.", valueName: "n"))
    var job: Int64?

    @Flag(help: "List all jobs, not the last 20.")
    var all = false

    @Flag(
        help: ArgumentHelp(
            "Print the report as JSON, with the keys of import --report, the jobs and all unfinished imports.",
            discussion: "Without --job it is that of the import that resume would continue, or of the last one."
        )
    )
    var json = false

    @Flag(
        help: ArgumentHelp(
            "List the references to objects that are not in the store.",
            discussion: "A line each: relationship, identifier, count. With --json an object each."
        )
    )
    var unresolved = false

    func run() throws {
        let location = try StoreLocation(store, schema)
        let inspection = location.inspection
        if unresolved {
            if let server = inspection as? PostgreSQLInspection { return try server.forEachUnresolved(write) }
            if let file = inspection as? StoreInspection { try file.forEachUnresolved(write) }
            return
        }
        let jobs = try inspection.jobs(newest: all ? nil : 20)
        let count = try inspection.jobCount()
        if json {
            let report = try job.map { try inspection.status(of: $0) } ?? inspection.status()
            let unfinished = try inspection.unfinished()
            return try StandardOutput.write(
                json: StatusReport(report: report, unfinished: unfinished, jobs: jobs, jobCount: count)
            )
        }
        guard let number = job ?? (jobs.count == 1 ? jobs[0].job : nil) else {
            return try StandardOutput.write(
                JobListText.text(
                    jobs,
                    of: count,
                    unfinished: inspection.unfinished(),
                    store: store,
                    command: CommandName.text
                )
            )
        }
        let report = try inspection.status(of: number)
        let hosts = try (inspection as? PostgreSQLInspection)?.hosts(of: number) ?? []
        try StandardOutput.write(
            ReportText.text(report, store: store, command: CommandName.text) + Self.text(hosts, of: report)
        )
    }

    /// Who works on an import, or has worked on it where that were several.
    private static func text(_ hosts: [PostgreSQLInspection.Host], of report: ImportReport) -> String {
        guard !hosts.isEmpty, report.state != .finished || hosts.count > 1 else { return "" }
        var table = ColumnText(
            headers: ["host", "chunks", "records", "at work on", "records/s"],
            numbers: [false, true, true, true, true]
        )
        for host in hosts {
            table.addRow([
                TerminalText.escaped(host.host), NumberText.grouped(host.chunks), NumberText.grouped(host.records),
                NumberText.grouped(host.leased), NumberText.grouped(Int64(host.rate)),
            ])
        }
        return "\n" + table.lines.joined(separator: "\n") + "\n"
    }

    private func write(_ reference: StoreInspection.UnresolvedReference) throws {
        if json { return try StandardOutput.write(JSONText.line(reference)) }
        let texts = [reference.relationship, reference.identifier.joined(separator: ", "), "\(reference.count)"]
        try StandardOutput.write(texts.map { TerminalText.escaped($0) }.joined(separator: "\t") + "\n")
    }
}
