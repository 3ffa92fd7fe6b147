import ImportModel

/// What an import has done so far, with the keys that scripts rely on (DESIGN §5).
public struct ImportReport: Sendable, Hashable, Codable {
    /// Where a job stands.
    public enum State: String, Sendable, Hashable, Codable {
        case running
        case interrupted
        case finished
        case failed
    }

    /// Records of one entity; read = inserted + updated + unchanged + ignored + rejected.
    public struct Counts: Sendable, Hashable, Codable {
        public var recordsRead: Int64 = 0
        public var inserted: Int64 = 0
        public var updated: Int64 = 0
        public var unchanged: Int64 = 0
        public var ignored: Int64 = 0
        public var rejected: Int64 = 0

        public init() {}

        enum CodingKeys: String, CodingKey {
            case recordsRead = "records_read"
            case inserted, updated, unchanged, ignored, rejected
        }
    }

    public var state: State
    public var job: Int64
    public var recordsRead: Int64
    public var inserted: Int64
    public var updated: Int64
    public var unchanged: Int64
    public var ignored: Int64
    public var rejected: Int64
    public var repaired: Int64
    public var chunks: Int
    public var chunksDone: Int
    /// Bytes of the sources whose records are committed, decompressed.
    public var bytes: Int64
    /// Time spent in all runs of the job.
    public var seconds: Double
    /// Counts per entity name.
    public var entities: [String: Counts]
    /// Entity, attribute (key path), kind of loss or change: how often.
    public var ledger: [String: [String: [String: Int64]]]
    public var sources: [String]
    /// What stopped the job, where it failed.
    public var message: String?

    enum CodingKeys: String, CodingKey {
        case state, job
        case recordsRead = "records_read"
        case inserted, updated, unchanged, ignored, rejected, repaired, chunks
        case chunksDone = "chunks_done"
        case bytes, seconds, entities, ledger, sources, message
    }
}
