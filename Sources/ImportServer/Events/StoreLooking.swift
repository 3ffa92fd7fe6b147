import Foundation
import Importer

/// The looks at a store, one after the other, and the events that come of them.
///
/// Made and used by one thread.
struct StoreLooking {
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
    ///   - hub: gets the events.
    mutating func look(
        _ findings: inout StoreObserver.Findings,
        own: ImportProgress.Snapshot?,
        elapsed: Double,
        to hub: EventHub
    ) {
        do {
            try follow(&findings, hub)
            if try watch.connect() == nil { findings.figures.look = StoreLook() }
            if let look = try watch.look() { findings.figures.look = look }
            findings.error = nil
        } catch {
            findings.error = error as? ImportError ?? ImportError(.fault, "\(error)")
        }
        findings.figures.own = own.flatMap { $0.end == nil ? $0 : nil }
        findings.frame = findings.figures.frame(&meter, elapsed: elapsed)
        let time = Date().timeIntervalSince1970
        findings.history.add(findings.figures, at: time)
        postProgress(findings, time, hub)
    }

    // MARK: Commits

    private mutating func follow(_ findings: inout StoreObserver.Findings, _ hub: EventHub) throws {
        let reader = try watch.connect()
        if reader !== self.reader || !hasLooked {
            let isOther = hasLooked
            (self.reader, hasLooked) = (reader, true)
            follower = try reader.map { _ in try StoreFollower(awaiting: store) }
            // What is read from now on is of the other one, and its commits are followed already.
            if isOther { hub.post(EventHub.refresh("another store is in this place now")) }
        }
        guard let follower else {
            findings.sequence = 0
            return
        }
        findings.sequence = follower.position.sequence
        for _ in 0..<Self.mostMerges {
            guard let merge = try follower.poll() else { return }
            findings.sequence = merge.position.sequence
            findings.lastCommit = Date().timeIntervalSince1970
            hub.post(MergeEvent.event(merge))
        }
    }

    // MARK: Progress

    private mutating func postProgress(_ findings: StoreObserver.Findings, _ time: Double, _ hub: EventHub) {
        guard let data = try? JSONBytes.line(ProgressEvent(findings, time: nil)) else { return }
        if data != lastProgress, let timed = try? JSONBytes.line(ProgressEvent(findings, time: time)) {
            lastProgress = data
            hub.post(ServerEvent(.progress, data: timed))
        }
        let look = findings.figures.look
        let state = look.job == nil || findings.figures.own != nil ? nil : look.state
        if let state, state != .running, let lastState, lastState == .running {
            var data = JSONMembers()
            data["state"] = .string(state.rawValue)
            data.set("message", look.message.map { .string($0) })
            hub.post(ServerEvent(.finished, data: Array(data.value.serialized().utf8)))
        }
        lastState = findings.figures.isRunning ? .running : state
    }
}
