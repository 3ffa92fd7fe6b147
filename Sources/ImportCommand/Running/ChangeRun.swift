import ImportModel
import Importer

/// What `patch` and `undo` have in common: run, show progress, report with conflicts.
struct ChangeRun {
    let store: String
    let output: OutputArguments

    /// - Parameters:
    ///   - sources: that the report must not be written over.
    ///   - found: the report as far as there is one, where the work fails.
    func perform(
        _ progress: ImportProgress,
        _ interruption: Interruption,
        sources: [String] = [],
        found: () -> ImportReport?,
        _ work: () throws -> ChangeOutcome
    ) throws {
        let reportFile = try output.report.map { try ReportFile(path: $0, apartFrom: files(sources)) }
        let watch = InterruptibleRun(
            progress: progress,
            interruption: interruption,
            mode: output.progress.mode,
            purpose: .applying,
            store: output.watch ? store : nil
        )
        let outcome: ChangeOutcome
        do {
            outcome = try watch.perform(work)
        } catch let error as ImportError {
            if let report = found() {
                try? reportFile?.write(report, of: store)
                if output.json {
                    try? StandardOutput.write(JSONText.document(report))
                } else if error.reason == .changesConflict {
                    try? StandardOutput.write(ConflictText.text(report))
                }
            }
            throw error
        }
        try reportFile?.write(outcome.report, of: store)
        if output.json { return try StandardOutput.write(JSONText.document(outcome.report)) }
        guard !output.progress.quiet else { return }
        if outcome.wasAlreadyFinished {
            return try StandardOutput.write(ConflictText.alreadyApplied(outcome.report, store: store))
        }
        try StandardOutput.write(
            ReportText.text(outcome.report, store: store, command: CommandName.text)
                + ((outcome.report.conflicts ?? 0) > 0 ? "\n" + ConflictText.text(outcome.report) : "")
        )
    }

    private func files(_ sources: [String]) -> [(role: String, path: String)] {
        sources.filter { $0 != "-" }.map { (role: "the change set", path: $0) }
            + ["", "-wal", "-shm", "-journal", ".lock"].map { (role: "the store", path: store + $0) }
    }
}
