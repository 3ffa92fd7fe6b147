import ImportEngine

/// Progress as lines of JSON have it, for programs; what is not known is left out.
package struct ProgressJSON: Encodable {
    let state: String?
    let phase: String
    let elapsed: Double
    let totalBytes: Int64?
    let splitBytes: Int64
    let splitRecords: Int64
    let bytes: Int64
    let records: Int64
    let rejects: Int64
    let recordsPerSecond: Double?
    let bytesPerSecond: Double?
    let secondsLeft: Double?
    let entities: [String: ImportReport.Counts]?

    /// - Parameter state: where the job is, for anyone who watches it from outside.
    package init(_ frame: ProgressFrame, state: String?, entities: [String: ImportReport.Counts]?) {
        self.state = state
        self.entities = entities
        let snapshot = frame.snapshot
        phase = snapshot.phase.rawValue
        elapsed = Self.rounded(frame.elapsed)
        totalBytes = snapshot.totalBytes
        splitBytes = snapshot.splitBytes
        splitRecords = snapshot.splitRecords
        bytes = snapshot.importedBytes
        records = snapshot.importedRecords
        rejects = snapshot.rejects
        recordsPerSecond = frame.recordsPerSecond.map(Self.rounded)
        bytesPerSecond = frame.bytesPerSecond.map(Self.rounded)
        secondsLeft = frame.secondsLeft.map(Self.rounded)
    }

    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }

    enum CodingKeys: String, CodingKey {
        case state, phase, elapsed
        case totalBytes = "total_bytes"
        case splitBytes = "split_bytes"
        case splitRecords = "split_records"
        case bytes, records, rejects
        case recordsPerSecond = "records_per_second"
        case bytesPerSecond = "bytes_per_second"
        case secondsLeft = "seconds_left"
        case entities
    }
}
