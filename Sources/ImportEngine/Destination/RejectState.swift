/// The state of a reject.
public enum RejectState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Its record is not in the store.
    case open
    /// A retry has imported its record.
    case repaired
    /// A reject of a retry; the reject whose record was tried again stays open.
    case retried
    /// Its job is undone; if the undo is undone, it is open again.
    case undone
}

/// Selects rejects of a store.
public struct RejectSelection: Sendable, Hashable {
    /// Only those of one job; nil for all jobs.
    public var job: Int64?
    /// Only those of one entity, by its name; nil for all entities.
    public var entity: String?
    /// True if rejects that are not open are selected, too.
    public var includesSettled: Bool

    /// Selects the open rejects, optionally of one job or entity.
    public init(job: Int64? = nil, entity: String? = nil, includesSettled: Bool = false) {
        self.job = job
        self.entity = entity
        self.includesSettled = includesSettled
    }
}
