import Foundation
import Importer

/// When a server that is lost is tried again, and when no more.
struct ReconnectPolicy {
    private static let first = 0.1
    private static let longest = 10.0

    private let limit: Duration
    private var deadline: ContinuousClock.Instant?
    private var delay = Self.first

    /// - Parameter limit: how long it is tried, from the first failure on.
    init(for limit: Duration = .seconds(120)) {
        self.limit = limit
    }

    /// How long to wait before the next attempt: a little longer each time, from 0.1 to 10 seconds; nil when the time
    /// is over.
    ///
    /// - Parameters:
    ///   - now: when the failure was.
    ///   - jitter: from 0.5 to 1: many clients must not come back at the same moment.
    mutating func nextDelay(now: ContinuousClock.Instant = .now, jitter: Double = .random(in: 0.5...1)) -> Duration? {
        let deadline = deadline ?? now + limit
        self.deadline = deadline
        guard now < deadline else { return nil }
        defer { delay = min(delay * 2, Self.longest) }
        return min(.seconds(delay * jitter), deadline - now)
    }

    /// Waits before the next attempt.
    ///
    /// - Parameters:
    ///   - failure: why the last one was in vain; nil where the connection was lost in a COMMIT.
    ///   - label: what messages call the server (`PostgreSQLAddress.label`).
    /// - Throws: `ImportError` with `.unavailable` when the time is over, and at once what `failure` means where it is
    ///   not transient; the interruption's.
    mutating func wait(
        after failure: PGError?,
        label: String,
        showsValues: Bool = false,
        _ interruption: Interruption
    ) throws {
        try interruption.check()
        let failure = failure ?? PGError(message: "in a COMMIT", isConnectionLost: true)
        let meaning = failure.importError(at: label, showsValues: showsValues)
        guard failure.isTransient else { throw meaning }
        guard let delay = nextDelay() else { throw exhausted(meaning, label) }
        let end = ContinuousClock.now + delay
        while ContinuousClock.now < end {
            let rest = min(end - ContinuousClock.now, .milliseconds(50))
            Thread.sleep(forTimeInterval: max(0, rest / .seconds(1)))
            try interruption.check()
        }
    }

    private func exhausted(_ meaning: ImportError, _ label: String) -> ImportError {
        // The text names the server already.
        ImportError(
            .serverUnavailable,
            "\(meaning.text); it was tried again for \(Int(limit / .seconds(1))) seconds",
            advice: "What is committed stays. When the server can be reached: \(call: .resuming(store: label))."
        ).about(label)
    }
}
