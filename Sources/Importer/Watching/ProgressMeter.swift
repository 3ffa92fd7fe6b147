import ImportEngine

/// Works out rates from a sliding window, so that they tell how it goes now, and only of what this run did.
package struct ProgressMeter {
    private struct Sample {
        let time: Double
        let bytes: Int64
        let records: Int64
        let splitBytes: Int64
    }

    /// In seconds.
    private static let window = 5.0
    /// Rates over less time than this, in seconds, jump about.
    private static let leastSpan = 0.4

    private let purpose: ProgressFrame.Purpose
    private var samples: [Sample] = []
    private var phase = ImportProgress.Phase.starting

    /// For a run of this purpose.
    package init(purpose: ProgressFrame.Purpose) {
        self.purpose = purpose
    }

    private var splitsOnly: Bool { purpose == .splitting }

    /// Takes a look at the time `elapsed`, in seconds since this run began; each later than the one before.
    package mutating func add(_ snapshot: ImportProgress.Snapshot, elapsed: Double) -> ProgressFrame {
        let sample = Sample(
            time: elapsed,
            bytes: splitsOnly ? snapshot.splitBytes : snapshot.importedBytes - snapshot.resumedBytes,
            records: splitsOnly ? snapshot.splitRecords : snapshot.importedRecords - snapshot.resumedRecords,
            splitBytes: snapshot.splitBytes
        )
        // What a resume finds done already, and a new pass over the source, must not look like speed.
        let isBackwards = samples.last.map { $0.bytes > sample.bytes || $0.splitBytes > sample.splitBytes } ?? false
        if snapshot.phase != phase || isBackwards { samples.removeAll(keepingCapacity: true) }
        phase = snapshot.phase
        samples.append(sample)
        // The sample at the window's far edge stays, so that the window is never shorter than it should be.
        while samples.count > 2, samples[1].time <= elapsed - Self.window { samples.removeFirst() }

        var frame = ProgressFrame(snapshot: snapshot, work: work(in: snapshot.phase), elapsed: elapsed)
        if let seconds = snapshot.seconds { frame.elapsed = seconds }
        guard let first = samples.first, sample.time - first.time >= Self.leastSpan else { return frame }
        let span = sample.time - first.time
        frame.recordsPerSecond = Double(sample.records - first.records) / span
        frame.bytesPerSecond = Double(sample.bytes - first.bytes) / span
        frame.splitBytesPerSecond = Double(sample.splitBytes - first.splitBytes) / span
        frame.secondsLeft = secondsLeft(snapshot, bytesPerSecond: frame.bytesPerSecond ?? 0)
        return frame
    }

    private func work(in phase: ImportProgress.Phase) -> ProgressFrame.Work? {
        switch purpose {
        case .splitting: nil
        case .inferring: .infer
        case .applying: .apply
        case .importing: phase == .inferring ? .infer : .import
        }
    }

    private func secondsLeft(_ snapshot: ImportProgress.Snapshot, bytesPerSecond: Double) -> Double? {
        guard let total = snapshot.totalBytes, bytesPerSecond > 0 else { return nil }
        let done = splitsOnly ? snapshot.splitBytes : snapshot.importedBytes
        return Double(max(total - done, 0)) / bytesPerSecond
    }
}
