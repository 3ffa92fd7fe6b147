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
