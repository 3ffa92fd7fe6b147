import Foundation

/// Whose turn it is to commit: chunks are numbered as they are handed out, and commit in that order.
///
/// Workers are long-lived and take chunks in order, so the chunk whose turn it is always has a worker.
package final class CommitSequencer: Sendable {
    private struct State {
        var current = 0
        var failure: (any Error)?
    }

    // Guarded by `condition`; a `Mutex` cannot be waited on.
    nonisolated(unsafe) private var state = State()
    private let condition = NSCondition()

    /// Waits until chunk `number` may commit.
    ///
    /// - Throws: the error that stopped the import meanwhile.
    package func wait(for number: Int) throws {
        condition.lock()
        defer { condition.unlock() }
        while state.failure == nil, state.current != number { condition.wait() }
        if let failure = state.failure { throw failure }
    }

    /// True if chunk `number` may commit now.
    func isCurrent(_ number: Int) -> Bool {
        condition.withLock { state.current == number }
    }

    /// Chunk `number` is done: the next one may commit.
    package func finish(_ number: Int) {
        condition.withLock {
            state.current = number + 1
            condition.broadcast()
        }
    }

    /// Stops everyone who waits or will.
    ///
    /// The first error counts.
    package func fail(_ error: any Error) {
        condition.withLock {
            if state.failure == nil { state.failure = error }
            condition.broadcast()
        }
    }
}
