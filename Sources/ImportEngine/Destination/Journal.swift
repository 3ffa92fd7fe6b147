import ImportModel
import ImportSources

/// What is read of a store's bookkeeping: jobs, markers, chunks that are committed, counts.
///
/// A store that does not exist has none of it. All throw `ImportError`: `.io` where the store is damaged or cannot be read.
package protocol JournalReader {
    // MARK: Jobs

    /// All jobs that the store ever had, in the order in which they were started.
    func jobs() throws -> [StoredJob]

    /// True if there is any job.
    func hasJobs() throws -> Bool

    /// The job with a number; nil where there is none.
    func job(_ id: Int64) throws -> StoredJob?

    /// The newest job; nil where there is none.
    func lastJob() throws -> StoredJob?

    /// The jobs that are not finished, in the order in which they were started.
    func unfinishedJobs() throws -> [StoredJob]

    /// The undo that takes back what a job has done, and is not undone itself; nil where none does.
    func undo(of job: Int64) throws -> StoredJob?

    /// Goes over the jobs, the newest first, until `body` returns false.
    func forEachJob(_ body: (StoredJob) throws -> Bool) throws

    /// Goes over the jobs that have one of these sources, the newest first, until `body` returns false.
    ///
    /// - Parameter sources: those without a path have no such jobs.
    func forEachJob(withOneOf sources: [SourceDescription], _ body: (StoredJob) throws -> Bool) throws

    /// Goes over the jobs that have a source that began as one of these does, the newest first, until `body` returns false.
    ///
    /// - Parameter hashes: fingerprints of sources, and hashes of their first lines (`SourceDescription.beginnings`).
    func forEachJob(beginningAsOneOf hashes: Set<String>, _ body: (StoredJob) throws -> Bool) throws

    /// True if a stream that began with these bytes was imported to its end.
    ///
    /// - Parameter fingerprint: as sources have it.
    func hasFinishedStream(_ fingerprint: String) throws -> Bool

    /// True if a job with this token is finished, and its chunks are its own.
    func isFinished(token: String) throws -> Bool

    /// Where imports that are not undone have found records of these entities, the newest first, and how their sources were read.
    ///
    /// - Parameters:
    ///   - entities: their names in lower case.
    ///   - job: one that does not count; nil for none.
    func knownRecords(of entities: Set<String>, excluding job: Int64?) throws -> [String: KnownRecords]

    /// What is left of the objects that a finished job has brought.
    ///
    /// - Parameter entities: the names of those that count; nil for all.
    func presence(of job: StoredJob, entities: [String]?) throws -> JobPresence

    /// Where a job is; at its beginning where nothing is committed.
    func marker(of job: StoredJob) throws -> Marker

    /// What is committed of one of a job's sources, by its index in the job.
    ///
    /// - Parameter byte: where the first chunk that counts begins, or one that begins later.
    func committed(of job: StoredJob, source: Int, from byte: Int64) throws -> CommittedSource

    /// Records read and rejected, of all entities.
    func recordCounts(of job: StoredJob) throws -> (read: Int64, rejected: Int64)

    /// The entities of which records were read.
    func readEntities(of job: StoredJob) throws -> Set<String>

    /// The names under which values outside of records are counted.
    func outsideNames(of job: StoredJob) throws -> [String]

    /// The record paths that match nothing in any source that has them, not even an empty collection.
    func unfoundPaths(of job: StoredJob) throws -> [String]

    /// What was wrong with those of a job's sources that were not read to their ends, by their names.
    func badSources(of job: StoredJob) throws -> [String]

    /// The indexes that a job has been asked for last.
    func indexes(of job: StoredJob) throws -> StoreIndexes

    /// The indexes of a job that are not built, as a value is too long for them.
    func indexesLeftOut(of job: StoredJob) throws -> [(entity: String, attributes: String)]

    /// What is to be said of rows that a job has inserted into tables of others whose foreign keys lead nowhere.
    func wordsOfUncheckedKeys(of job: StoredJob) throws -> [MessageText]

    // MARK: Files

    /// The chunk directories and repair files that imports of this store have made.
    func files() throws -> [RecordedFile]

    /// Those of them that nobody needs any more.
    func leftFiles() throws -> [RecordedFile]

    // MARK: Tables

    /// True if the store has a table of this name.
    func hasTable(_ name: String) throws -> Bool

    /// The tables that no import has made, where sources may have their names.
    func theirTables() throws -> [String]

    /// Makes sure that entities may have tables of these names.
    ///
    /// - Throws: `ImportError` with `.usage`, also where something else has one of the names.
    func checkTables(_ names: [String]) throws

    /// The entities whose tables have identifiers.
    ///
    /// - Parameter job: one that does not count; nil for none.
    func identifiedEntities(excluding job: Int64?) throws -> [EntityDescription]

    /// What the store has of a job's entities, by their names, for a job whose model is inferred.
    func continuedEntities(of job: StoredJob) throws -> [String: ExistingEntity]

    // MARK: Retries

    /// True if there is an open reject that is whole and that none of these retries has tried.
    func hasUntried(_ selection: RejectSelection, besidesThoseOf retries: [Int64]) throws -> Bool

    /// Calls `body` with stored rejects that are whole, as lines of a repair file: with one or more whole lines at a time.
    ///
    /// - Returns: how many were left out, as only their records' first bytes are kept.
    func forEachRepairLine(_ selection: RejectSelection, _ body: (ArraySlice<UInt8>) throws -> Void) throws -> Int64

    /// Reads the lines of a repair file, and finds the reject of each.
    ///
    /// - Parameters:
    ///   - name: the file's, for messages.
    ///   - lines: calls its argument with the file's bytes, in any portions; what that throws ends it.
    /// - Throws: `ImportError` with `.badInput` that names the first lines that cannot be retried, and what `lines` throws.
    func retryPlan(
        _ name: String,
        maxRecordBytes: Int,
        _ lines: (_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Void
    ) throws -> any RetryPlan
}

extension JournalReader {
    /// All that is committed of one of a job's sources.
    package func committed(of job: StoredJob, source: Int) throws -> CommittedSource {
        try committed(of: job, source: source, from: 0)
    }

    package func presence(of job: StoredJob, entities: [String]?) throws -> JobPresence {
        try job.tables.isEmpty || job.tables.contains(where: hasTable) ? .whole : .gone
    }

    package func indexesLeftOut(of job: StoredJob) throws -> [(entity: String, attributes: String)] { [] }

    package func wordsOfUncheckedKeys(of job: StoredJob) throws -> [MessageText] { [] }

    /// What is to be said of them.
    package func wordsOfIndexesLeftOut(of job: StoredJob) throws -> [MessageText] {
        try indexesLeftOut(of: job).map { "\($0.entity): no index on \($0.attributes): a value is too long for one" }
    }
}

/// A store's bookkeeping, open for writing under the store's lock.
///
/// Each call is one transaction, all or nothing, and none leaves a job in a state that a resume could not go on from. What
/// counts a batch is not here: a `BatchWriter` commits it with the rows.
package protocol Journal: JournalReader {
    // MARK: Jobs

    /// Makes what a store needs to keep of jobs.
    func bringUp() throws

    /// Adds a job.
    ///
    /// - Returns: the job with its number, and with its model where one is given.
    /// - Throws: `ImportError`, also where the store does not accept the model.
    func begin(_ job: StoredJob, _ beginning: JobStart) throws -> JobModelResult

    /// Prepares the store for a job that continues.
    ///
    /// - Parameter indexes: to be built at its end; those that it was asked for before where there are none.
    /// - Returns: the indexes that it was asked for before.
    func resume(_ job: StoredJob, building indexes: StoreIndexes) throws -> StoreIndexes

    /// Gives a job the model that is inferred, and the store the model's tables.
    ///
    /// - Parameters:
    ///   - isFinal: whether it is inferred from all records.
    ///   - infer: makes the model of what the store has of the job's entities, by their names, and of whether a new table can have
    ///     a name. A model that the job has already goes before, and the rows that came with it; all of it or nothing is done.
    /// - Throws: `ImportError`: `.usage` or `.badInput` where the store does not accept the model; what `infer` throws.
    func adopt(
        by job: StoredJob,
        _ transformers: TransformerRegistry,
        isFinal: Bool,
        _ infer: ([String: ExistingEntity], _ isTaken: @escaping (String) throws -> Bool) throws -> ModelDescription
    ) throws -> JobModelResult

    /// Takes over what is known of a job's sources now, after they were found to be the same up to the marker.
    ///
    /// - Parameter retry: what the lines after the marker repair; nil where it is as it was.
    /// - Returns: the job, and that all is to be looked at again where rows are taken back.
    func refresh(
        _ job: StoredJob,
        _ sources: [SourceDescription],
        retry: (any RetryPlan)?
    ) throws -> (job: StoredJob, merge: MergeNotification?)

    /// Removes a job: the rows that it inserted go, merges that it made stay.
    ///
    /// - Returns: that all is to be looked at again; nil where it had no model yet.
    /// - Throws: `ImportError` where the rows that it inserted cannot be told from others.
    func remove(_ job: StoredJob) throws -> MergeNotification?

    /// Keeps what has become of sources of earlier jobs.
    func update(_ sources: [SourceUpdate]) throws

    /// Makes a finished job a part of an earlier one, whose sources have grown, or which has more sources by that.
    ///
    /// - Parameter first: the earlier one's number; nothing was imported between them.
    /// - Returns: false where what is kept of one of them is its own, and both stay.
    func join(_ job: StoredJob, to first: Int64) throws -> Bool

    // MARK: Their states

    /// Notes that a job is running.
    ///
    /// - Parameter seconds: the time that it has taken up to now, in all of its runs; here and in the following ones.
    func start(_ job: StoredJob, seconds: Double) throws -> StoredJob

    /// Notes that a job is interrupted or has failed; what it has added to tables that nothing came into goes.
    func stop(_ job: StoredJob, _ state: ImportReport.State, _ message: String, seconds: Double) throws

    /// Puts a job back to what it was before a run that cannot be done.
    func putBack(
        _ job: StoredJob,
        _ state: ImportReport.State,
        _ message: String?,
        seconds: Double,
        _ indexes: StoreIndexes
    )
        throws

    /// Notes that a job is finished.
    ///
    /// - Parameters:
    ///   - message: why nothing was accepted; nil where something was.
    ///   - keepsChunks: whether its chunks stay, and are the person's from now on.
    /// - Returns: that it is finished, for those who follow.
    func finish(_ job: StoredJob, message: String?, seconds: Double, keepsChunks: Bool) throws -> MergeNotification

    /// Finds records whose references lead to nothing though their relationships ask for more, when all records are there.
    ///
    /// The store is then what it was when the job began, and the job at its beginning, but that these records are rejects.
    ///
    /// - Parameter interruption: ends it as if it had not begun.
    /// - Returns: that all is to be looked at again; nil where there are no such records.
    func takeBackUnresolved(_ job: StoredJob, _ interruption: Interruption) throws -> MergeNotification?

    /// Brings the store to what taking one record after the other would have given, and builds the job's indexes.
    ///
    /// Done again, the outcome is the same.
    ///
    /// - Parameters:
    ///   - opener: opens sources, of which records may be read once more.
    ///   - interruption: ends it as if it had not begun.
    /// - Returns: what it has changed; nil for nothing.
    func settle(_ job: StoredJob, _ opener: SourceOpener, _ interruption: Interruption) throws -> MergeNotification?

    /// Deletes the objects in scope that no record of a job had, or withholds that and says why.
    ///
    /// Done again, it changes nothing more.
    ///
    /// - Parameters:
    ///   - options: those of the job, or others where it is finished and is to continue.
    ///   - interruption: ends it as if it had not begun.
    /// - Returns: what it has changed; nil for nothing.
    /// - Throws: `ImportError` with `.badInput` where another job has written to the entities since the job was finished.
    func mirror(
        _ job: StoredJob,
        _ options: MirrorOptions,
        _ transformers: TransformerRegistry,
        _ interruption: Interruption
    ) throws -> MergeNotification?

    /// Deletes what earlier versions of a job's sources have inserted, where these are to be replaced.
    ///
    /// Done again, it changes nothing more.
    ///
    /// - Parameter interruption: ends it as if it had not begun.
    /// - Returns: what it has changed; nil for nothing.
    func replace(_ job: StoredJob, _ interruption: Interruption) throws -> MergeNotification?

    // MARK: Files

    /// Records files before they are made, and what has become known of them; on the disk when this returns.
    ///
    /// - Parameter job: the job whose chunk directory is among them, and is recorded with it; nil where that is recorded.
    func record(_ files: [RecordedFile], chunksOf job: StoredJob?) throws

    /// Removes what nobody needs any more, as far as it is still what was made.
    ///
    /// What cannot be removed stays recorded, and the next run tries again.
    func removeLeftFiles() throws
}

/// What a job begins with beside its options and sources.
package struct JobStart {
    package let transformers: TransformerRegistry
    /// To be built at its end.
    package let indexes: StoreIndexes
    /// The job that it replaces, and where that one's chunks are; nil for none.
    package var replaced: StoredJob?
    package var replacedChunks: RecordedFile?
    /// What its records repair; nil for an import.
    package var retry: (any RetryPlan)?
    /// True if its chunk directory is not there yet.
    package let makesChunkDirectory: Bool

    package init(
        transformers: TransformerRegistry,
        indexes: StoreIndexes,
        replaced: StoredJob? = nil,
        replacedChunks: RecordedFile? = nil,
        retry: (any RetryPlan)? = nil,
        makesChunkDirectory: Bool
    ) {
        self.transformers = transformers
        self.indexes = indexes
        self.replaced = replaced
        self.replacedChunks = replacedChunks
        self.retry = retry
        self.makesChunkDirectory = makesChunkDirectory
    }
}

/// What has become of a source of earlier jobs since they have imported it.
package struct SourceUpdate: Sendable {
    /// What it was found by (`SourceDescription.key`).
    package let key: BytewiseString
    /// The newest of the jobs that have imported it.
    package let job: Int64
    /// What it is now: touched since, or moved; nil where it is gone.
    package let now: SourceDescription?
    /// True if it has grown, so that the job has imported a part of it.
    package var hasGrown = false
    /// Its place in the job, where it was gone, so that it is not found by its key; else nil.
    package var position: Int?

    /// A source of the job or of an earlier one, which may be a part or another version of it, as it is now.
    package func updated(_ source: SourceDescription, of job: Int64) -> SourceDescription {
        var updated = source
        guard let now else {
            updated.isGone = true
            return updated
        }
        // A part of it, or an older version, had another size, and was of another time.
        return job == self.job && !hasGrown ? source.moved(to: now) : source.located(at: now)
    }
}

/// A job that has its model now, or is begun without.
package struct JobModelResult {
    package let job: StoredJob
    /// What that changes in tables that other jobs have filled.
    package var merges: [MergeNotification] = []
    /// What is to be said of it.
    package var messages: [MessageText] = []

    package init(job: StoredJob, merges: [MergeNotification] = [], messages: [MessageText] = []) {
        self.job = job
        self.merges = merges
        self.messages = messages
    }
}

/// What is committed of a source.
package struct CommittedSource {
    /// The chunks, in order and without gaps.
    package let ranges: [HashedRange]
    /// True if it was not read to its end, as no more records of it were wanted.
    package let hasReachedLimit: Bool
    /// True if a record of it was inserted, or that is not known.
    package var hasRows = true

    package init(ranges: [HashedRange], hasReachedLimit: Bool) {
        self.ranges = ranges
        self.hasReachedLimit = hasReachedLimit
    }
}

/// The lines of a repair file, and the rejects that they repair.
package protocol RetryPlan {
    /// The jobs whose rejects the lines repair; none where there is no line.
    var jobs: [Int64] { get }

    /// The entities of the lines' rejects.
    func entities() throws -> [String]

    /// Calls `body` with the lines after the one whose record has this ordinal, in order.
    func forEachLine(after ordinal: Int64, _ body: (RetriedLine) throws -> Void) throws
}

/// A line of a repair file that can be retried.
package struct RetriedLine {
    /// The record's number in the retry, from 1.
    package let ordinal: Int64
    /// The number of the reject in the store.
    package let reject: Int64
    /// The name of its entity.
    package let entity: String
    /// True if its record is still the text that was written for what is not JSON.
    package let isText: Bool
    /// The key of a keyed record.
    package let key: String?

    package init(ordinal: Int64, reject: Int64, entity: String, isText: Bool, key: String?) {
        self.ordinal = ordinal
        self.reject = reject
        self.entity = entity
        self.isText = isText
        self.key = key
    }
}

extension ImportError {
    /// A repair file has records of an entity that the model does not have.
    package static func unknownRetriedEntity(_ name: String) -> ImportError {
        ImportError(
            .unknownEntity,
            "the model has no entity \(name), whose rejects are to be retried",
            advice: "Add it to the model, or leave its rejects out: \(call: .exportingRejects(of: .entity))."
        )
    }
}
