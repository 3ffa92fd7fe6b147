import Foundation

/// Threads of the system that say so when they cannot be had (`pthread_create(3)`).
///
/// Foundation's `Thread` says nothing then, and Dispatch, from which an `OperationQueue` gets its threads, tries again each
/// second for ever; without descriptors for its own timer it traps.
package enum SystemThread {
    /// Calls `body` on a new thread, which nobody can wait for.
    ///
    /// - Parameters:
    ///   - purpose: what the thread is for, in words: `read ahead`.
    ///   - stackSize: in bytes; nil for the system's own measure.
    /// - Throws: `ImportError` with `.noResources` when the system gives none.
    package static func start(
        to purpose: String,
        stackSize: Int? = nil,
        _ body: @escaping @Sendable () -> Void
    ) throws {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }

        let context = Unmanaged.passRetained(Body(run: body))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread,
            &attributes,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            },
            context.toOpaque()
        )
        guard failure != 0 else { return }
        context.release()
        throw ImportError(
            .noThreads,
            "the system gives no thread to \(purpose): \(String(cString: strerror(failure)))",
            advice: "Allow more threads (ulimit -u), then \(.sameAgain)."
        )
    }

    /// Calls `body` on a new thread, and waits without blocking one of the threads that tasks share.
    ///
    /// - Parameters:
    ///   - purpose: what the thread is for, in words: `run the import`.
    ///   - interruption: is requested when the task is cancelled; `body` heeds it.
    /// - Throws: `CancellationError` when the task is cancelled and `body` is interrupted; `ImportError` with `.noResources` when the
    ///   system gives no thread; what `body` throws.
    package static func run<Result: Sendable>(
        to purpose: String,
        _ interruption: Interruption,
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        do {
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    do {
                        try start(to: purpose) { continuation.resume(with: Swift.Result { try body() }) }
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            } onCancel: {
                interruption.request(.interrupt)
            }
        } catch let error as ImportError where error.isInterruption && Task.isCancelled {
            throw CancellationError()
        }
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}
