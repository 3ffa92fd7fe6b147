import Importer

/// Work that can be interrupted by signals and that shows its progress.
struct WatchedRun {
    let progress: ImportProgress
    let interruption: Interruption
    let mode: ProgressMode
    /// Whether there is a split and nothing after it.
    let splitsOnly: Bool

    init(
        progress: ImportProgress = ImportProgress(),
        interruption: Interruption = Interruption(),
        mode: ProgressMode,
        splitsOnly: Bool = false
    ) {
        self.progress = progress
        self.interruption = interruption
        self.mode = mode
        self.splitsOnly = splitsOnly
    }

    /// Does the work on this thread.
    ///
    /// Returns or throws as the work does, with nothing more to be shown.
    func perform<Result>(_ work: () throws -> Result) throws -> Result {
        SignalForwarding.start(to: interruption)
        let reporter = ProgressReporter(progress, interruption: interruption, mode: mode, splitsOnly: splitsOnly)
        defer { reporter.stop() }
        return try work()
    }
}
