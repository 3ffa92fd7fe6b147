import ImportSources

/// The position of an import in its sources.
///
/// It is stored in the store, and committed together with the rows that it covers.
public struct Marker: Sendable, Hashable, Codable {
    /// The source's index in the job, from 0.
    public var source = 0
    /// The offset just past the last committed record in the source, in decompressed bytes from 0.
    public var byteOffset: Int64 = 0
    /// The ordinal of the last committed record in the job, from 1; 0 for none.
    public var recordOrdinal: Int64 = 0
    /// The record path of the last committed record.
    public var recordPath = ""
    /// Where the chunk that is being committed begins in the source.
    package var chunkStart = SplitPosition.start
    /// What of that chunk is committed.
    package var chunkRecords = 0
    package var chunkHash = ""
    /// The number of bytes of all sources up to the marker.
    public var bytes: Int64 = 0
    /// The number of chunks of the job so far.
    public var chunksDone = 0
    /// The number of commits of the job so far.
    public var commits: Int64 = 0
    /// The time spent on the job so far, in seconds.
    public var seconds = 0.0

    /// The beginning of a job.
    package init() {}

    /// True if all of a chunk is committed.
    package func hasPassed(_ chunk: ChunkEntry) -> Bool {
        guard chunk.source == source else { return chunk.source < source }
        // A source's first chunk begins past a byte order mark.
        return chunk.firstByte < chunkStart.byteOffset
    }

    /// The part of the chunk at `chunkStart` that is committed.
    package var committed: CommittedPrefix { CommittedPrefix(records: chunkRecords, hash: chunkHash) }
}
