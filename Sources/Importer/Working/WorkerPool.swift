import Foundation
import Synchronization

/// Runs long-lived workers side by side: one operation each, on one `OperationQueue`.
///
/// A worker takes chunks until there are none. An operation per chunk could wait for a turn that belongs to one that was
/// never started.
final class WorkerPool: Sendable {
    private let queue = OperationQueue()
    private let failure = Mutex<(any Error)?>(nil)
    private let onFailure: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - workers: how many run at a time, from 1.
    ///   - onFailure: told of a worker's error at once, on its thread, so that the others can be stopped.
    init(workers: Int, onFailure: @escaping @Sendable (any Error) -> Void) {
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
    ///   - stop: stops whoever waits, with the error that ended the work.
    ///   - work: a worker's life.
    ///   - feed: fills the queue, on a thread of its own that yields to the workers.
    /// - Returns: what `feed` returned.
    /// - Throws: the first error of a worker, or else what `feed` threw.
    static func run<Result>(
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
        for _ in 0..<workers { pool.start(work) }
        interruption.onRequest { stop(interruption.error) }
        do {
            let result = try YieldingThread.run(feed)
            queue.close()
            try pool.wait()
            return result
        } catch {
            stop(error)
            try pool.wait()
            throw error
        }
    }

    /// Starts a worker.
    func start(_ work: @escaping @Sendable () throws -> Void) {
        queue.addOperation { [self] in
            do {
                try work()
            } catch {
                failure.withLock { if $0 == nil { $0 = error } }
                onFailure(error)
            }
        }
    }

    /// Waits for all workers.
    ///
    /// - Throws: the first error of a worker.
    func wait() throws {
        queue.waitUntilAllOperationsAreFinished()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}
