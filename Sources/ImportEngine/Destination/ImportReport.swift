import ImportModel

/// The report of a job so far, with the keys that scripts rely on.
public struct ImportReport: Sendable, Hashable, Codable {
    /// The state of a job.
    public enum State: String, Sendable, Hashable, Codable {
        case running
        case interrupted
        case finished
        case failed
    }

    /// Reasons for which a mirror has deleted nothing.
    public enum WithheldReason: String, Sendable, Hashable, Codable, CaseIterable {
        /// The sources have no record of an entity that has objects in scope.
        case empty
        /// The identifier of some reject cannot be read.
        case rejects
        /// More objects of one entity would be deleted than allowed.
        case limit
    }

    /// Counts of one entity; read = inserted + updated + unchanged + ignored + rejected.
    public struct Counts: Sendable, Hashable, Codable {
        /// The number of records read, including rejects.
        public var recordsRead: Int64 = 0
        /// The number of records that became new objects.
        public var inserted: Int64 = 0
        /// The number of records that changed an object.
        public var updated: Int64 = 0
        /// The number of records whose object had all their values already.
        public var unchanged: Int64 = 0
        /// The number of records left out, as their object existed already.
        public var ignored: Int64 = 0
        /// The number of rejected records.
        public var rejected: Int64 = 0
        /// The number of nested objects and references in accepted records, of any entity; = nestedInserted + nestedUpdated +
        /// nestedUnchanged + nestedIgnored + linked.
        ///
        /// This count and those below are nil if no entity of the job relates to another.
        public var nested: Int64?
        /// The number of new nested objects.
        public var nestedInserted: Int64?
        /// The number of nested objects that changed a stored one.
        public var nestedUpdated: Int64?
        /// The number of nested objects that were stored with all their values already.
        public var nestedUnchanged: Int64?
        /// The number of nested objects left out, by the `onConflict` of their relationship.
        public var nestedIgnored: Int64?
        /// The number of references by an identifier alone.
        public var linked: Int64?
        /// The number of objects that were inserted for references to them.
        public var stubs: Int64?
        /// The number of deleted objects: surplus ones of a list without identifiers, orphans, those that the sources of a mirror no longer
        /// have, and those that a delete rule deletes with them.
        public var deleted: Int64?

        /// Creates counts of zero.
        public init() {}

        package enum CodingKeys: String, CodingKey {
            case recordsRead = "records_read"
            case inserted, updated, unchanged, ignored, rejected, nested
            case nestedInserted = "nested_inserted"
            case nestedUpdated = "nested_updated"
            case nestedUnchanged = "nested_unchanged"
            case nestedIgnored = "nested_ignored"
            case linked, stubs, deleted
        }
    }

    /// The state of the job.
    public var state: State
    /// The job's number in the store, from 1.
    public var job: Int64
    /// The number of records read, including rejects.
    public var recordsRead: Int64
    /// The number of records that became new objects.
    public var inserted: Int64
    /// The number of records that changed an object.
    public var updated: Int64
    /// The number of records whose object had all their values already.
    public var unchanged: Int64
    /// The number of records left out, as their object existed already.
    public var ignored: Int64
    /// The number of rejected records.
    public var rejected: Int64
    /// The number of rejects that were repaired and imported since; of a retry, those that it has repaired.
    public var repaired: Int64 = 0
    /// The number of chunks that are cut.
    public var chunks = 0
    /// The number of chunks that are committed.
    public var chunksDone = 0
    /// The number of bytes of the sources whose records are committed, decompressed.
    public var bytes: Int64 = 0
    /// The time spent in all runs of the job, in seconds.
    public var seconds: Double = 0
    /// Counts per entity name.
    public var entities: [String: Counts]
    /// The number of losses and changes by entity, attribute (key path) and kind.
    public var ledger: [String: [String: [String: Int64]]] = [:]
    /// The number of dangling references by relationship (`order.customer`); nil if no entity relates to another.
    public var unresolved: [String: Int64]?
    /// The errors of records, in the order of the first ones.
    public var errors: [ErrorGroup] = []
    /// The sources, as passed to the import.
    public var sources: [String]
    /// The reason for which the job failed; or, if it is finished, for which nothing was accepted.
    public var message: String?
    /// The job that this job undoes; nil if it is not an undo.
    public var undoes: Int64?
    /// The job that has undone this job; nil if there is none, or it is undone itself.
    public var undoneBy: Int64?
    /// The number of changes of a patch or an undo that have deleted an object, or of objects that a mirror has deleted.
    ///
    /// For a patch or an undo, read = inserted + updated + deleted + unchanged + ignored + rejected. A mirror also counts objects that a
    /// delete rule deletes with others. Nil for any other job.
    public var deleted: Int64?
    /// The number of objects that a mirror has kept although its sources no longer have them; nil for any other job.
    public var withheld: Int64?
    /// The reason for which they are kept; nil if none are.
    public var withheldReason: WithheldReason?
    /// The first 20 objects that the sources of a mirror no longer have, deleted or kept; nil for any other job.
    public var deletedList: [MirroredObject]?
    /// The number of conflicts, by attribute or object, between the store and the old values of changes; nil if the job is not a patch or
    /// an undo.
    public var conflicts: Int64?
    /// The first 1,000 of these conflicts; nil if the job is not a patch or an undo.
    public var conflictList: [PatchConflict]?

    /// A report whose counts are those of its entities together.
    package init(state: State, job: Int64, entities: [String: Counts], sources: [String]) {
        let total = entities.values.reduce(into: Counts()) { $0.add($1) }
        self.state = state
        self.job = job
        recordsRead = total.recordsRead
        inserted = total.inserted
        updated = total.updated
        unchanged = total.unchanged
        ignored = total.ignored
        rejected = total.rejected
        self.entities = entities
        self.sources = sources
    }

    /// True if the job is finished but has accepted no record, or none of a record path.
    ///
    /// Every record was rejected and none was repaired since, or nothing is at a record path. The command then ends with 65.
    public var tookNothing: Bool { state == .finished && message != nil }

    /// What a finished job says whose records were all rejected.
    package static let allRejected = "every record was rejected"
    /// What a job says that was undone before it was finished.
    package static let ended = "it was undone before it was finished"

    package enum CodingKeys: String, CodingKey {
        case state, job
        case recordsRead = "records_read"
        case inserted, updated, unchanged, ignored, rejected, repaired, chunks
        case chunksDone = "chunks_done"
        case bytes, seconds, entities, ledger, unresolved, errors, sources, message, undoes, deleted, withheld,
            conflicts
        case undoneBy = "undone_by"
        case withheldReason = "withheld_reason"
        case deletedList = "deleted_list"
        case conflictList = "conflict_list"
    }
}

extension ImportReport {
    // More than seven parameters, as it is a plain value: one for each property.
    /// The report of a job, whose counts are those of its entities together.
    ///
    /// - Parameter repaired: rejects that were repaired since; of a retry, those that it has repaired.
    package init(
        of job: StoredJob,
        _ state: State,
        repaired: Int64,
        entities: [String: Counts],
        chunks: Int,
        chunksDone: Int,
        bytes: Int64,
        seconds: Double,
        ledger: [String: [String: [String: Int64]]],
        unresolved: [String: Int64]?,
        errors: [ErrorGroup]
    ) {
        self.init(state: state, job: job.id, entities: entities, sources: job.sources.map(\.description.name))
        self.repaired = repaired
        self.chunks = chunks
        self.chunksDone = chunksDone
        self.bytes = bytes
        self.seconds = seconds
        self.ledger = ledger
        self.unresolved = unresolved
        self.errors = errors
        let tookNothing =
            job.change == nil && state == .finished && recordsRead > 0 && rejected == recordsRead && repaired == 0
        message = job.message ?? (tookNothing ? Self.allRejected : nil)
    }
}
