import Importer

/// What `import` and `resume` have in common: run, show progress, report, say how to carry on.
struct ImportRun {
    let store: String
    /// The sources as they are known before the run, `-` for standard input.
    let sources: [String]
    /// Other files and directories that the import reads or fills.
    var others: [(role: String, path: String)] = []
    let output: OutputArguments

    func perform(_ pipeline: ImportPipeline) throws {
        let reportFile = try output.report.map { try ReportFile(path: $0, apartFrom: files) }
        let watch = WatchedRun(
            progress: pipeline.progress,
            interruption: pipeline.interruption,
            mode: output.progress.progress
        )
        let outcome: ImportPipeline.Outcome
        do {
            outcome = try watch.perform { try pipeline.run() }
        } catch let error as ImportError {
            // The report of what is in the store, if it has come that far; the error is what counts.
            let report = try? StoreInspection(store: store).status()
            if let report { try? reportFile?.write(report) }
            guard error.isInterruption else { throw error }
            let isPiped = sources.contains("-") || report?.sources.contains("-") == true
            throw interrupted(error, records: pipeline.progress.snapshot.importedRecords, isPiped: isPiped)
        }
        try reportFile?.write(outcome.report)
        if output.json { return try StandardOutput.write(json: outcome.report) }
        try StandardOutput.write(
            outcome.wasAlreadyFinished
                ? ReportText.alreadyFinished(outcome.report, store: store)
                : ReportText.text(outcome.report, store: store, command: CommandName.text)
        )
    }

    /// Everything that a report must not be written over.
    private var files: [(role: String, path: String)] {
        sources.filter { $0 != "-" }.map { (role: "the source", path: $0) } + others
            + ["", "-wal", "-shm", "-journal", ".lock"].map { (role: "the store", path: store + $0) }
            + [(role: "the chunk directory", path: store + ".chunks")]
    }

    private func interrupted(_ error: ImportError, records: Int64, isPiped: Bool) -> ImportError {
        let resume = "\(CommandName.text) resume \(TerminalText.shellQuoted(store))"
        let advice =
            isPiped
            ? "To carry on, pipe the same stream in again:  … | \(resume)" : "To carry on:  \(resume)"
        return ImportError(
            error.code,
            "\(error.message); \(NumberText.counted(records, "record")) committed to \(store)",
            advice: advice
        )
    }
}

/// How this command was called, for texts that say what to type next.
enum CommandName {
    /// The path as it was typed, or `importer` where it was found on the search path.
    static var text: String {
        let name = CommandLine.arguments.first ?? ""
        return name.contains("/") && name.hasSuffix("/importer") ? TerminalText.shellQuoted(name) : "importer"
    }
}
