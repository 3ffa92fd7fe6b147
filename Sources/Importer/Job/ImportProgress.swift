import Synchronization

/// How far an import has come, for observers on other threads.
public final class ImportProgress: Sendable {
    /// One look at it.
    ///
    /// Counts are of this job, earlier runs of it included.
    public struct Snapshot: Sendable, Hashable {
        /// What the import is doing now.
        public var phase: Phase = .starting
        /// The bytes of all sources, decompressed; nil where that cannot be known (standard input, compressed files).
        public var totalBytes: Int64?
        /// Bytes of the sources that have been cut into chunks.
        public var splitBytes: Int64 = 0
        /// Records that have been cut into chunks.
        public var splitRecords: Int64 = 0
        /// Bytes of the sources whose records are committed (in the phase `inferring`: have been looked at).
        public var importedBytes: Int64 = 0
        /// Records that are committed, rejects included.
        public var importedRecords: Int64 = 0
        /// Rejects that are committed.
        public var rejects: Int64 = 0
        /// Bytes and records that earlier runs of this job had already committed when this one began.
        public var resumedBytes: Int64 = 0
        /// Records that earlier runs of this job had already committed when this one began.
        public var resumedRecords: Int64 = 0
        /// What has been decided and should be said once, in order: `records: $.features[*] (found in the first MiB)`.
        public var messages: [String] = []

        /// Starts with nothing.
        public init() {}
    }

    /// The phases of an import, in their order.
    public enum Phase: String, Sendable, Hashable {
        case starting
        /// Splitting and inferring a model, without importing yet.
        case inferring
        /// Splitting and importing.
        case importing
        case finishing
        case finished
    }

    private let state = Mutex(Snapshot())

    /// Starts with nothing.
    public init() {}

    /// How far it is now.
    public var snapshot: Snapshot { state.withLock { $0 } }

    /// Changes the counts.
    func update(_ change: (inout Snapshot) -> Void) {
        state.withLock { change(&$0) }
    }
}
