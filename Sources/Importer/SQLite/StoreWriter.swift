import Foundation
import GRDB
import ImportModel

/// One worker's connection to the store.
///
/// Commits batches, each in one transaction with everything that counts it.
final class StoreWriter {
    private let store: String
    private let job: StoredJob
    private let plans: [EntityPlan]
    private let queue: DatabaseQueue
    private let durability: RunOptions.Durability
    private let limit: RejectLimit
    private let checkpointer: Checkpointer?
    private var writers: [RowWriter]
    private let rejectTable: RejectTable
    /// What the images of batches are like; nil where rows go into none.
    let images: RowImageSchema?
    private var attached: AttachedImage?

    /// - Parameters:
    ///   - store: its path.
    ///   - file: its file; nil for whichever is at the path.
    ///   - job: whose batches are committed.
    ///   - plans: the job's entities, in their order; told whether rows may turn out to be rejects, and whether they go
    ///     into images.
    ///   - deferred: the entities whose identifiers are not looked at for now, by their indexes.
    ///   - durability: that of the commits.
    ///   - checkpointer: what makes the checkpoints; without one, this makes them when it commits.
    init(
        store: String,
        file: StoreFile? = nil,
        job: StoredJob,
        plans: [EntityPlan],
        deferred: Set<Int> = [],
        durability: RunOptions.Durability,
        checkpointer: Checkpointer? = nil
    ) throws {
        self.store = store
        self.job = job
        self.plans = plans
        self.durability = durability
        self.checkpointer = checkpointer
        limit = RejectLimit(job)
        rejectTable = RejectTable(of: job)
        let queue = try StoreConnection.writer(store, durability: durability, of: file)
        self.queue = queue
        var attached: AttachedImage?
        do {
            (images, writers) = try queue.inDatabase { database in
                checkpointer?.attach(to: database)
                let constraints = try plans.map { try TableConstraints(of: $0.entity, database) }
                let mayRefuse = job.options.onConflict == .error || constraints.contains(where: \.canRefuse)
                // The databases of a connection have one encoding.
                let isUTF8 = try String.fetchOne(database, sql: "PRAGMA encoding") == "UTF-8"
                let images = isUTF8 ? RowImageSchema(plans) : nil
                for (plan, constraints) in zip(plans, constraints) {
                    let isLookedUp = !plan.identifier.isEmpty && !deferred.contains(Int(plan.index))
                    plan.laysOutRows = images != nil && !isLookedUp && !constraints.canRefuse
                    plan.keepsPlaces = mayRefuse
                }
                if let images, plans.contains(where: \.laysOutRows) { attached = try AttachedImage(database, images) }
                return (images, try zip(plans, constraints).map { try RowWriter(database, plan: $0, constraints: $1) })
            }
        } catch {
            withExtendedLifetime(attached) { try? queue.retire() }
            throw error
        }
        self.attached = attached
    }

    /// What the statements need must be gone before the connection is, and the connection before what it reads.
    func close() throws {
        writers = []
        try queue.retire()
        attached = nil
    }

    /// Commits a batch: rows, rejects, ledger, counts and the marker, all or nothing.
    ///
    /// - Parameters:
    ///   - progress: how far the job is; brought up to the batch's end when it is committed.
    ///   - isSynced: whether the commit must be on the disk before this returns.
    /// - Throws: `ImportError` when the store cannot be written, `RejectLimit.Excess` when the batch has one reject too
    ///   many, `RowImage.Unusable` when its image does not do; nothing of the batch is then in the store.
    func commit(
        _ decoded: borrowing DecodedBatch<RowImage>,
        of chunk: SealedChunk,
        chunkBytes: [UInt8],
        progress: inout JobProgress,
        isSynced: Bool
    ) throws -> MergeNotification {
        let (batch, image) = (decoded.rows, decoded.layout)
        var next = progress
        var changes = plans.enumerated().map {
            EntityChanges(entity: $1.entity.name, table: $1.entity.table, position: $0)
        }
        var notification: MergeNotification?
        do {
            try queue.inDatabase { database in
                if isSynced, durability != .full { try database.execute(sql: "PRAGMA synchronous = FULL") }
                try transaction(database, reading: image) {
                    try checkThatNobodyElseCommits(progress, database)
                    for index in changes.indices { changes[index].ignored = batch.ignored[index] }
                    let late = try writeRows(
                        batch,
                        image,
                        source: chunk.entry.source,
                        chunkBytes: chunkBytes,
                        &next,
                        &changes,
                        database
                    )
                    let rejects = rejects(of: batch, late: late)
                    try limit.check(rejects, after: progress.rejects)
                    try writeRejects(rejects, chunk, &changes, database)
                    try writeErrors(batch, late: late, chunk, &next, database)
                    if job.retry != nil, progress.marker.recordOrdinal < batch.end.ordinal {
                        let ordinals = progress.marker.recordOrdinal + 1...batch.end.ordinal
                        try RetryOutcome.settle(ordinals, of: job.id, database)
                    }
                    try writeCounts(batch, changes, database)
                    try writeChunk(batch, chunk, changes, database)
                    next.advance(to: batch.end, of: chunk.entry, path: path(batch.end.path, of: chunk))
                    try next.marker.save(database, job: job.id)
                    notification = try log(changes, of: batch, &next, database)
                    return .commit
                }
                if isSynced, durability != .full {
                    try database.execute(sql: "PRAGMA synchronous = \(durability.rawValue.uppercased())")
                }
            }
        } catch let error as DatabaseError {
            throw ImportError(store: store, error)
        }
        next.rejects += changes.reduce(0) { $0 + $1.rejected }
        progress = next
        guard let notification else { throw ImportError(.software, "\(store): a commit was not logged") }
        return notification
    }

    private func transaction(
        _ database: Database,
        reading image: RowImage?,
        _ body: () throws -> Database.TransactionCompletion
    ) throws {
        guard let attached, let image, !image.isEmpty else { return try database.inTransaction(.immediate, body) }
        try attached.showing(image) { try database.inTransaction(.immediate, body) }
    }

    /// Keeps what the commit changes for readers in other processes.
    ///
    /// - Returns: what to tell those in this one.
    private func log(
        _ changes: [EntityChanges],
        of batch: borrowing RowBatch,
        _ progress: inout JobProgress,
        _ database: Database
    ) throws -> MergeNotification {
        for index in progress.totals.indices where index < changes.count {
            progress.totals[index].add(changes[index], recordsRead: batch.recordsRead[index])
        }
        return try MergeLog.append(
            MergeNotification(
                job: job.id,
                commit: progress.marker.commits,
                changes: changes,
                totals: progress.totals,
                marker: progress.marker,
                isFinished: false
            ),
            database
        )
    }

    /// What the records of a chunk of a retry are; nil in an import.
    func retriedRecords(of chunk: ChunkEntry) throws -> RetriedRecords? {
        guard job.retry != nil else { return nil }
        do {
            return try queue.read { try RetriedRecords($0, job: job, chunk: chunk) }
        } catch let error as DatabaseError {
            throw ImportError(store: store, error)
        }
    }

    /// The lock keeps other importers away; should it ever not, nothing is doubled.
    private func checkThatNobodyElseCommits(_ progress: borrowing JobProgress, _ database: Database) throws {
        let commits = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT commits FROM _import_marker WHERE job = ?"),
            arguments: [job.id]
        )
        guard commits == progress.marker.commits else {
            throw ImportError(
                .inUse,
                "\(store): another import has committed to it meanwhile",
                advice: "Let it end, then resume."
            )
        }
    }

    private func path(_ index: Int, of chunk: SealedChunk) -> String {
        let paths = job.sources[chunk.entry.source].shape.paths
        return paths.indices.contains(index) ? paths[index] : ""
    }

    // MARK: Rows

    /// - Returns: the rejects that were found only now, by the stored objects.
    private func writeRows(
        _ batch: borrowing RowBatch,
        _ image: RowImage?,
        source: Int,
        chunkBytes: [UInt8],
        _ progress: inout JobProgress,
        _ changes: inout [EntityChanges],
        _ database: Database
    ) throws -> [RowBatch.Reject] {
        var late: [RowBatch.Reject] = []
        for (index, writer) in writers.enumerated() where batch.recordsRead[index] > 0 {
            let deferred = DeferredIdentifier(job: job.id, position: index, plan: plans[index])
            let isDeferred = progress.deferredIdentifiers.contains(index)
            writer.presence = isDeferred ? PresenceRuns(plans[index]) : nil
            var places = isDeferred && job.options.onConflict == .error ? RecordPlaces() : nil
            if let rowIDs = try image.flatMap({ try writer.copy($0, of: batch, database) }) {
                changes[index].insert(rowIDs)
                if places != nil {
                    var rowID = rowIDs.lowerBound
                    for (row, place) in zip(batch.rows, batch.places) where row.isLaidOut && Int(row.entity) == index {
                        places?.add(place, ordinal: row.ordinal, rowID: rowID)
                        rowID += 1
                    }
                }
            }
            try writer.write(
                batch,
                chunkBytes: chunkBytes,
                settle: {
                    try deferred.save(writer.presence, database)
                    try deferred.settle(&changes[index], database)
                    writer.presence = nil
                    progress.deferredIdentifiers.remove(index)
                }
            ) { place, effect in
                switch effect {
                case .inserted(let rowID):
                    changes[index].insert(rowID)
                    places?.add(batch.places[place], ordinal: batch.rows[place].ordinal, rowID: rowID)
                case .updated(let rowID): changes[index].update(rowID)
                case .unchanged: changes[index].unchanged += 1
                case .ignored: changes[index].ignored += 1
                case .duplicate:
                    let error = plans[index].duplicateError(at: batch.places[place].identifierOffset)
                    late.append(reject(place, error, batch, chunkBytes))
                case .refused(let refusal):
                    late.append(reject(place, error(refusal, place, batch), batch, chunkBytes))
                case .incomplete: late.append(batch.unmet[Int(batch.rows[place].unmet)])
                }
            }
            try deferred.save(writer.presence, database)
            try deferred.save(places, source: source, database)
        }
        return late
    }

    /// What is wrong with a row's record that the table refuses.
    private func error(
        _ refusal: TableConstraints.Refusal,
        _ index: Int,
        _ batch: borrowing RowBatch
    ) -> ImportModel.RecordError {
        let plan = plans[Int(batch.rows[index].entity)]
        let attributes = refusal.columns.compactMap { column in
            plan.entity.attributes.firstIndex { $0.column.asciiLowercased == column }
        }
        return RecordError(
            entity: plan.entity.name,
            keyPath: plan.keyPath(of: attributes),
            code: .constraintViolation,
            expected: refusal.expected,
            found: refusal.found,
            byteOffset: batch.places[index].byteOffset
        )
    }

    /// The reject that a row's record is for an error that was found only now.
    private func reject(
        _ index: Int,
        _ error: ImportModel.RecordError,
        _ batch: borrowing RowBatch,
        _ chunkBytes: [UInt8]
    ) -> RowBatch.Reject {
        let row = batch.rows[index]
        let place = batch.places[index]
        return RowBatch.Reject(
            entity: row.entity,
            ordinal: row.ordinal,
            byteOffset: place.byteOffset,
            length: Int64(place.length),
            errors: [error],
            bytes: Array(chunkBytes[place.chunkOffset..<place.chunkOffset + place.length]),
            key: key(of: place, chunkBytes)
        )
    }

    /// The key of a keyed record.
    private func key(of place: RowBatch.Place, _ chunkBytes: [UInt8]) -> String? {
        guard place.keyedLineOffset >= 0 else { return nil }
        return chunkBytes.withUnsafeBufferPointer {
            KeyedLine.split(ByteView($0)[place.keyedLineOffset..<place.chunkOffset]).key
        }
    }

    /// Rejects in source order: those that decoding found, and those that the stored objects make rejects.
    private func rejects(of batch: borrowing RowBatch, late: [RowBatch.Reject]) -> [RowBatch.Reject] {
        guard !late.isEmpty else { return batch.rejects }
        return (batch.rejects + late).sorted { $0.ordinal < $1.ordinal }
    }

    private func writeRejects(
        _ rejects: [RowBatch.Reject],
        _ chunk: SealedChunk,
        _ changes: inout [EntityChanges],
        _ database: Database
    ) throws {
        for reject in rejects {
            let entity = Int(reject.entity)
            changes[entity].rejected += 1
            try rejectTable.insert(
                reject,
                entity: plans[entity].entity.name,
                source: chunk.entry.source,
                database
            )
        }
    }

    // MARK: Bookkeeping

    /// Errors of rejects and of values that are null instead, and the ledger, which counts the latter.
    private func writeErrors(
        _ batch: borrowing RowBatch,
        late: [RowBatch.Reject],
        _ chunk: SealedChunk,
        _ progress: inout JobProgress,
        _ database: Database
    ) throws {
        var errors = batch.errors
        var ledger = batch.ledger
        for record in late {
            for error in record.errors { errors.add(error, ordinal: record.ordinal) }
        }
        let rejected = Set(late.map(\.ordinal))
        for record in batch.unmet where !rejected.contains(record.ordinal) {
            for error in record.errors.prefix(record.nulled.count) { errors.add(error, ordinal: record.ordinal) }
            for attribute in record.nulled { ledger.add(.nulled, entity: record.entity, attribute: attribute) }
        }
        try progress.errorGroups.add(errors, source: chunk.entry.source, database)
        try writeLedger(ledger, &progress, database)
    }

    private func writeLedger(
        _ ledger: borrowing LedgerCounts,
        _ progress: inout JobProgress,
        _ database: Database
    ) throws {
        guard !ledger.keys.isEmpty else { return }
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

    private func writeCounts(
        _ batch: borrowing RowBatch,
        _ changes: [EntityChanges],
        _ database: Database
    ) throws {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE _import_entity SET records_read = records_read + ?, inserted = inserted + ?,
                    updated = updated + ?, unchanged = unchanged + ?, ignored = ignored + ?, rejected = rejected + ?
                WHERE job = ? AND position = ?
                """
        )
        for (index, change) in changes.enumerated() where batch.recordsRead[index] > 0 {
            try statement.execute(arguments: [
                batch.recordsRead[index], change.inserted, change.updated, change.unchanged, change.ignored,
                change.rejected,
                job.id, index,
            ])
        }
    }

    private func writeChunk(
        _ batch: borrowing RowBatch,
        _ chunk: SealedChunk,
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
        let entry = chunk.entry
        let isEnd = batch.end.isChunkEnd
        // A chunk without records is kept too: its range of the source is part of what the marker has passed.
        let entities = entry.records == 0 ? [-1] : changes.indices.filter { batch.recordsRead[$0] > 0 }
        for index in entities {
            let change = index < 0 ? nil : changes[index]
            try statement.execute(arguments: [
                job.id, entry.source, entry.firstByte, index, entry.endByte, entry.sourceHash, entry.firstOrdinal,
                index < 0 ? 0 : batch.recordsRead[index], change?.inserted ?? 0,
                change?.insertedRanges.first?.lowerBound,
                change?.insertedRanges.last?.upperBound, isEnd,
            ])
        }
        if isEnd {
            try database.cachedStatement(
                sql: """
                    UPDATE _import_chunk SET is_complete = 1, end_byte = ?, source_hash = ?
                    WHERE job = ? AND source = ? AND first_byte = ?
                    """
            ).execute(arguments: [entry.endByte, entry.sourceHash, job.id, entry.source, entry.firstByte])
        }
    }
}
