import ArgumentParser
import Foundation
import ImportModel
import Importer

/// Asks files in SQL.
///
/// `importer memory SOURCE... SQL`
struct MemorySubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory",
        abstract: "Print what an SQL statement selects from JSON files.",
        discussion: """
            The files are imported into a store in the temporary directory (TMPDIR), which is removed before the answer is \
            printed. Each becomes a table with its name: people.json becomes people.

            EXAMPLES
              importer memory people.json 'select city, count(*) from people group by 1'
              gzip -dc o.gz | importer memory - 'select sum(n) from o' --entity o
            """
    )

    @Argument(
        help: ArgumentHelp(
            "Files, or - for standard input, and then one statement that reads.",
            valueName: "source-sql"
        )
    )
    var arguments: [String]

    @OptionGroup(title: "Job options") var shape: ShapeArguments
    @OptionGroup(title: "Job options") var inference: InferenceArguments
    @OptionGroup var query: QueryArguments
    @OptionGroup(title: "Output options") var progress: ProgressArguments

    func validate() throws {
        if arguments.count < 2 { throw ValidationError("give files, and then an SQL statement in quotes") }
        if let last = arguments.last, FileManager.default.fileExists(atPath: last) {
            throw ValidationError("the statement comes last, after the files")
        }
    }

    func run() throws {
        let sql = arguments[arguments.count - 1]
        try StoreReader.check(query: sql)
        var job = shape.options
        inference.apply(to: &job)
        try TemporaryFolder.with { folder in
            let store = folder + "/memory.sqlite"
            let pipeline = ImportPipeline(
                sources: arguments.dropLast(),
                into: store,
                job: job,
                run: RunOptions(workers: RunArguments.workers(nil), durability: .off)
            )
            let watch = InterruptibleRun(
                progress: pipeline.progress,
                interruption: pipeline.interruption,
                mode: progress.mode
            )
            let report = try watch.perform { try pipeline.run() }.report
            if report.rejected > 0 {
                let lines = [
                    "importer: \(report.rejected.grouped) of \(report.recordsRead.grouped) records are left out:"
                ]
                StandardError.write((lines + ReportText.errors(report).dropFirst(2)).joined(separator: "\n") + "\n")
            }
            let reader = try StoreReader(store: store)
            try query.print(sql, of: reader, pipeline.interruption) {
                // It is open, and nobody needs its name any more: so it goes also where this process is killed.
                try? FileManager.default.removeItem(atPath: folder)
            }
        }
    }
}
