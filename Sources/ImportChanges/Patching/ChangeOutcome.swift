import ImportEngine

/// What a patch or an undo has come to.
public struct ChangeOutcome: Sendable {
    /// The report of the job.
    public let report: ImportReport
    /// Whether the store had all of it already and nothing was done.
    public let wasAlreadyFinished: Bool

    package init(report: ImportReport, wasAlreadyFinished: Bool) {
        self.report = report
        self.wasAlreadyFinished = wasAlreadyFinished
    }
}
