import Dispatch

/// Where a store is read for tasks that wait for it, one reading after the other.
///
/// Tasks share as few threads as there are processors: a query of a second on one of them is a second in which others do
/// not run. A serial queue has a thread of its own while it runs something.
package struct SerialReadQueue: Sendable {
    private let queue: DispatchQueue

    /// - Parameter label: what debuggers show.
    package init(_ label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Calls `body` there, and waits without holding a thread up.
    ///
    /// What has begun is not given up when the task is cancelled: what it has found would be lost.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try body() }) }
        }
    }
}
