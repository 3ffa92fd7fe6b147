import GRDB
import ImportSources
import Synchronization

extension DatabaseQueue {
    /// Closes the connection for good, and keeps the closed object for a while.
    ///
    /// GRDB's queue is one of Dispatch's with values of its own, and Dispatch starts a thread when it frees such a queue
    /// (`dispatch_queue_set_specific(3)`, the destructor). Where the system gives no thread that never returns, and without
    /// descriptors it traps. So a run that ends for want of either should free none.
    package func retire() throws {
        defer { RetiredQueues.keep(self) }
        try close()
    }
}

/// The connections that were closed last.
private enum RetiredQueues {
    /// More than a run opens; a process that has many runs keeps no more.
    private static let most = 2 * RunOptions.mostWorkers
    private static let kept = Mutex<[DatabaseQueue]>([])

    static func keep(_ queue: DatabaseQueue) {
        // What goes is freed after the lock is.
        let oldest = kept.withLock { kept -> DatabaseQueue? in
            guard !kept.contains(where: { $0 === queue }) else { return nil }
            kept.append(queue)
            return kept.count > most ? kept.removeFirst() : nil
        }
        withExtendedLifetime(oldest) {}
    }
}
