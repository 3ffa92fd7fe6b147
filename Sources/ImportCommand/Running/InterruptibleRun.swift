import Foundation
import Importer

/// Work that can be interrupted by signals and that shows its progress.
struct InterruptibleRun {
    var progress = ImportProgress()
    var interruption = Interruption()
    let mode: ProgressMode
    var purpose = ProgressFrame.Purpose.importing
    /// The store to show on a full screen, where there is a terminal.
    var store: String?
    /// What serves a page meanwhile; nil for nothing.
    var server: ServeRun?

    /// Does the work on this thread.
    ///
    /// Returns or throws as the work does, with nothing more to be shown.
    func perform<Result>(_ work: () throws -> Result) throws -> Result {
        let screen = try store.flatMap {
            try WatchScreen.Display(WatchScreen.Options(store: $0), output: STDERR_FILENO)
        }
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
