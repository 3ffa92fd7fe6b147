import Foundation
import ImportSources

/// Sealed chunks on their way from the splitter to the workers: bounded, so that neither runs away from the other.
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
        condition.lock()
        defer { condition.unlock() }
        while state.failure == nil, state.waiting.count >= capacity { condition.wait() }
        if let failure = state.failure { throw failure }
        state.waiting.append((chunks, committed))
        condition.broadcast()
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
        condition.lock()
        defer { condition.unlock() }
        while state.failure == nil, state.waiting.isEmpty, !state.isClosed { condition.wait() }
        if let failure = state.failure { throw failure }
        guard !state.waiting.isEmpty else { return nil }
        let (chunks, committed) = state.waiting.removeFirst()
        defer { state.handedOut += 1 }
        condition.broadcast()
        return Item(turn: state.handedOut, chunks: chunks, committed: committed)
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
