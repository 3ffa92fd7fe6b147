import Importer

/// Work that can be interrupted by signals and that shows its progress.
struct WatchedRun {
    let progress: ImportProgress
    let interruption: Interruption
    let mode: ProgressMode
    let purpose: ProgressFrame.Purpose

    init(
        progress: ImportProgress = ImportProgress(),
        interruption: Interruption = Interruption(),
        mode: ProgressMode,
        purpose: ProgressFrame.Purpose = .importing
    ) {
        self.progress = progress
        self.interruption = interruption
        self.mode = mode
        self.purpose = purpose
    }

    /// Does the work on this thread.
    ///
    /// Returns or throws as the work does, with nothing more to be shown.
    func perform<Result>(_ work: () throws -> Result) throws -> Result {
        SignalForwarding.start(to: interruption)
        let reporter = ProgressReporter(progress, interruption: interruption, mode: mode, purpose: purpose)
        defer { reporter.stop() }
        return try work()
    }
}
