/// How an object of a store came about, as far as its imports can tell.
public struct RowExplanation: Sendable {
    /// The object's entity.
    public let entity: String
    /// The table of its row.
    public let table: String
    /// The row id of its row.
    public let rowID: Int64
    /// The job that inserted the row; nil if no import is known to have inserted it.
    public let insertedBy: Int64?
    /// The records that have it, in the order in which they were imported.
    public let origins: [RecordOrigin]
    /// What could not be searched, and why: a source that is gone, a job that is no import.
    public let notes: [String]
}

/// A record of a source, and what it says of an object.
public struct RecordOrigin: Sendable, Hashable {
    /// The job that imported the record.
    public let job: Int64
    /// The name of the source.
    public let source: String
    /// The bytes of the record in the source, decompressed; with its key if it is a member of an object.
    public let bytes: Range<Int64>
    /// The line of its first byte, from 1.
    public let line: Int64
    /// Its number in the job, from 1.
    public let ordinal: Int64
    /// The bytes of the source that its chunk holds; nil if that is not known.
    public let chunk: Range<Int64>?
    /// The path of the object in the record (`lines[1]`); empty for the record itself.
    public let path: String
    /// The attributes of the object that the record has, null or not.
    public let attributes: [String]
    /// True if the record was rejected, so that it did not change the object.
    public let isRejected: Bool
    /// The bytes of the record, checked by their chunk's hash; nil if they were not asked for.
    public internal(set) var record: [UInt8]?
}
