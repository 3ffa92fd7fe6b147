import ImportEngine

/// The result of a patch or an undo.
public struct ChangeOutcome: Sendable {
    /// The report of the job.
    public let report: ImportReport
    /// True if the job was finished before, so that nothing was done.
    public let wasAlreadyFinished: Bool

    package init(report: ImportReport, wasAlreadyFinished: Bool) {
        self.report = report
        self.wasAlreadyFinished = wasAlreadyFinished
    }
}
