import ImportModel

/// What an import has done so far, with the keys that scripts rely on.
public struct ImportReport: Sendable, Hashable, Codable {
    /// Where a job is.
    public enum State: String, Sendable, Hashable, Codable {
        case running
        case interrupted
        case finished
        case failed
    }

    /// Why a mirror has deleted nothing.
    public enum WithheldReason: String, Sendable, Hashable, Codable, CaseIterable {
        /// The sources have no record of an entity that has objects in scope.
        case empty
        /// Of some reject nobody can tell which object it is.
        case rejects
        /// More objects of one entity would go than may.
        case limit
    }

    /// Records of one entity; read = inserted + updated + unchanged + ignored + rejected.
    public struct Counts: Sendable, Hashable, Codable {
        /// Records read, rejects included.
        public var recordsRead: Int64 = 0
        /// Records that became new objects.
        public var inserted: Int64 = 0
        /// Records that changed an object.
        public var updated: Int64 = 0
        /// Records whose object had all their values already.
        public var unchanged: Int64 = 0
        /// Records left out as their object existed already.
        public var ignored: Int64 = 0
        /// Records that were not accepted.
        public var rejected: Int64 = 0
        /// Nested objects and references in the records that were accepted, of any entity; = nestedInserted + nestedUpdated +
        /// nestedUnchanged + nestedIgnored + linked.
        ///
        /// This and what follows is nil where no entity of the job relates to another.
        public var nested: Int64?
        /// Nested objects that are new.
        public var nestedInserted: Int64?
        /// Nested objects that changed a stored one.
        public var nestedUpdated: Int64?
        /// Nested objects that were stored with all their values already.
        public var nestedUnchanged: Int64?
        /// Nested objects left out, as their relationship says.
        public var nestedIgnored: Int64?
        /// References without more than an identifier.
        public var linked: Int64?
        /// Objects that were made for references to them.
        public var stubs: Int64?
        /// Objects that are gone: surplus ones of a list without identifiers, orphans, those that the sources of a mirror no longer
        /// have, and what a delete rule takes with them.
        public var deleted: Int64?

        /// Starts with nothing.
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

    /// Where the job is.
    public var state: State
    /// The job's number in the store, from 1.
    public var job: Int64
    /// Records read, rejects included.
    public var recordsRead: Int64
    /// Records that became new objects.
    public var inserted: Int64
    /// Records that changed an object.
    public var updated: Int64
    /// Records whose object had all their values already.
    public var unchanged: Int64
    /// Records left out as their object existed already.
    public var ignored: Int64
    /// Records that were not accepted.
    public var rejected: Int64
    /// Rejects that were repaired and imported since; of a retry, those that it has repaired.
    public var repaired: Int64 = 0
    /// Chunks that are cut.
    public var chunks = 0
    /// Chunks that are committed.
    public var chunksDone = 0
    /// Bytes of the sources whose records are committed, decompressed.
    public var bytes: Int64 = 0
    /// Time spent in all runs of the job.
    public var seconds: Double = 0
    /// Counts per entity name.
    public var entities: [String: Counts]
    /// Entity, attribute (key path), kind of loss or change: how often.
    public var ledger: [String: [String: [String: Int64]]] = [:]
    /// Relationship (`order.customer`): how many references lead to objects that are not there; nil where no entity relates to
    /// another.
    public var unresolved: [String: Int64]?
    /// What was wrong with records, in the order in which it first came.
    public var errors: [ErrorGroup] = []
    /// The sources, as they were given.
    public var sources: [String]
    /// What stopped the job, where it failed; why nothing was accepted, where it is finished.
    public var message: String?
    /// The job that it undoes; nil where it is no undo.
    public var undoes: Int64?
    /// The job that has undone it; nil where none has, or that one is undone itself.
    public var undoneBy: Int64?
    /// Changes of a patch, or of what undoes a job, that have deleted an object; objects that the sources of a mirror no longer have.
    ///
    /// Of a patch or an undo, read = inserted + updated + deleted + unchanged + ignored + rejected. Of a mirror, those are counted
    /// that a delete rule takes with others, too. Nil for any other job.
    public var deleted: Int64?
    /// How many objects of a mirror are kept though the sources no longer have them; nil for any other job.
    public var withheld: Int64?
    /// Why they are kept; nil where none are.
    public var withheldReason: WithheldReason?
    /// The first 20 objects that the sources of a mirror no longer have, deleted or withheld; nil for any other job.
    public var deletedList: [MirroredObject]?
    /// How often the store was not what the changes lead from: conflicts, by attribute or object; nil but for a patch or what undoes
    /// one, as is the next.
    public var conflicts: Int64?
    /// The first 1,000 of these conflicts.
    public var conflictList: [PatchConflict]?

    package init(
        state: State,
        job: Int64,
        recordsRead: Int64,
        inserted: Int64,
        updated: Int64,
        unchanged: Int64,
        ignored: Int64,
        rejected: Int64,
        repaired: Int64 = 0,
        chunks: Int = 0,
        chunksDone: Int = 0,
        bytes: Int64 = 0,
        seconds: Double = 0,
        entities: [String: Counts],
        ledger: [String: [String: [String: Int64]]] = [:],
        unresolved: [String: Int64]? = nil,
        errors: [ErrorGroup] = [],
        sources: [String],
        message: String? = nil,
        undoes: Int64? = nil,
        undoneBy: Int64? = nil,
        deleted: Int64? = nil,
        withheld: Int64? = nil,
        withheldReason: WithheldReason? = nil,
        deletedList: [MirroredObject]? = nil,
        conflicts: Int64? = nil,
        conflictList: [PatchConflict]? = nil
    ) {
        self.state = state
        self.job = job
        self.recordsRead = recordsRead
        self.inserted = inserted
        self.updated = updated
        self.unchanged = unchanged
        self.ignored = ignored
        self.rejected = rejected
        self.repaired = repaired
        self.chunks = chunks
        self.chunksDone = chunksDone
        self.bytes = bytes
        self.seconds = seconds
        self.entities = entities
        self.ledger = ledger
        self.unresolved = unresolved
        self.errors = errors
        self.sources = sources
        self.message = message
        self.undoes = undoes
        self.undoneBy = undoneBy
        self.deleted = deleted
        self.withheld = withheld
        self.withheldReason = withheldReason
        self.deletedList = deletedList
        self.conflicts = conflicts
        self.conflictList = conflictList
    }

    /// Whether the job is finished and accepted nothing, or nothing of a record path, though something was to be accepted.
    ///
    /// Every record was rejected and none repaired since, or nothing is at a record path. The command then ends with 65.
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
        let total = entities.values.reduce(into: Counts()) { $0.add($1) }
        let tookNothing =
            job.change == nil && state == .finished && total.recordsRead > 0 && total.rejected == total.recordsRead
            && repaired == 0
        self.init(
            state: state,
            job: job.id,
            recordsRead: total.recordsRead,
            inserted: total.inserted,
            updated: total.updated,
            unchanged: total.unchanged,
            ignored: total.ignored,
            rejected: total.rejected,
            repaired: repaired,
            chunks: chunks,
            chunksDone: chunksDone,
            bytes: bytes,
            seconds: seconds,
            entities: entities,
            ledger: ledger,
            unresolved: unresolved,
            errors: errors,
            sources: job.sources.map(\.description.name),
            message: job.message ?? (tookNothing ? Self.allRejected : nil)
        )
    }
}
