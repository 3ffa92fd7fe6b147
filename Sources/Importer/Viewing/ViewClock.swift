/// The time as a view sees it, so that tests can do without waiting.
struct ViewClock: Sendable {
    /// Time since some moment.
    let now: @Sendable () -> Duration
    /// Waits for so long, or until the task is cancelled.
    let sleep: @Sendable (Duration) async -> Void

    /// The machine's clock.
    static let continuous: ViewClock = {
        let start = ContinuousClock.now
        return ViewClock(now: { ContinuousClock.now - start }, sleep: { try? await Task.sleep(for: $0) })
    }()
}
