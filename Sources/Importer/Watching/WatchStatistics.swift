import ImportEngine

/// What a watcher knows of the import: the store's look, put as the progress of an import.
package struct WatchStatistics: Sendable, Equatable {
    /// What the store says.
    package var look: StoreSnapshot
    /// In the process of the import its own, which knows more than the store.
    package var own: ImportProgress.Snapshot?

    /// Of a look, and what the import's own process knows.
    package init(look: StoreSnapshot = StoreSnapshot(), own: ImportProgress.Snapshot? = nil) {
        self.look = look
        self.own = own
    }

    /// How far the import is.
    package var snapshot: ImportProgress.Snapshot {
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

    /// True if the import continues just now.
    package var isRunning: Bool { own != nil || look.job != nil && look.state == .running }

    /// What `meter` makes of them, `elapsed` seconds after its beginning.
    package func frame(_ meter: inout ProgressMeter, elapsed: Double) -> ProgressFrame {
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
    package var stateText: String {
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
