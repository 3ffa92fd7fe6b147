import Dispatch
import Foundation
import Importer
import Synchronization

/// Reads a store on a thread of its own, so that a key is never waited for by a query.
///
/// It looks at most 10 times a second, and so seldom that looking how far the import is takes about a hundredth of one
/// processor, and reading records a sixtieth.
final class WatchReader: Sendable {
    /// What was read since it was last asked.
    struct Findings: Sendable {
        /// True if there is a store that holds an import.
        var isThere: Bool?
        var look: StoreSnapshot?
        var records: WatchedRecords?
        /// What went wrong at the last look; nil once it has gone well again.
        var error: ImportError?

        /// True if there is anything in it that was not in the one before.
        func isNews(after last: Findings) -> Bool {
            look != nil || records != nil || isThere != last.isThere || error != nil || last.error != nil
        }
    }

    private struct State {
        var request: WatchedRecords.Request?
        var isStopped = false
        var findings: Findings?
    }

    /// When something is to be done again, by what it has cost.
    private struct Pace {
        private static let interval = 0.1

        /// The time spent is to all time as 1 to this.
        let share: Double
        private(set) var next = DispatchTime.now()

        init(share: Double) {
            self.share = share
        }

        /// Does it.
        mutating func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
            let start = ThreadTime.now
            defer { next = .now() + max(Self.interval, (ThreadTime.now - start) * share) }
            return try body()
        }

        /// Whatever it has cost does not count.
        mutating func beginAnew() { next = .now() + Self.interval }
    }

    private let state = Mutex(State())
    private let bell = DispatchSemaphore(value: 0)

    /// Starts reading.
    ///
    /// - Parameter wake: called when something was found.
    /// - Throws: `ImportError` with `.noResources` when the system gives no thread.
    init(store: String, wake: @escaping @Sendable () -> Void) throws {
        try SystemThread.start(to: "read the store") { [self] in read(StoreWatch(store: store), wake) }
    }

    /// Says which records are wanted; others are not read any more.
    func ask(_ request: WatchedRecords.Request?) {
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
        var records: RecordWatch?
        var answered: WatchedRecords.Request?
        var (looking, reading) = (Pace(share: 100), Pace(share: 60))
        var last = Findings()
        while true {
            _ = bell.wait(timeout: min(looking.next, reading.next))
            let (request, isStopped) = state.withLock { ($0.request, $0.isStopped) }
            guard !isStopped else { return }
            let now = DispatchTime.now()
            let isNew = request != answered
            guard now >= looking.next || now >= reading.next || isNew else { continue }
            var findings = Findings()
            do {
                let reader = try watch.connect()
                findings.isThere = reader != nil
                let isOther = reader !== records?.reader
                if isOther { records = reader.map { RecordWatch($0) } }
                if now >= looking.next {
                    findings.look = try looking.measure { try watch.look() }
                    // The first look is at many chunks maybe, and no measure for the next.
                    if isOther { looking.beginAnew() }
                }
                if now >= reading.next || isNew {
                    findings.records = try reading.measure { try request.flatMap { try records?.read($0) } }
                }
                answered = request
            } catch {
                looking.beginAnew()
                reading.beginAnew()
                findings.error = error as? ImportError ?? ImportError(.fault, "\(error)")
            }
            guard findings.isNews(after: last) else { continue }
            last = findings
            add(findings)
            wake()
        }
    }

    private func add(_ new: Findings) {
        state.withLock { state in
            var findings = state.findings ?? Findings()
            findings.isThere = new.isThere ?? findings.isThere
            findings.look = new.look ?? findings.look
            if var records = new.records {
                if let old = findings.records, old.request == records.request {
                    records.new.formUnion(old.new)
                    records.changed.formUnion(old.changed)
                }
                findings.records = records
            }
            findings.error = new.error
            state.findings = findings
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
