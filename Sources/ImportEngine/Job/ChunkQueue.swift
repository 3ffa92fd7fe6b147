import Foundation
import ImportSources

/// Sealed chunks on their way from the splitter to the workers: bounded, so that neither runs away from the other.
package final class ChunkQueue: Sendable {
    /// A chunk with its index in the order of commits.
    package struct Item: Sendable {
        /// Counts from 0 in the order in which chunks are handed out.
        package let turn: Int
        package let chunk: SealedChunk
        /// What of it is committed already.
        package let committed: CommittedPrefix
    }

    private struct State {
        var waiting: [(SealedChunk, CommittedPrefix)] = []
        var handedOut = 0
        var isClosed = false
        var failure: (any Error)?
    }

    // Guarded by `condition`; a `Mutex` cannot be waited on.
    nonisolated(unsafe) private var state = State()
    private let condition = NSCondition()
    private let capacity: Int

    /// - Parameter capacity: how many chunks may wait, from 1.
    package init(capacity: Int) {
        self.capacity = capacity
    }

    /// Adds a chunk; waits while the queue is full.
    ///
    /// - Throws: the error that stopped the import meanwhile.
    package func put(_ chunk: SealedChunk, committed: CommittedPrefix = .none) throws {
        condition.lock()
        defer { condition.unlock() }
        while state.failure == nil, state.waiting.count >= capacity { condition.wait() }
        if let failure = state.failure { throw failure }
        state.waiting.append((chunk, committed))
        condition.broadcast()
    }

    /// No more chunks come.
    package func close() {
        condition.withLock {
            state.isClosed = true
            condition.broadcast()
        }
    }

    /// The next chunk; waits while there is none, and is nil when no more come.
    ///
    /// - Throws: the error that stopped the import meanwhile.
    package func take() throws -> Item? {
        condition.lock()
        defer { condition.unlock() }
        while state.failure == nil, state.waiting.isEmpty, !state.isClosed { condition.wait() }
        if let failure = state.failure { throw failure }
        guard !state.waiting.isEmpty else { return nil }
        let (chunk, committed) = state.waiting.removeFirst()
        defer { state.handedOut += 1 }
        condition.broadcast()
        return Item(turn: state.handedOut, chunk: chunk, committed: committed)
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
