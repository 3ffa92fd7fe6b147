/// The records of one chunk of a retry: which entity each is of, and whether its reject is still to be repaired.
struct RetriedRecords: Sendable {
    /// One of them.
    struct Record: Sendable {
        /// The entity's index in the job.
        let entity: Int
        /// Whether its reject is open; a record whose reject is not is passed over and counted as ignored.
        let isOpen: Bool
        /// Whether it is still the text that was written for what is not JSON.
        let isText: Bool
        /// The record's key in its collection, if it has one.
        let key: [UInt8]?
        /// Where the record was when it was rejected.
        let origin: RecordDecoder.Origin
    }

    let first: Int64
    let records: [Record]

    /// The record with this number in the job.
    subscript(ordinal: Int64) -> Record { records[Int(ordinal - first)] }
}
