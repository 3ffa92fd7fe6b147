import Dispatch
import Foundation

/// A thread that gets a processor after the others of an import, as do the threads that it starts: those that decompress
/// the sources that it opens.
///
/// Commits follow one another, so the committing worker must not wait for a processor; there are more threads than processors, as
/// long as there are two. The splitter is the one that may wait, as it runs ahead of the workers, and as they wait for it if
/// it falls after.
package enum LowPriorityThread {
    /// How much nicer it is than the thread that starts it (nice(2)): it has a third of the others' weight (sched(7)).
    private static let niceness: Int32 = 5

    /// Calls `body` on such a thread, and waits for it.
    ///
    /// The caller's own thread stays as it is: without privileges it could not be made less nice again.
    ///
    /// - Throws: what `body` throws; `ImportError` with `.noResources` when the system gives no thread.
    package static func run<Result>(_ body: @escaping () throws -> Result) throws -> Result {
        // One thread uses them while the other one waits.
        nonisolated(unsafe) let body = body
        nonisolated(unsafe) var result: Swift.Result<Result, any Error>?
        let end = DispatchSemaphore(value: 0)
        try SystemThread.start(to: "read ahead") {
            // Of this thread alone; where it is refused, nothing is lost but time.
            _ = nice(niceness)
            result = Swift.Result { try body() }
            end.signal()
        }
        end.wait()
        guard let result else { throw ImportError(.fault, "the splitter's thread ended without a result") }
        return try result.get()
    }
}
