import Importer

/// What a watcher knows of the import: the store's look, put as the progress of an import.
struct WatchFigures: Sendable, Equatable {
    var look = StoreLook()
    /// In the process of the import its own, which knows more than the store.
    var own: ImportProgress.Snapshot?

    /// How far the import is.
    var snapshot: ImportProgress.Snapshot {
        if let own { return own }
        var snapshot = ImportProgress.Snapshot()
        snapshot.totalBytes = look.totalBytes
        snapshot.splitBytes = look.splitBytes
        snapshot.splitRecords = look.splitRecords
        snapshot.importedBytes = look.bytes
        snapshot.importedRecords = look.records
        snapshot.rejects = look.rejected
        snapshot.phase = phase
        if snapshot.phase == .inferring {
            // What has been looked at is known to the process alone.
            snapshot.importedBytes = 0
            snapshot.importedRecords = 0
        }
        return snapshot
    }

    /// Whether the import continues just now.
    var isRunning: Bool { own != nil || look.job != nil && look.state == .running }

    /// What `meter` makes of them, `elapsed` seconds after its beginning.
    func frame(_ meter: inout ProgressMeter, elapsed: Double) -> ProgressFrame {
        var frame = meter.add(snapshot, elapsed: elapsed)
        if own == nil { frame.elapsed = look.seconds }
        if !isRunning {
            (frame.recordsPerSecond, frame.bytesPerSecond, frame.splitBytesPerSecond) = (nil, nil, nil)
            frame.secondsLeft = nil
        }
        return frame
    }

    private var phase: ImportProgress.Phase {
        guard look.job != nil else { return .starting }
        if look.state == .finished { return .finished }
        guard look.hasModel else { return .inferring }
        return look.totalBytes.map { look.bytes >= $0 } ?? false ? .finishing : .importing
    }

    /// What the import does, in a word or a few.
    var stateText: String {
        if let own, look.job == nil || look.state == .running {
            return own.phase.rawValue
        }
        guard look.job != nil else { return "waiting" }
        return switch look.state {
        case .running: phase.rawValue
        case .interrupted: "interrupted"
        case .finished: "finished"
        case .failed: "failed"
        }
    }
}

/// How fast an import has been, second by second.
struct WatchHistory: Sendable, Equatable {
    /// So many seconds are kept.
    private static let limit = 600

    /// Records per second, the newest last.
    private(set) var rates: [Double] = []
    private var last: (time: Double, records: Int64)?

    /// Takes the records done at a time, in seconds; seconds that have passed are added.
    mutating func add(records: Int64, at time: Double) {
        guard let last, records >= last.records else {
            self.last = (time, records)
            return
        }
        let span = time - last.time
        guard span >= 1 else { return }
        let rate = Double(records - last.records) / span
        // A watcher that was held up knows the average only.
        rates += Array(repeating: rate, count: min(Int(span), Self.limit))
        if rates.count > Self.limit { rates.removeFirst(rates.count - Self.limit) }
        self.last = (time, records)
    }

    static func == (left: Self, right: Self) -> Bool { left.rates == right.rates }
}
