import GRDB

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

    private let first: Int64
    private let records: [Record]

    /// The record with this number in the job.
    subscript(ordinal: Int64) -> Record { records[Int(ordinal - first)] }

    /// - Throws: `ImportError` with `.badInput` when the chunk holds other records than the job was begun with.
    init(_ database: Database, job: StoredJob, chunk: ChunkEntry) throws {
        first = chunk.firstOrdinal
        let entities = job.model?.entities.count ?? 0
        records = try BookkeepingRow.fetchAll(
            database,
            from: "_import_retry",
            sql: """
                SELECT retry.entity, retry.is_text, retry.record_key, reject.state, reject.source, reject.byte_offset
                FROM _import_retry AS retry JOIN _import_reject AS reject ON reject.id = retry.reject
                WHERE retry.job = ? AND retry.ordinal >= ? AND retry.ordinal < ? ORDER BY retry.ordinal
                """,
            arguments: [job.id, first, first + Int64(chunk.records)]
        ).map { row in
            let entity = try row.index("entity")
            guard entity < entities else { throw row.damage("entity") }
            return Record(
                entity: entity,
                isOpen: try row.choice("state", as: RejectState.self) == .open,
                isText: try row.flag("is_text"),
                key: try row.optionalText("record_key").map { Array($0.utf8) },
                origin: RecordDecoder.Origin(source: try row.index("source"), byteOffset: try row.number("byte_offset"))
            )
        }
        guard records.count == chunk.records else {
            throw ImportError(
                .badInput,
                "\(job.sources.first?.description.displayName ?? ""): has changed since its retry was begun",
                advice: "Run the same retry again."
            )
        }
    }
}

/// What became of a record of a retry.
enum RetryOutcome: String {
    /// Its reject was not open any more.
    case ignored
    /// It does not fit again; its reject stays open.
    case rejected
    /// It is in the store, and its reject is repaired.
    case taken

    /// Notes that a retry's record is a reject again.
    static func reject(_ ordinal: Int64, of job: Int64, _ database: Database) throws {
        try database.cachedStatement(
            sql: "UPDATE _import_retry SET outcome = 'rejected' WHERE job = ? AND ordinal = ?"
        ).execute(arguments: [job, ordinal])
    }

    /// Settles a retry's records: what is not rejected is accepted, and its reject is repaired with that.
    ///
    /// - Parameter ordinals: of one commit.
    static func settle(_ ordinals: ClosedRange<Int64>, of job: Int64, _ database: Database) throws {
        try database.cachedStatement(
            sql: """
                UPDATE _import_retry SET outcome =
                    CASE (SELECT state FROM _import_reject WHERE id = reject) WHEN 'open' THEN 'taken' ELSE 'ignored' END
                WHERE job = ? AND ordinal BETWEEN ? AND ? AND outcome IS NULL
                """
        ).execute(arguments: [job, ordinals.lowerBound, ordinals.upperBound])
        try database.cachedStatement(
            sql: """
                UPDATE _import_reject SET state = 'repaired' WHERE state = 'open' AND id IN (
                    SELECT reject FROM _import_retry WHERE job = ? AND ordinal BETWEEN ? AND ? AND outcome = 'taken'
                )
                """
        ).execute(arguments: [job, ordinals.lowerBound, ordinals.upperBound])
    }

    /// Takes back what a retry has settled.
    static func unsettle(_ job: Int64, _ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE _import_reject SET state = 'open' WHERE state = 'repaired' AND id IN (
                    SELECT reject FROM _import_retry WHERE job = ? AND outcome = 'taken'
                )
                """,
            arguments: [job]
        )
    }
}
