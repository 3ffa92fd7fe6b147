import Foundation
import ImportSources

/// Sealed chunks on their way from the splitter to the workers, which commit them in their order: bounded, so that neither runs
/// away from the other.
///
/// Workers are long-lived and take chunks in order, so the chunk whose turn it is always has a worker.
package final class ChunkQueue: Sendable {
    /// The chunks of a file, with their index in the order of commits.
    package struct Item: Sendable {
        /// Counts from 0 in the order in which they are handed out.
        package let turn: Int
        package let chunks: [SealedChunk]
        /// What of the first one is committed already.
        package let committed: CommittedPrefix
    }

    private struct State {
        var waiting: [([SealedChunk], CommittedPrefix)] = []
        var handedOut = 0
        /// Whose turn it is to commit.
        var turn = 0
        var isClosed = false
        var failure: (any Error)?
    }

    // Guarded by `condition`; a `Mutex` cannot be waited on.
    nonisolated(unsafe) private var state = State()
    private let condition = NSCondition()
    private let capacity: Int

    /// - Parameter capacity: how many files may wait, from 1.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds the chunks of a file; waits while the queue is full.
    ///
    /// - Throws: the error that stopped the import meanwhile.
    package func put(_ chunks: [SealedChunk], committed: CommittedPrefix = .none) throws {
        try change(when: { $0.waiting.count < capacity }) { $0.waiting.append((chunks, committed)) }
    }

    /// No more chunks come.
    package func close() {
        condition.withLock {
            state.isClosed = true
            condition.broadcast()
        }
    }

    /// The next file's; waits while there is none, and is nil when no more come.
    ///
    /// - Throws: the error that stopped the import meanwhile.
    package func take() throws -> Item? {
        try change(when: { !$0.waiting.isEmpty || $0.isClosed }) { state in
            guard !state.waiting.isEmpty else { return nil }
            let (chunks, committed) = state.waiting.removeFirst()
            defer { state.handedOut += 1 }
            return Item(turn: state.handedOut, chunks: chunks, committed: committed)
        }
    }

    // MARK: Turns

    /// Waits until the chunks that were handed out as this turn's may commit.
    ///
    /// - Throws: the error that stopped the import meanwhile.
    package func wait(for turn: Int) throws { try change(when: { $0.turn == turn }) { _ in } }

    /// True if they may commit now.
    func isCurrent(_ turn: Int) -> Bool {
        condition.withLock { state.turn == turn }
    }

    /// They are done: the next ones may commit.
    package func finish(_ turn: Int) {
        condition.withLock {
            state.turn = turn + 1
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

    /// Waits until a condition holds, and changes the state then.
    private func change<Result>(when holds: (State) -> Bool, _ body: (inout State) -> Result) throws -> Result {
        try condition.withLock {
            while state.failure == nil, !holds(state) { condition.wait() }
            if let failure = state.failure { throw failure }
            defer { condition.broadcast() }
            return body(&state)
        }
    }
}
