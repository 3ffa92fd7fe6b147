import Foundation
import ImportSources

/// Runs long-lived workers side by side: one operation each, on one `OperationQueue`.
///
/// A worker takes chunks until there are none. An operation per chunk could wait for a turn that belongs to one that was
/// never started. One worker does the work of all, if more slowly: the pool needs one to have begun, and lets the others
/// begin when the system has threads for them.
package final class WorkerPool: Sendable {
    private struct State {
        var hasBegun = false
        /// How many have begun and not ended.
        var running = 0
        /// True if nobody may begin any more.
        var isOver = false
        var failure: (any Error)?
    }

    private let queue = OperationQueue()
    // Guarded by `condition`; a `Mutex` cannot be waited on.
    nonisolated(unsafe) private var state = State()
    private let condition = NSCondition()
    private let onFailure: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - workers: how many run at a time, from 1.
    ///   - onFailure: called with a worker's error at once, on its thread, so that the others can be stopped.
    package init(workers: Int, onFailure: @escaping @Sendable (any Error) -> Void) {
        queue.name = "importer.workers"
        queue.maxConcurrentOperationCount = workers
        queue.qualityOfService = .userInitiated
        self.onFailure = onFailure
    }

    /// Runs workers on a queue for as long as it is fed, and until it is empty.
    ///
    /// - Parameters:
    ///   - workers: how many, from 1.
    ///   - queue: what they take from; closed when `feed` is done.
    ///   - interruption: ends the work; also requested when a worker fails, so that nobody waits for more to be read.
    ///   - stop: stops anyone who waits, with the error that ended the work.
    ///   - work: a worker's life.
    ///   - feed: fills the queue, on a thread of its own that yields to the workers.
    /// - Returns: what `feed` returned.
    /// - Throws: the first error of a worker, or else what `feed` threw; `ImportError` with `.noResources` when the system
    ///   has no thread for any worker.
    package static func run<Result>(
        _ workers: Int,
        on queue: ChunkQueue,
        interruption: Interruption,
        stop: @escaping @Sendable (any Error) -> Void,
        work: @escaping @Sendable () throws -> Void,
        feed: @escaping () throws -> Result
    ) throws -> Result {
        let pool = WorkerPool(workers: workers) { error in
            stop(error)
            interruption.request(.interrupt)
        }
        do {
            try pool.start(Array(repeating: work, count: workers))
            // It goes with this call: what holds the interruption does not keep the workers.
            let whileRunning = interruption.child()
            whileRunning.onRequest { stop(interruption.error) }
            let result = try withExtendedLifetime(whileRunning) { try LowPriorityThread.run(feed) }
            queue.close()
            try pool.wait()
            return result
        } catch {
            stop(error)
            try pool.wait()
            throw error
        }
    }

    /// Starts workers, and waits until one of them has begun.
    ///
    /// - Throws: `ImportError` with `.noResources` when the system has no thread for any.
    package func start(_ workers: [@Sendable () throws -> Void]) throws {
        // Where the system has no thread to give, Dispatch does not come back from adding an operation: it tries again each
        // second, for ever, and tells nobody. So another thread adds them, and it is asked here whether there are threads.
        try SystemThread.start(to: "start the workers") { [self] in
            for work in workers { queue.addOperation { [self] in run(work) } }
        }
        while !hasBegun(before: Date(timeIntervalSinceNow: 1)) {
            try SystemThread.start(to: "import chunks") {}
        }
    }

    /// Waits for all workers that have begun; no other one begins after that.
    ///
    /// - Throws: the first error of a worker.
    package func wait() throws {
        let failure = condition.withLock {
            while state.running > 0 { condition.wait() }
            state.isOver = true
            return state.failure
        }
        if let failure { throw failure }
    }

    private func hasBegun(before deadline: Date) -> Bool {
        condition.withLock {
            while !state.hasBegun {
                guard condition.wait(until: deadline) else { break }
            }
            return state.hasBegun
        }
    }

    private func run(_ work: () throws -> Void) {
        let begins = condition.withLock {
            guard !state.isOver else { return false }
            state.hasBegun = true
            state.running += 1
            condition.broadcast()
            return true
        }
        guard begins else { return }
        do {
            try work()
        } catch {
            condition.withLock { if state.failure == nil { state.failure = error } }
            onFailure(error)
        }
        condition.withLock {
            state.running -= 1
            condition.broadcast()
        }
    }
}
