import ArgumentParser
import ImportPostgreSQL
import Importer

/// Takes part in an import that another process has begun.
///
/// `importer work URL`
struct WorkSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "work",
        abstract: "Take part in an import into a PostgreSQL server.",
        discussion: """
            Joins the import that another process has begun with importer import, on any host that sees its chunk folder, \
            at any time. Options and model are the import's. Each chunk is committed exactly once, even if a process crashes.

            EXAMPLES
              importer work postgresql://importer@db/shop
              importer work postgresql://importer@db/shop --chunks /mnt/people.chunks
            """
    )

    @Argument(help: "The server's database: postgresql://USER@HOST/DATABASE.")
    var store: String

    @OptionGroup(title: "Server options") var schema: PostgreSQLArguments
    @OptionGroup(title: "Server options") var messages: PostgreSQLMessageArguments

    @Option(
        help: ArgumentHelp(
            "Workers, each with its own connection.",
            discussion: "Default: processors, at most 4.",
            valueName: "n"
        )
    )
    var workers: Int?

    @Option(
        help: ArgumentHelp(
            "The import's chunk folder, where it has another path on this host.",
            valueName: "dir"
        )
    )
    var chunks: String?

    @Option(
        help: ArgumentHelp(
            "How long to wait with nothing to do and no importing process, in seconds.",
            valueName: "seconds"
        )
    )
    var wait = 60

    @OptionGroup(title: "Output options") var progress: ProgressArguments

    @Flag(help: "Print the summary as JSON.")
    var json = false

    func validate() throws {
        try ShapeArguments.check(workers ?? 1, "--workers", in: 1...256)
        if wait < 0 { throw ValidationError("--wait must not be negative") }
        if chunks?.isEmpty == true { throw ValidationError("--chunks: the path is empty") }
        if !PostgreSQLAddress.isOne(store) {
            throw ValidationError("'\(store)' is no address of a server: give it as postgresql://USER@HOST/DATABASE")
        }
    }

    func run() throws {
        let work = PostgreSQLWorker(
            try schema.store(at: store, showsValues: messages.showValues),
            workers: RunArguments.workers(workers),
            chunkDirectory: chunks,
            wait: Double(wait)
        )
        let watch = InterruptibleRun(progress: work.progress, interruption: work.interruption, mode: progress.mode)
        let summary = try watch.perform { try work.run() }
        if json { return try StandardOutput.write(json: summary) }
        guard !progress.quiet else { return }
        let rejects = summary.rejects > 0 ? ", \(NumberText.counted(summary.rejects, "reject"))" : ""
        try StandardOutput.write(
            "took part in job \(summary.job): \(NumberText.counted(Int64(summary.chunks), "chunk")), "
                + "\(NumberText.counted(summary.records, "record"))\(rejects)\n"
        )
    }
}
