import ImportSources

/// The records of one chunk of a retry: which entity each is of, and whether its reject is still to be repaired.
package struct RetriedRecords: Sendable {
    /// One of them.
    package struct Record: Sendable {
        /// The entity's index in the job.
        package let entity: Int
        /// True if its reject is open; a record whose reject is not is passed over and counted as ignored.
        package let isOpen: Bool
        /// True if it is still the text that was written for what is not JSON.
        package let isText: Bool
        /// The record's keys in its collections, the innermost first.
        package let keys: [String]
        /// Where the record was when it was rejected.
        package let origin: RecordDecoder.Origin

        /// - Parameters:
        ///   - key: its keys, as `RecordKeys` has them, if it has any.
        ///   - source: the source's index in the job that rejected it, from 0.
        ///   - byteOffset: the record's first byte in that source.
        package init(entity: Int, isOpen: Bool, isText: Bool, key: [UInt8]?, source: Int, byteOffset: Int64) {
            self.entity = entity
            self.isOpen = isOpen
            self.isText = isText
            keys = key.map { RecordKeys.keys(in: String(decoding: $0, as: UTF8.self)).reversed() } ?? []
            origin = RecordDecoder.Origin(source: source, byteOffset: byteOffset)
        }
    }

    package let first: Int64
    package let records: [Record]

    /// - Parameter source: the name of the retry's file.
    /// - Throws: `ImportError` with `.badInput` when the chunk holds other records than the job was begun with.
    package init(_ records: [Record], of source: String, in chunk: ChunkEntry) throws {
        guard records.count == chunk.records else {
            throw ImportError(
                .sourceChanged,
                at: source,
                "has changed since its retry was started",
                advice: "Run the same retry again."
            )
        }
        first = chunk.firstOrdinal
        self.records = records
    }

    /// The record with this number in the job.
    package subscript(ordinal: Int64) -> Record { records[Int(ordinal - first)] }
}
