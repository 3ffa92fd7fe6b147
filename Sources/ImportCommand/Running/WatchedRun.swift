import Foundation
import Importer

/// Work that can be interrupted by signals and that shows its progress.
struct WatchedRun {
    let progress: ImportProgress
    let interruption: Interruption
    let mode: ProgressMode
    let purpose: ProgressFrame.Purpose
    /// The store to show on a full screen, where there is a terminal.
    let store: String?
    /// What serves a page meanwhile; nil for nothing.
    let server: ServerRun?

    init(
        progress: ImportProgress = ImportProgress(),
        interruption: Interruption = Interruption(),
        mode: ProgressMode,
        purpose: ProgressFrame.Purpose = .importing,
        store: String? = nil,
        server: ServerRun? = nil
    ) {
        self.progress = progress
        self.interruption = interruption
        self.mode = mode
        self.purpose = purpose
        self.store = store
        self.server = server
    }

    /// Does the work on this thread.
    ///
    /// Returns or throws as the work does, with nothing more to be shown.
    func perform<Result>(_ work: () throws -> Result) throws -> Result {
        let screen = try store.flatMap { try WatchScreen.Place(WatchScreen.Options(store: $0), output: STDERR_FILENO) }
        try SignalForwarding.start(to: interruption)
        try server?.start()
        let reporter = try ProgressReporter(
            progress,
            interruption: interruption,
            mode: mode,
            purpose: purpose,
            screen: screen
        )
        defer { reporter.stop() }
        return try work()
    }
}
