import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Everything that counts a batch, and is committed with its rows: rejects, errors, ledger, counts, chunk, merge log.
struct BatchCounts {
    private let job: StoredJob
    private let plans: [EntityPlan]
    private let rejectTable: RejectTable

    /// - Parameter plans: the job's entities, in their order.
    init(job: StoredJob, plans: [EntityPlan]) {
        self.job = job
        self.plans = plans
        rejectTable = RejectTable(of: job)
    }

    /// Rejects, in source order.
    func write(_ rejects: [RowBatch.Reject], of chunk: ChunkEntry, _ database: Database) throws {
        if !rejects.isEmpty { try BookkeepingSchema.make([RejectTable.name], database) }
        for reject in rejects {
            let entity = plans[Int(reject.entity)].entity.name
            try rejectTable.insert(reject, entity: entity, source: chunk.source, database)
        }
    }

    /// Errors of rejects and of values that are null instead, and the ledger, which counts the latter.
    func writeErrors(
        _ batch: borrowing RowBatch,
        late: [RowBatch.Reject],
        besides more: borrowing LedgerCounts = LedgerCounts(),
        _ moreErrors: ErrorCounts? = nil,
        of chunk: ChunkEntry,
        _ progress: inout CommitState,
        _ database: Database
    ) throws {
        var errors = batch.errors
        if let moreErrors { errors.add(moreErrors) }
        var ledger = batch.ledger
        for record in late {
            for error in record.errors { errors.add(error, ordinal: record.ordinal) }
        }
        let rejected = Set(late.map(\.ordinal))
        for record in batch.insertRejects where !rejected.contains(record.ordinal) {
            for error in record.errors.prefix(record.nulled.count) { errors.add(error, ordinal: record.ordinal) }
            for attribute in record.nulled { ledger.add(.nulled, entity: record.entity, attribute: attribute) }
        }
        for (key, count) in zip(more.keys, more.counts) {
            ledger.add(key.kind, entity: key.entity, attribute: key.attribute.text, count: count)
        }
        try progress.errorGroups.add(errors, source: chunk.source, database)
        try writeLedger(ledger, &progress, database)
    }

    private func writeLedger(
        _ ledger: borrowing LedgerCounts,
        _ progress: inout CommitState,
        _ database: Database
    ) throws {
        guard !ledger.keys.isEmpty else { return }
        try BookkeepingSchema.make(["_import_ledger"], database)
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO _import_ledger (job, entity, attribute, kind, count) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET count = count + excluded.count
                """
        )
        for (key, count) in zip(ledger.keys, ledger.counts) {
            let entity = key.entity < 0 ? "" : plans[Int(key.entity)].entity.name
            let name = progress.ledgerName(key.attribute, kind: key.kind, entity: entity)
            try statement.execute(arguments: [job.id, entity, name, key.kind.rawValue, count])
        }
    }

    /// What a commit has changed, by entity.
    func write(_ changes: [EntityChanges], recordsRead: [Int64], _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE _import_entity SET records_read = records_read + ?, inserted = inserted + ?,
                    updated = updated + ?, unchanged = unchanged + ?, ignored = ignored + ?, rejected = rejected + ?
                WHERE job = ? AND position = ?
                """
        )
        try InsertedRowRanges.save(changes, job: job.id, database)
        for (index, change) in changes.enumerated() {
            try change.nested.save(job: job.id, position: index, database)
            let read = recordsRead[index]
            guard read > 0 else { continue }
            let records = change.records
            try statement.execute(arguments: [
                read, records.inserted, records.updated, change.unchanged, change.ignored,
                change.rejected,
                job.id, index,
            ])
        }
    }

    /// How many records of each entity were read: one whose object turns out to be of a subentity is one of that.
    func recordsRead(_ changes: [EntityChanges], _ batch: borrowing RowBatch) -> [Int64] {
        batch.graph.records.isEmpty ? batch.recordsRead : changes.map(\.recordsRead)
    }

    /// The part of a chunk that the batch has.
    func write(
        _ entry: ChunkEntry,
        _ batch: borrowing RowBatch,
        _ changes: [EntityChanges],
        _ database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO _import_chunk (
                    job, source, first_byte, entity, end_byte, source_hash, first_ordinal, records, inserted,
                    first_rowid, last_rowid, is_complete
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET end_byte = excluded.end_byte, source_hash = excluded.source_hash,
                    records = records + excluded.records, inserted = inserted + excluded.inserted,
                    first_rowid = coalesce(first_rowid, excluded.first_rowid),
                    last_rowid = coalesce(excluded.last_rowid, last_rowid), is_complete = excluded.is_complete
                """
        )
        let isEnd = batch.end.isChunkEnd
        let read = recordsRead(changes, batch)
        // A chunk without records is kept too: its range of the source is part of what the marker has passed.
        let entities = entry.records == 0 ? [-1] : changes.indices.filter { read[$0] > 0 }
        for index in entities {
            let change = index < 0 ? nil : changes[index]
            try statement.execute(arguments: [
                job.id, entry.source, entry.firstByte, index, entry.endByte, entry.sourceHash, entry.firstOrdinal,
                index < 0 ? 0 : read[index], change?.inserted ?? 0,
                change?.insertedRanges.first?.lowerBound,
                change?.insertedRanges.last?.upperBound, isEnd,
            ])
        }
        if isEnd {
            if let values = entry.outsideValues, job.retry == nil { try write(values, of: entry.source, database) }
            // What one batch has all of says so already.
            guard batch.end.chunkRecords > batch.recordsRead.reduce(0, +) else { return }
            try database.cachedStatement(
                sql: """
                    UPDATE _import_chunk SET is_complete = 1, end_byte = ?, source_hash = ?
                    WHERE job = ? AND source = ? AND first_byte = ?
                    """
            ).execute(arguments: [entry.endByte, entry.sourceHash, job.id, entry.source, entry.firstByte])
        }
    }

    private func write(_ values: [OutsideValue], of source: Int, _ database: Database) throws {
        try BookkeepingSchema.make(["_import_outside"], database)
        let statement = try database.cachedStatement(sql: "INSERT INTO _import_outside VALUES (?, ?, ?, ?, ?)")
        for value in values {
            try statement.execute(arguments: [job.id, source, value.byteOffset, value.path, value.json])
        }
    }

    /// Keeps what the commit changes for readers in other processes.
    ///
    /// - Returns: what to tell those in this one.
    func log(
        _ changes: [EntityChanges],
        recordsRead: [Int64],
        _ progress: inout CommitState,
        _ database: Database
    ) throws -> MergeNotification {
        for index in progress.totals.indices where index < changes.count {
            progress.totals[index].add(changes[index], recordsRead: recordsRead[index])
        }
        return try MergeLog.append(
            MergeNotification(
                job: job.id,
                commit: progress.marker.commits,
                changes: changes.map(\.announced),
                totals: progress.totals,
                marker: progress.marker,
                isFinished: false
            ),
            database
        )
    }
}
