import Foundation
import ImportModel
import Importer

/// The looks at a store, one after the other, and the events that come of them.
///
/// Made and used by one thread.
struct StorePoller {
    /// Between two looks, in seconds, where somebody reads the events.
    static let interval = 0.25
    /// So many notifications are read at one look.
    private static let mostMerges = 8

    private let store: String
    private let watch: StoreWatch
    private var meter = ProgressMeter(purpose: .importing)
    private var follower: StoreFollower?
    private var reader: StoreReader?
    private var hasLooked = false
    private var shape: Shape?
    private var lastProgress: [UInt8] = []
    private var lastState: ImportReport.State?

    init(store: String) {
        self.store = store
        watch = StoreWatch(store: store)
    }

    /// The processor time of this thread, in seconds.
    static var threadTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Looks once.
    ///
    /// - Parameters:
    ///   - findings: what was seen before, and then what is seen now.
    ///   - own: what the import's own process knows.
    ///   - elapsed: seconds since the first look.
    /// - Returns: what readers are to be sent, once others know of what was found.
    mutating func look(
        _ findings: inout StoreObserver.Findings,
        own: ImportProgress.Snapshot?,
        elapsed: Double
    ) -> [ServerEvent] {
        var events: [ServerEvent] = []
        do {
            try follow(&findings, &events)
            if try watch.connect() == nil { findings.statistics.look = StoreSnapshot() }
            if let look = try watch.look() { findings.statistics.look = look }
            findings.error = nil
        } catch {
            findings.error = error as? ImportError ?? ImportError(.fault, "\(error)")
        }
        findings.statistics.own = own.flatMap { $0.end == nil ? $0 : nil }
        findings.frame = findings.statistics.frame(&meter, elapsed: elapsed)
        let time = Date().timeIntervalSince1970
        findings.history.add(findings.statistics, at: time)
        addProgress(findings, time, &events)
        let shape = Shape(findings.statistics.look)
        if shape != self.shape || events.contains(where: { $0.kind == .refresh }) { findings.generation += 1 }
        self.shape = shape
        return events
    }

    /// What the entities depend on, but for their counts.
    private struct Shape: Equatable {
        let job: Int64?
        let state: ImportReport.State
        let tables: [[String]]

        init(_ look: StoreSnapshot) {
            (job, state) = (look.job, look.state)
            tables = look.entities.map { [$0.name, $0.table] }
        }
    }

    // MARK: Commits

    private mutating func follow(_ findings: inout StoreObserver.Findings, _ events: inout [ServerEvent]) throws {
        let reader = try watch.connect()
        if reader !== self.reader || follower == nil && reader != nil {
            follower = nil
            follower = try reader.map { _ in try StoreFollower(awaiting: store) }
            // What is read from now on is of the other one, and its commits are followed already.
            if hasLooked { events.append(EventHub.refresh("another store is in this place now")) }
            self.reader = reader
        }
        hasLooked = true
        guard let follower else {
            findings.sequence = 0
            return
        }
        findings.sequence = follower.position.sequence
        for _ in 0..<Self.mostMerges {
            guard let merge = try follower.poll() else { return }
            findings.sequence = merge.position.sequence
            findings.lastCommit = Date().timeIntervalSince1970
            events.append(MergeEvent.event(merge))
        }
    }

    // MARK: Progress

    private mutating func addProgress(
        _ findings: StoreObserver.Findings,
        _ time: Double,
        _ events: inout [ServerEvent]
    ) {
        guard let data = try? JSONBytes.line(ProgressEvent(findings, time: nil)) else { return }
        if data != lastProgress, let timed = try? JSONBytes.line(ProgressEvent(findings, time: time)) {
            lastProgress = data
            events.append(ServerEvent(.progress, data: timed))
        }
        let look = findings.statistics.look
        let state = look.job == nil || findings.statistics.own != nil ? nil : look.state
        if let state, state != .running, let lastState, lastState == .running {
            var data: JSONValue = ["state": .string(state.rawValue)]
            data["message"] = look.message.map { .string($0) }
            events.append(ServerEvent(.finished, data: Array(data.serialized().utf8)))
        }
        lastState = findings.statistics.isRunning ? .running : state
    }
}
