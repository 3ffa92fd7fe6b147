import Foundation
import ImportModel
import Importer

/// Everything that counts a chunk, and is committed with its rows.
struct PGCounts {
    let job: StoredJob
    /// The job's entities, in their order.
    let plans: [EntityPlan]

    /// What a chunk's batches have come to.
    struct Tally {
        var read: [Int64]
        var inserted: [Int64]
        /// Records of a retry whose rejects are not open any more.
        var ignored: [Int64]
        var rejected: [Int64]
        /// References without more than an identifier.
        var linked: [Int64]
        var errors = ErrorCounts()
        var ledger = LedgerCounts()
        var rejects: [RowBatch.Reject] = []

        init(entities: Int) {
            read = Array(repeating: 0, count: entities)
            inserted = read
            ignored = read
            rejected = read
            linked = read
        }

        /// Adds what a batch has beside its rows.
        mutating func add(_ batch: borrowing RowBatch) {
            for entity in read.indices {
                read[entity] += batch.recordsRead[entity]
                ignored[entity] += batch.ignored[entity]
            }
            for reject in batch.rejects { rejects.append(reject) }
            errors.add(batch.errors)
            for (key, count) in zip(batch.ledger.keys, batch.ledger.counts) {
                ledger.add(key.kind, entity: key.entity, attribute: key.attribute.text, count: count)
            }
        }

        /// Counts records by what they are, where that is not known before they are decoded: of a subentity, for example.
        mutating func countByEntity(_ batch: borrowing RowBatch) {
            for entity in read.indices {
                read[entity] += batch.ignored[entity] - batch.recordsRead[entity]
            }
            for record in batch.graph.records { read[Int(batch.rows[record.row].entity)] += 1 }
            for reject in batch.rejects { read[Int(reject.entity)] += 1 }
        }

        /// Adds a reject that decoding has not counted.
        mutating func rejectLate(_ reject: RowBatch.Reject) {
            for error in reject.errors { errors.add(error, ordinal: reject.ordinal) }
            rejects.append(reject)
        }
    }

    /// Writes counts, errors, ledger and rejects of a chunk, in its transaction.
    func write(_ tally: Tally, of entry: ChunkEntry, _ connection: PGConnection) throws {
        let (job, chunk) = (PGValue.integer(job.id), PGValue.integer(Int64(entry.number)))
        for (position, read) in tally.read.enumerated() where read > 0 || tally.linked[position] > 0 {
            connection.post(
                """
                INSERT INTO _import_count (
                    job, chunk, position, records_read, inserted, ignored, rejected, nested, linked
                ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
                """,
                [
                    job, chunk, .integer(Int64(position)), .integer(read), .integer(tally.inserted[position]),
                    .integer(tally.ignored[position]), .integer(tally.rejected[position]),
                    .integer(tally.linked[position]),
                ]
            )
        }
        try writeLedger(tally, of: entry, connection)
        try writeRejects(tally, of: entry, place: 0, connection)
    }

    /// Adds what was changed or lost.
    func writeLedger(_ tally: Tally, of entry: ChunkEntry, _ connection: PGConnection) throws {
        let (job, chunk) = (PGValue.integer(job.id), PGValue.integer(Int64(entry.number)))
        for (key, count) in zip(tally.ledger.keys, tally.ledger.counts) {
            let entity = key.entity < 0 ? "" : plans[Int(key.entity)].entity.name
            connection.post(
                """
                INSERT INTO _import_ledger (job, chunk, entity, attribute, kind, count) VALUES ($1, $2, $3, $4, $5, $6)
                ON CONFLICT (job, chunk, entity, attribute, kind) WHERE NOT is_error DO UPDATE SET count = _import_ledger.count + excluded.count
                """,
                [
                    job, chunk, .bookkeeping(entity), .bookkeeping(key.attribute.text), .text(key.kind.rawValue),
                    .integer(count),
                ]
            )
        }
    }

    /// Writes errors and rejects alone.
    ///
    /// - Parameter place: the number of the first group of errors among the chunk's.
    func writeRejects(_ tally: Tally, of entry: ChunkEntry, place first: Int64, _ connection: PGConnection) throws {
        let (job, chunk) = (PGValue.integer(job.id), PGValue.integer(Int64(entry.number)))
        for (place, group) in tally.errors.inSourceOrder.enumerated() {
            connection.post(
                """
                INSERT INTO _import_ledger (
                    job, chunk, place, entity, attribute, kind, expected, found, count, first_byte_offset, first_ordinal,
                    first_source, is_error
                ) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, true)
                """,
                [
                    job, chunk, .integer(first + Int64(place)), .bookkeeping(group.key.entity.text),
                    .bookkeeping(group.key.keyPath.text), .text(group.key.code), .bookkeeping(group.key.expected.text),
                    .bookkeeping(group.key.found.text), .integer(group.count), .integer(group.firstByteOffset),
                    .integer(group.firstOrdinal), .integer(Int64(entry.source)),
                ]
            )
        }
        try write(tally.rejects, of: entry, connection)
    }

    private func write(_ rejects: [RowBatch.Reject], of entry: ChunkEntry, _ connection: PGConnection) throws {
        guard !rejects.isEmpty else { return }
        let encoder = BookkeepingJSON.makeEncoder()
        let state = (job.retry == nil ? RejectState.open : .retried).rawValue
        let columns = "job, chunk, ordinal, entity, source, byte_offset, length, errors, record, record_key, state"
        try connection.insert(into: "_import_reject (\(columns))", rejects) { reject in
            [
                .integer(job.id), .integer(Int64(entry.number)), .integer(reject.ordinal),
                .text(plans[Int(reject.entity)].entity.name), .integer(Int64(entry.source)),
                .integer(reject.byteOffset), .integer(reject.length),
                .bookkeeping(String(decoding: try encoder.encode(reject.errors), as: UTF8.self)),
                .bytes(reject.bytes), reject.key.map { .bookkeeping($0) } ?? .null, .text(state),
            ]
        }
    }

    // MARK: Indexes

    /// Notes which of an entity's indexes are left out; done again, it notes the same.
    static func note(
        _ indexes: PGTables.BuiltIndexes,
        of entity: EntityDescription,
        _ job: Int64,
        _ connection: PGConnection
    ) throws {
        // A chunk has a number from 1.
        for (attributes, isLeftOut) in indexes.there.map({ ($0, false) }) + indexes.leftOut.map({ ($0, true) }) {
            let key: [PGValue] = [
                .integer(job), .bookkeeping(entity.name), .bookkeeping(attributes),
                .text(LedgerKind.indexLeftOut.rawValue),
            ]
            let statement =
                isLeftOut
                ? """
                INSERT INTO _import_ledger (job, chunk, entity, attribute, kind, count) VALUES ($1, 0, $2, $3, $4, 1)
                ON CONFLICT (job, chunk, entity, attribute, kind) WHERE NOT is_error DO NOTHING
                """
                : "DELETE FROM _import_ledger WHERE job = $1 AND entity = $2 AND attribute = $3 AND kind = $4 AND NOT is_error"
            connection.post(statement, key)
        }
    }

    // MARK: Reading

    /// What a job has done so far, by entity.
    static func totals(of job: StoredJob, _ connection: PGConnection) throws -> [EntityTotals] {
        try connection.ask(totalsQuestion(of: job.id)).map { row in
            var totals = EntityTotals(entity: try row.text(0), table: try row.text(1))
            totals.recordsRead = try row.integer(2)
            totals.inserted = try row.integer(3)
            totals.updated = try row.integer(4)
            totals.unchanged = try row.integer(5)
            totals.ignored = try row.integer(6)
            totals.rejected = try row.integer(7)
            totals.nested.nested = try row.integer(8)
            totals.nested.inserted = try row.integer(9)
            totals.nested.updated = try row.integer(10)
            totals.nested.unchanged = try row.integer(11)
            totals.nested.linked = try row.integer(12)
            totals.nested.deleted = try row.integer(13)
            totals.nested.stubs = try row.integer(14)
            // All others are counted.
            let nested = totals.nested
            totals.nested.ignored = nested.nested - nested.inserted - nested.updated - nested.unchanged - nested.linked
            return totals
        }
    }

    static func totalsQuestion(of job: Int64) -> PGStatement {
        PGStatement(
            """
            SELECT entity.entity, entity.table_name, coalesce(sum(records_read), 0)::bigint,
                coalesce(sum(inserted), 0)::bigint, coalesce(sum(updated), 0)::bigint,
                coalesce(sum(unchanged), 0)::bigint, coalesce(sum(ignored), 0)::bigint,
                coalesce(sum(rejected), 0)::bigint, coalesce(sum(nested), 0)::bigint,
                coalesce(sum(nested_inserted), 0)::bigint, coalesce(sum(nested_updated), 0)::bigint,
                coalesce(sum(nested_unchanged), 0)::bigint, coalesce(sum(linked), 0)::bigint,
                coalesce(sum(deleted), 0)::bigint, coalesce(sum(stubs), 0)::bigint
            FROM _import_entity AS entity LEFT JOIN _import_count AS counts USING (job, position)
            WHERE job = $1 AND position >= 0 GROUP BY position, entity.entity, entity.table_name ORDER BY position
            """,
            [.integer(job)]
        )
    }
}

extension PGValue {
    /// A text of the bookkeeping: a server's text has no U+0000, which becomes U+FFFD.
    static func bookkeeping(_ text: String) -> PGValue {
        guard text.utf8.contains(0) else { return .text(text) }
        return .text(String(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : Character($0) }))
    }
}
