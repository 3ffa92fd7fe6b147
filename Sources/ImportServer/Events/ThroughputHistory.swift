import Importer

/// How far an import was at each second of the last ten minutes.
struct ThroughputHistory: Sendable {
    /// Counts since the job began, at a moment.
    struct Sample: Sendable, Encodable {
        /// Seconds since 1970.
        let time: Double
        let records: Int64
        let bytes: Int64
        let commits: Int64
    }

    private static let most = 600
    private static let span = 600.0
    private static let interval = 0.95

    private(set) var samples: [Sample] = []
    private var job: Int64?

    /// Adds where an import is, unless it runs and that was noted less than a second ago, or nothing has happened since.
    mutating func add(_ statistics: WatchStatistics, at time: Double) {
        let look = statistics.look
        let snapshot = statistics.snapshot
        if look.job != job { samples = [] }
        job = look.job
        guard look.job != nil else { return }
        let sample = Sample(
            time: (time * 1000).rounded() / 1000,
            records: snapshot.importedRecords,
            bytes: snapshot.importedBytes,
            commits: look.commits
        )
        if let last = samples.last {
            // A restart begins at 0.
            if last.records > sample.records { samples = [] }
            let isSame = last.records == sample.records && last.bytes == sample.bytes && last.commits == sample.commits
            // What was done last counts, however soon after: most imports take less than a second.
            guard statistics.isRunning ? time - last.time >= Self.interval : !isSame else { return }
        }
        samples.append(sample)
        while samples.count > Self.most || samples.first.map({ time - $0.time > Self.span }) == true, samples.count > 1
        {
            samples.removeFirst()
        }
    }
}
