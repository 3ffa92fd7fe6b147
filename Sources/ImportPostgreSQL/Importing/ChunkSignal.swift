import Foundation

/// What the workers of a process know of the job's chunks without asking the server; wakes them when there may be something to do.
final class ChunkSignal: Sendable {
    private struct State {
        var rings = 0
        /// Chunks that no worker of this process has taken, as far as it knows.
        var waiting: Int
        /// Chunks that no worker of this process has committed; others may have.
        var undone: Int
        /// Workers that have begun and have no chunk.
        var idle = 0
        /// True if no more chunks come.
        var isAll = false
        var hasEnded = false
        var isOver: Bool { hasEnded || isAll && undone == 0 }
    }

    // Guarded by `condition`; a `Mutex` cannot be waited on.
    nonisolated(unsafe) private var state: State
    private let condition = NSCondition()

    /// - Parameter waiting: chunks that are to be imported already.
    init(waiting: Int = 0) {
        state = State(waiting: waiting, undone: waiting)
    }

    var count: Int { condition.withLock { state.rings } }

    /// True if this process has committed all chunks that there are.
    var isDone: Bool { condition.withLock { state.isAll && state.undone == 0 } }

    // MARK: Who cuts

    /// Says that there are more chunks.
    ///
    /// - Parameter isAll: whether they are the last ones.
    func offer(_ chunks: Int, isAll: Bool = false) {
        change {
            $0.waiting += chunks
            $0.undone += chunks
            $0.isAll = $0.isAll || isAll
        }
    }

    /// Sends all workers home that wait in `join`.
    func end() { change { $0.hasEnded = true } }

    private func change(_ body: (inout State) -> Void) {
        condition.withLock {
            body(&state)
            state.rings += 1
            condition.broadcast()
        }
    }

    // MARK: Workers

    /// Waits until one more worker has something to do.
    ///
    /// - Returns: false if there is nothing more to do.
    func join() -> Bool {
        condition.withLock {
            while state.waiting <= state.idle, !state.isOver { condition.wait() }
            guard !state.isOver else { return false }
            state.idle += 1
            return true
        }
    }

    /// Notes that a worker has taken a chunk.
    func take() {
        condition.withLock {
            state.waiting = max(0, state.waiting - 1)
            state.idle -= 1
        }
    }

    /// Notes that a worker has no chunk any more.
    func rest() { condition.withLock { state.idle += 1 } }

    /// Notes that a worker has committed a chunk.
    func noteDone() { change { $0.undone -= 1 } }

    /// Waits until more is known than after `seen` changes, or the time is over.
    func wait(after seen: Int, seconds: Double) {
        let deadline = Date(timeIntervalSinceNow: seconds)
        condition.withLock {
            while state.rings == seen, condition.wait(until: deadline) {}
        }
    }
}
