/// What has become of a reject.
public enum RejectState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Its record is not in the store.
    case open
    /// A retry has imported its record.
    case repaired
    /// A retry's own: it stands for the reject whose record was tried in vain, which stays open.
    case retried
    /// Its job is undone; where that is undone, it is open again.
    case undone
}

/// Which rejects are meant.
public struct RejectSelection: Sendable, Hashable {
    /// Only those of one job; nil for all jobs.
    public var job: Int64?
    /// Only those of one entity, by its name; nil for all entities.
    public var entity: String?
    /// Whether those that are not open are meant too.
    public var includesSettled: Bool

    /// The open rejects, of one job or entity where these are given.
    public init(job: Int64? = nil, entity: String? = nil, includesSettled: Bool = false) {
        self.job = job
        self.entity = entity
        self.includesSettled = includesSettled
    }
}
