import Dispatch
import Foundation
import Importer

/// Shows an import's progress on standard error while it runs, on a thread of its own.
///
/// The cursor is not hidden by it: a process that is killed has nothing to restore.
final class ProgressReporter: Sendable {
    private let stopRequest = DispatchSemaphore(value: 0)
    private let stopped = DispatchSemaphore(value: 0)

    /// Starts to show `progress` of a run for `purpose` as `mode` says.
    ///
    /// - Parameter screen: where the store is shown until the run ends or that view is quit; `mode` is for what follows.
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread.
    init(
        _ progress: ImportProgress,
        interruption: Interruption,
        mode: ProgressMode,
        purpose: ProgressFrame.Purpose,
        screen: WatchScreen.Display? = nil
    ) throws {
        let environment = ProcessInfo.processInfo.environment
        let mode = mode.resolved(canRedraw: Terminal.canRedraw(STDERR_FILENO, environment: environment))
        let style = ProgressBar.Style(
            isUnicode: Terminal.isUTF8(environment: environment),
            isColored: isatty(STDERR_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty
        )
        let (stopRequest, stopped) = (stopRequest, stopped)
        // Only the new thread uses it.
        nonisolated(unsafe) let view = try screen.map { try WatchScreen($0, own: progress) }
        try SystemThread.start(to: "show the progress") {
            var display = ProgressDisplay(mode: mode, style: style, meter: ProgressMeter(purpose: purpose))
            let clock = ContinuousClock()
            let start = clock.now
            var isLast = false
            if let view {
                _ = view.run {
                    isLast = isLast || stopRequest.wait(timeout: .now()) == .success
                    return (isLast, interruption.isRequested ? "stopping" : nil)
                }
            }
            repeat {
                isLast =
                    isLast
                    || stopRequest.wait(timeout: .now() + .milliseconds(display.intervalInMilliseconds)) == .success
                let elapsed = start.duration(to: clock.now) / .seconds(1)
                StandardError.write(
                    display.update(
                        progress.snapshot,
                        elapsed: elapsed,
                        isStopping: interruption.isRequested,
                        isLast: isLast,
                        width: Terminal.columns(of: STDERR_FILENO) ?? 80,
                        isForeground: Terminal.isForeground(STDERR_FILENO)
                    )
                )
            } while !isLast
            stopped.signal()
        }
    }

    /// Shows how it ended, and returns when all of it is written.
    func stop() {
        stopRequest.signal()
        stopped.wait()
    }
}
