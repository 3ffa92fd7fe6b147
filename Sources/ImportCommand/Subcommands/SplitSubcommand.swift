import ArgumentParser
import Importer

/// Only cuts chunks.
///
/// `importer split SOURCE... --to DIR`
struct SplitSubcommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "split",
        abstract: "Split sources into numbered chunks, one record per line, and import nothing.",
        discussion: """
            Writes chunk-000001.ndjson, chunk-000002.ndjson, … and manifest.ndjson, which says where in the source \
            each record is. `importer import DIR --into STORE` imports them. The same command resumes an \
            interrupted split. A directory with chunks or a manifest of another import, or with a source, is refused; other \
            files in it are not touched.

            EXAMPLES
              importer split people.json --to people.chunks
              importer split map.json --to map.chunks --records '$.features[*]'
            """
    )

    @OptionGroup var sources: SourceArguments

    @Option(help: ArgumentHelp("The directory for the chunks; created if it does not exist.", valueName: "dir"))
    var to: String

    @OptionGroup(title: "Job options") var shape: ShapeArguments

    @Option(help: ArgumentHelp("Size at which a chunk is closed, with K/M/G suffixes, at most 1G.", valueName: "bytes"))
    var chunkSize = ByteSize(count: RunOptions().chunkSize)

    @OptionGroup(title: "Output options") var progress: ProgressArguments

    @Flag(help: "Print the summary as JSON.")
    var json = false

    func validate() throws {
        if to.isEmpty { throw ValidationError("--to: the path is empty") }
        try ShapeArguments.check(chunkSize.count, "--chunk-size", in: 1...RunOptions.mostChunkBytes)
    }

    func run() throws {
        let sources = try sources.all()
        let watch = InterruptibleRun(mode: progress.mode, purpose: .splitting)
        let summary: SplitSummary
        do {
            summary = try watch.perform {
                try ImportPipeline.split(
                    sources: sources,
                    to: to,
                    job: shape.options,
                    run: RunOptions(chunkSize: chunkSize.count),
                    progress: watch.progress,
                    interruption: watch.interruption
                )
            }
        } catch let error as ImportError where error.isInterruption && error.advice == nil {
            throw error.saying("\(error.text); the finished chunks in \(to) are complete").advising(
                "To resume, run the same command again."
            )
        }
        if json {
            try StandardOutput.write(json: summary)
        } else if !progress.quiet {
            try StandardOutput.write(SplitText.text(summary))
        }
        guard summary.notFound.isEmpty else {
            throw ImportError(
                .recordsNotFound,
                "nothing was found at \(summary.notFound.joined(separator: ", "))",
                advice: ImportError.adviceForRecordPaths
            )
        }
    }
}
