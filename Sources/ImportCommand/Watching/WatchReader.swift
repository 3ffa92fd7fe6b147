import Dispatch
import Foundation
import Importer
import Synchronization

/// Reads a store on a thread of its own, so that a key is never waited for by a query.
///
/// It looks at most 10 times a second, and so seldom that it takes about a fortieth of one processor.
final class WatchReader: Sendable {
    /// What was read since it was last asked.
    struct Findings: Sendable {
        /// Whether the store is there.
        var isThere: Bool?
        var look: StoreLook?
        var window: (request: StoreWindow.Request, window: StoreWindow?)?
        var error: ImportError?
    }

    private struct State {
        var request: StoreWindow.Request?
        var isStopped = false
        var findings: Findings?
    }

    private static let interval = 0.1
    private static let share = 40.0

    private let state = Mutex(State())
    private let bell = DispatchSemaphore(value: 0)

    /// Starts reading.
    ///
    /// - Parameter wake: called when something was found.
    init(store: String, wake: @escaping @Sendable () -> Void) {
        Thread.detachNewThread { [self] in read(StoreWatch(store: store), wake) }
    }

    /// Says which rows are wanted; others are not read any more.
    func ask(_ request: StoreWindow.Request?) {
        let isNew = state.withLock { state in
            defer { state.request = request }
            return state.request != request
        }
        if isNew { bell.signal() }
    }

    /// What was found since the last call.
    func take() -> Findings? {
        state.withLock { state in
            defer { state.findings = nil }
            return state.findings
        }
    }

    /// Ends reading; a query that runs is not waited for.
    func stop() {
        state.withLock { $0.isStopped = true }
        bell.signal()
    }

    private func read(_ watch: StoreWatch, _ wake: @Sendable () -> Void) {
        var answered: StoreWindow.Request?
        var next = DispatchTime.now()
        var isFirst = true
        while true {
            _ = bell.wait(timeout: next)
            let (request, isStopped) = state.withLock { ($0.request, $0.isStopped) }
            guard !isStopped else { return }
            let isDue = DispatchTime.now() >= next
            guard isDue || request != answered else { continue }
            var start = ThreadTime.now
            var findings = Findings()
            do throws(ImportError) {
                findings.isThere = try Self.importError { try watch.connect() }
                // What is done once does not count.
                start = ThreadTime.now
                if isDue { findings.look = try Self.importError { try watch.look() } }
                if let request, findings.look != nil || request != answered {
                    findings.window = (request, try Self.importError { try watch.window(request) })
                    answered = request
                }
            } catch {
                findings.error = error
            }
            add(findings)
            wake()
            let cost = ThreadTime.now - start
            // The first look is at many chunks maybe, and no measure for the next.
            next = .now() + max(Self.interval, isFirst ? 0 : cost * Self.share)
            isFirst = findings.look == nil && isFirst
        }
    }

    private func add(_ new: Findings) {
        state.withLock { state in
            var findings = state.findings ?? Findings()
            findings.isThere = new.isThere ?? findings.isThere
            findings.look = new.look ?? findings.look
            findings.window = new.window ?? findings.window
            findings.error = new.error ?? findings.error
            state.findings = findings
        }
    }

    private static func importError<Result>(_ body: () throws -> Result) throws(ImportError) -> Result {
        do {
            return try body()
        } catch let error as ImportError {
            throw error
        } catch {
            throw ImportError(.software, "\(error)")
        }
    }
}

/// The processor time of a thread.
enum ThreadTime {
    /// The time that this thread has taken, in seconds.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}
