import ImportModel
import ImportSources

/// One worker's way into the store.
///
/// It commits batches, each in one transaction with everything that counts it. It is specialised for its store where it is
/// used, so that a row costs no look-up of a witness.
package protocol BatchWriter: AnyObject {
    associatedtype Progress: CommitProgress

    /// The tables of its batches' images; nil where rows are not laid out.
    var layoutSchema: DatabaseImageSchema? { get }

    /// Commits batches that follow one another: rows, rejects, ledger, counts and the marker, all or nothing.
    ///
    /// - Parameters:
    ///   - batches: only the first one may have a layout.
    ///   - chunkBytes: what their texts are slices of.
    ///   - progress: how far the job is; brought up to the last batch's end when it is committed.
    ///   - isSynced: whether the commit must be on the disk before this returns.
    /// - Returns: what it has changed.
    /// - Throws: `ImportError` when the store cannot be written, `RejectLimit.Excess` when they have one reject too many,
    ///   `LayoutInvalidated` when a layout is not to be used; nothing of them is in the store then.
    func commit(
        _ batches: ArraySlice<BoxedBatch>,
        chunkBytes: [UInt8],
        progress: inout Progress,
        isSynced: Bool
    ) throws -> MergeNotification

    /// What the records of a chunk of a retry are; nil in an import.
    func retriedRecords(of chunk: ChunkEntry) throws -> RetriedRecords?

    /// Ends it; called once.
    func close() throws
}

/// How far a job is, as those who commit need to know; it belongs to the worker whose turn it is.
package protocol CommitProgress: Sendable {
    /// Where the store is.
    var marker: Marker { get }
    /// How many rejects are committed.
    var rejects: Int64 { get }
}

/// What the writers of an import's workers have in common.
package protocol BatchWriterFactory: Sendable {
    associatedtype Writer: BatchWriter

    /// How far the job is.
    var progress: Writer.Progress { get }
    /// Per entity the attributes of its table that it does not have, where objects are replaced as a whole.
    var unread: [[AttributeDescription]] { get }

    /// A writer, for one worker and its thread.
    ///
    /// - Parameters:
    ///   - plans: the worker's own, of the model's entities in their order; told how their rows reach the store.
    ///   - graph: the plan of its entities together, where they relate to one another.
    func writer(_ plans: [EntityPlan], _ graph: GraphPlan?, _ progress: Writer.Progress) throws -> Writer

    /// Ends what serves all writers, after they are closed; called once.
    func close() throws
}
