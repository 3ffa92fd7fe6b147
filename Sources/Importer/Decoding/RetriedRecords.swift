/// The records of one chunk of a retry: which entity each is of, and whether its reject is still to be repaired.
package struct RetriedRecords: Sendable {
    /// One of them.
    package struct Record: Sendable {
        /// The entity's index in the job.
        package let entity: Int
        /// Whether its reject is open; a record whose reject is not is passed over and counted as ignored.
        package let isOpen: Bool
        /// Whether it is still the text that was written for what is not JSON.
        package let isText: Bool
        /// The record's key in its collection, if it has one.
        package let key: [UInt8]?
        /// Where the record was when it was rejected.
        let origin: RecordDecoder.Origin
    }

    package let first: Int64
    package let records: [Record]

    /// The record with this number in the job.
    package subscript(ordinal: Int64) -> Record { records[Int(ordinal - first)] }
}
