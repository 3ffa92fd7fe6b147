import Dispatch
import Foundation
import Importer
import Synchronization

/// Looks at a store for all readers of its events, on one thread.
///
/// It looks at most four times a second, once a second where nobody reads, and so seldom that it takes about a fiftieth of one
/// processor.
final class StoreObserver: Sendable {
    /// What was seen last.
    struct Findings: Sendable {
        var statistics = WatchStatistics()
        var frame = ProgressFrame()
        var history = ThroughputHistory()
        /// The number of the last entry of the store's log; 0 for none.
        var sequence: Int64 = 0
        /// Changes when the store has other entities than before, or another job or state.
        var generation = 0
        /// When the last commit was seen, in seconds since 1970; nil while none was.
        var lastCommit: Double?
        /// What went wrong at the last look; nil once it has gone well again.
        var error: ImportError?
    }

    let hub: EventHub
    private let store: String
    private let own: ImportProgress?
    private let findings = Mutex(Findings())
    private let bell: DispatchSemaphore
    private let isStopped = Mutex(false)
    private let end = DispatchSemaphore(value: 0)

    /// Starts looking, and waits for the first look.
    ///
    /// - Parameter own: the progress of the import in this process, which knows more than the store; nil for none.
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread.
    init(store: String, own: ImportProgress?) throws {
        self.store = store
        self.own = own
        let bell = DispatchSemaphore(value: 0)
        self.bell = bell
        hub = EventHub { bell.signal() }
        let hasLooked = DispatchSemaphore(value: 0)
        try SystemThread.start(to: "watch the store") { [self] in run { hasLooked.signal() } }
        hasLooked.wait()
    }

    /// What was seen last.
    var last: Findings { findings.withLock { $0 } }

    /// Ends looking, and closes the store.
    ///
    /// - Parameter patience: a look that takes longer is not waited for.
    func stop(_ patience: DispatchTimeInterval) {
        isStopped.withLock { $0 = true }
        bell.signal()
        _ = end.wait(timeout: .now() + patience)
    }

    private func run(_ onLook: () -> Void) {
        look(onLook)
        end.signal()
    }

    private func look(_ onLook: () -> Void) {
        var poller = StorePoller(store: store)
        let start = ContinuousClock.now
        var next = DispatchTime.now()
        // Not before, whoever comes.
        var earliest = next
        while true {
            _ = bell.wait(timeout: next)
            guard !isStopped.withLock({ $0 }) else { return }
            let now = DispatchTime.now()
            guard now >= next else {
                // Somebody new reads: the next look is due as it is for readers.
                next = max(earliest, min(next, now + StorePoller.interval))
                continue
            }
            let began = StorePoller.threadTime
            var findings = last
            let events = poller.look(&findings, own: own?.snapshot, elapsed: start.duration(to: .now) / .seconds(1))
            // Readers that ask because of an event find what it is about.
            self.findings.withLock { $0 = findings }
            for event in events { hub.post(event) }
            onLook()
            let pause = (StorePoller.threadTime - began) * 50
            earliest = .now() + max(StorePoller.interval, pause)
            next = hub.count > 0 ? earliest : .now() + max(1, pause)
        }
    }
}
