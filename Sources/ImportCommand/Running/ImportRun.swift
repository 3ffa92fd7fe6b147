import ImportModel
import Importer

/// What `import`, `resume` and `retry` have in common: run, show progress, report, say how to resume.
struct ImportRun {
    let store: String
    let inspection: any JobInspection
    /// The sources as they are known before the run, `-` for standard input.
    let sources: [String]
    /// Other files and directories that the import reads or fills.
    var others: [(role: String, path: String)] = []
    let output: OutputArguments
    /// True if the command was given a model.
    var hasModel = false
    /// True if the import goes on until it is interrupted.
    var follows = false
    /// What is said where the store has everything already.
    var answer = AlreadyFinishedText.imported
    /// What serves a page meanwhile; nil for nothing.
    var server: ServeRun?
    /// Where results go.
    var print: (String) throws -> Void = StandardOutput.write

    func perform(_ pipeline: ImportPipeline) throws {
        let reportFile = try output.report.map { try ReportFile(path: $0, apartFrom: files) }
        let watch = InterruptibleRun(
            progress: pipeline.progress,
            interruption: pipeline.interruption,
            mode: output.progress.mode,
            store: output.watch ? store : nil,
            server: server
        )
        let outcome: ImportPipeline.Outcome
        do {
            outcome = try watch.perform { try pipeline.run() }
        } catch let error as ImportError {
            // The report of what is in the store, if it has come that far; the error is what counts.
            let job = pipeline.job.flatMap { try? inspection.status(of: $0) }
            let report = job.flatMap { $0.state == .finished && !follows ? nil : $0 }
            if let report {
                try? reportFile?.write(report, of: store)
                if output.json { try? print(JSONText.document(report)) }
            }
            guard error.isInterruption else { throw error }
            if follows, report?.state != .interrupted {
                throw InterruptionText.followed(error, report, store: store, command: CommandName.text)
            }
            let stop = InterruptionText.error(
                error,
                snapshot: pipeline.progress.snapshot,
                report: report,
                store: store,
                isPiped: sources.contains("-") || report?.sources.contains("-") == true,
                command: CommandName.text
            )
            throw follows ? stop.advising(InterruptionText.goingOn) : stop
        }
        try reportFile?.write(outcome.report, of: store)
        if let text = try text(of: outcome) { try print(text) }
        if let error = MirrorText.withheld(outcome.report, store: store) { throw error }
        if let error = ReportText.badSources(outcome.badSources) { throw error }
        // An exit code of 0 says that something was accepted, or nothing was to be.
        let command = CommandName.text
        if let error = ReportText.nothingTaken(outcome.report, store: store, command: command, hasModel: hasModel) {
            throw error
        }
    }

    /// What is printed; nil where it is to be quiet.
    private func text(of outcome: ImportPipeline.Outcome) throws -> String? {
        if output.json { return try JSONText.document(outcome.report) }
        guard !output.progress.quiet else { return nil }
        if outcome.wasAlreadyFinished {
            return answer.text(
                outcome.report,
                store: store,
                isPartial: outcome.isPartial,
                isOfSeveralJobs: outcome.isOfSeveralJobs,
                built: outcome.builtIndexes
            )
        }
        let unfinished = (try? inspection.unfinished()) ?? []
        return [outcome.resumed, outcome.report].compactMap(\.self).map {
            ReportText.text($0, unfinished: unfinished, store: store, command: CommandName.text)
        }.joined(separator: "\n")
    }

    /// Everything that a report must not be written over.
    private var files: [(role: String, path: String)] {
        sources.filter { $0 != "-" }.map { (role: "the source", path: $0) } + others
            + ["", "-wal", "-shm", "-journal", ".lock"].map { (role: "the store", path: store + $0) }
            + [(role: "the chunk directory", path: store + ".chunks")]
    }
}
