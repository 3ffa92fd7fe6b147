import ImportSources

/// How far an import has come, in its sources' coordinates.
///
/// It is kept in the store, and changes only together with the rows that it covers.
public struct Marker: Sendable, Hashable, Codable {
    /// The source's index in the job, from 0.
    public var source = 0
    /// Just past the last committed record in the source, from 0, in decompressed bytes.
    public var byteOffset: Int64 = 0
    /// The last committed record's number in the job; 0 for none.
    public var recordOrdinal: Int64 = 0
    /// The last committed record's record path.
    public var recordPath = ""
    /// Where the chunk that is being committed begins in the source.
    package var chunkStart = SplitPosition.start
    /// What of that chunk is committed.
    package var chunkRecords = 0
    package var chunkHash = ""
    /// Bytes of all sources up to the marker.
    public var bytes: Int64 = 0
    /// Chunks and commits of the job so far.
    public var chunksDone = 0
    /// Commits of the job so far.
    public var commits: Int64 = 0
    /// Time spent on the job so far, in seconds.
    public var seconds = 0.0

    /// The beginning of a job.
    package init() {}

    /// The part of the chunk at `chunkStart` that is committed.
    package var committed: CommittedPrefix { CommittedPrefix(records: chunkRecords, hash: chunkHash) }
}
