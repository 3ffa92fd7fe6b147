import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// One worker's connection to the store.
///
/// Commits batches, each in one transaction with everything that counts it.
package final class StoreWriter: BatchWriter {
    private let store: String
    private let job: StoredJob
    private let plans: [EntityPlan]
    private let queue: DatabaseQueue
    private let durability: RunOptions.Durability
    private let limit: RejectLimit
    private let counts: BatchCounts
    private var writers: [RowWriter]
    /// Keeps incomplete records of the entities that may have any, by their indexes.
    private var keepers: [Int: IncompleteRecordWriter] = [:]
    /// Writes records of entities that relate to one another; nil where none do.
    private var graphWriter: GraphBatchWriter?
    package let layoutSchema: DatabaseImageSchema?
    private var attached: AttachedDatabaseImage?
    /// Keeps what rows were before; nil where the job cannot be undone.
    private var undoLog: UndoLog?
    /// True if it is kept which rows the records are about: not where all rows are the job's own.
    private let retainsRows: Bool
    private let interruption: Interruption

    /// - Parameters:
    ///   - file: its file; nil for whichever is at the path.
    ///   - plans: the job's entities, in their order; told whether rows may turn out to be rejects, and whether they go
    ///     into images.
    ///   - graph: the plan of its entities together, where they relate to one another.
    ///   - deferred: the entities whose identifiers are not looked at for now, by their indexes.
    ///   - isAppending: whether records of entities that relate to one another are appended for now.
    ///   - checkpointer: what makes the checkpoints; without one, this makes them when it commits.
    ///   - interruption: ends what takes long before a commit.
    package init(
        store: String,
        file: StoreFile? = nil,
        job: StoredJob,
        plans: [EntityPlan],
        graph: GraphPlan? = nil,
        deferred: Set<Int> = [],
        isAppending: Bool = false,
        durability: RunOptions.Durability,
        checkpointer: Checkpointer? = nil,
        interruption: Interruption = Interruption()
    ) throws {
        self.interruption = interruption
        self.store = store
        self.job = job
        self.plans = plans
        self.durability = durability
        limit = RejectLimit(job)
        counts = BatchCounts(job: job, plans: plans)
        let queue = try StoreConnection.writer(store, durability: durability, of: file)
        self.queue = queue
        var attached: AttachedDatabaseImage?
        var graphWriter: GraphBatchWriter?
        var undoLog: UndoLog?
        var retainsRows = false
        do {
            (layoutSchema, writers) = try queue.inDatabase { database in
                checkpointer?.attach(to: database)
                if job.options.trustsTriggers { try UntrustedStoreGuard.trust(database) }
                undoLog = try ImportUndoLog.log(of: job, database)
                if job.options.mirror != nil {
                    let whole = try UndoLog.whole(of: job.id, database)
                    retainsRows = !job.tables.allSatisfy { whole.contains(ExistingEntity.folded($0)) }
                }
                if let graph {
                    if graph.rejectsUnresolved { try JobRollback(job: job.id).watch(graph.layout, database) }
                    let images = isAppending ? try GraphBatchWriter.images(graph, database) : nil
                    if let images { attached = try AttachedDatabaseImage(database, images) }
                    graphWriter = try GraphBatchWriter(
                        database,
                        graph,
                        job,
                        isAppending: isAppending,
                        laysOutRows: images != nil
                    )
                    return (images, [])
                }
                let constraints = try plans.map { try TableConstraints(of: $0.entity, database) }
                let mayRefuse = job.options.onConflict == .error || constraints.contains { $0.canRefuse || $0.mayFail }
                // The databases of a connection have one encoding.
                let isUTF8 = try String.fetchOne(database, sql: "PRAGMA encoding") == "UTF-8"
                let images = isUTF8 ? DatabaseImageSchema(plans) : nil
                for (plan, constraints) in zip(plans, constraints) {
                    let isLookedUp = !plan.identifier.isEmpty && !deferred.contains(Int(plan.index))
                    plan.laysOutRows =
                        images != nil && !isLookedUp && !constraints.canRefuse && !constraints.mayFail
                        && constraints.defaults.isEmpty
                    plan.keepsPlaces = mayRefuse
                    plan.keepsIncomplete = deferred.contains(Int(plan.index)) && job.mayRejectLate
                }
                if let images, plans.contains(where: \.laysOutRows) {
                    attached = try AttachedDatabaseImage(database, images)
                }
                return (images, try zip(plans, constraints).map { try RowWriter(database, plan: $0, constraints: $1) })
            }
        } catch {
            (graphWriter, undoLog) = (nil, nil)
            withExtendedLifetime(attached) { try? queue.retire() }
            throw (error as? DatabaseError).map { ImportError(store: store, $0) } ?? error
        }
        self.graphWriter = graphWriter
        self.undoLog = undoLog
        self.retainsRows = retainsRows
        self.attached = attached
    }

    /// What the statements need must be gone before the connection is, and the connection before what it reads.
    package func close() throws {
        writers = []
        keepers = [:]
        (graphWriter, undoLog) = (nil, nil)
        try queue.retire()
        attached = nil
    }

    package func commit(
        _ batches: ArraySlice<BoxedBatch>,
        chunkBytes: [UInt8],
        progress: inout CommitState,
        isSynced: Bool
    ) throws -> MergeNotification {
        // Not kept where the commit fails: the store has forgotten it, too.
        var cache = progress.takeCache()
        var next = progress
        var notification: MergeNotification?
        try ImportError.explaining(store) {
            try queue.inDatabase { database in
                if isSynced, durability != .full { try database.execute(sql: "PRAGMA synchronous = FULL") }
                try transaction(database, reading: batches.first) {
                    try checkThatNobodyElseCommits(progress, database)
                    notification = try write(batches, chunkBytes: chunkBytes, &next, &cache, database)
                    return .commit
                }
                if isSynced, durability != .full {
                    try database.execute(sql: "PRAGMA synchronous = \(durability.rawValue.uppercased())")
                }
            }
        }
        guard let notification else { throw ImportError(.fault, at: store, "a commit was not logged") }
        if next.isAppending { next.cache = cache }
        progress = next
        return notification
    }

    /// Writes batches and everything that counts them.
    ///
    /// - Throws: `RejectLimit.Excess` and `LayoutInvalidated`, as `commit` does.
    private func write(
        _ batches: ArraySlice<BoxedBatch>,
        chunkBytes: [UInt8],
        _ progress: inout CommitState,
        _ cache: inout AppendCache,
        _ database: Database
    ) throws -> MergeNotification {
        var changes = noChanges()
        var read = plans.map { _ in Int64(0) }
        var retained = retainsRows ? RetainedRows() : nil
        for batch in batches {
            guard let chunk = batch.content.chunk else {
                throw ImportError(.fault, at: store, "a batch is of no chunk")
            }
            let own = try write(
                batch.content.rows,
                batch.content.layout,
                of: chunk,
                LateRejects(plans: plans, chunkBytes: chunkBytes),
                &progress,
                &cache,
                &retained,
                database
            )
            let ownRead = counts.recordsRead(own, batch.content.rows)
            for index in own.indices {
                changes[index].add(own[index])
                read[index] += ownRead[index]
            }
        }
        try undoLog?.complete()
        try counts.write(changes, recordsRead: read, database)
        try retained?.save(job: job.id, plans.map(\.entity.table), database)
        progress.commitEnded()
        try progress.marker.save(database, job: job.id)
        return try counts.log(changes, recordsRead: read, &progress, database)
    }

    private func noChanges() -> [EntityChanges] {
        plans.map(\.entity).enumerated().map {
            EntityChanges(entity: $1.name, table: $1.table, position: $0, isOfCommit: true)
        }
    }

    /// Writes a batch, with its rejects and what counts them by source.
    private func write(
        _ batch: borrowing RowBatch,
        _ image: DatabaseImage?,
        of chunk: SealedChunk,
        _ found: LateRejects,
        _ progress: inout CommitState,
        _ cache: inout AppendCache,
        _ retained: inout RetainedRows?,
        _ database: Database
    ) throws -> [EntityChanges] {
        var changes = noChanges()
        for index in changes.indices { changes[index].ignored = batch.ignored[index] }
        var ledger = LedgerCounts()
        let late =
            try graphWriter?.write(
                batch,
                image,
                found,
                source: chunk.entry.source,
                &progress,
                &cache,
                &changes,
                &ledger,
                &retained,
                database
            ) { try queue.interruptible(by: interruption, $0) }
            ?? writeRows(batch, image, found, source: chunk.entry.source, &progress, &changes, &retained, database)
        let rejects = late.isEmpty ? batch.rejects : (batch.rejects + late).sorted { $0.ordinal < $1.ordinal }
        // Settling identifiers may have made some already.
        try limit.check(rejects, after: changes.reduce(progress.rejects) { $0 + $1.rejected })
        for reject in rejects { changes[Int(reject.entity)].rejected += 1 }
        progress.rejects += changes.reduce(0) { $0 + $1.rejected }
        try counts.write(rejects, of: chunk.entry, database)
        try counts.writeErrors(
            batch,
            late: late,
            besides: ledger,
            graphWriter?.errors,
            of: chunk.entry,
            &progress,
            database
        )
        if job.retry != nil, progress.marker.recordOrdinal < batch.end.ordinal {
            let ordinals = progress.marker.recordOrdinal + 1...batch.end.ordinal
            try RetryOutcome.settle(ordinals, of: job.id, database)
        }
        try counts.write(chunk.entry, batch, changes, database)
        progress.advance(to: batch.end, of: chunk.entry, path: path(batch.end.path, of: chunk))
        return changes
    }

    /// Runs a transaction that has the store's write lock from its beginning.
    ///
    /// `BEGIN IMMEDIATE` locks all of the connection's databases, and an image cannot be: it is read only. A first statement
    /// that changes no row locks the store alone, as well and as patiently
    /// (<https://www.sqlite.org/lang_transaction.html>).
    private func transaction(
        _ database: Database,
        reading batch: BoxedBatch?,
        _ body: () throws -> Database.TransactionCompletion
    ) throws {
        func run() throws {
            try database.inTransaction(.deferred) {
                try database.cachedStatement(sql: "DELETE FROM main._import_job WHERE 0").execute()
                return try body()
            }
        }
        guard let attached, let batch else { return try run() }
        try attached.showing(batch.content, run)
    }

    package func retriedRecords(of chunk: ChunkEntry) throws -> RetriedRecords? {
        guard job.retry != nil else { return nil }
        return try ImportError.explaining(store) {
            try queue.read { try RetriedRecords($0, job: job, chunk: chunk) }
        }
    }

    /// The lock keeps other importers away; should it ever not, nothing is doubled.
    private func checkThatNobodyElseCommits(_ progress: borrowing CommitState, _ database: Database) throws {
        let commits = try Int64.fetchOne(
            database.cachedStatement(sql: "SELECT commits FROM _import_job WHERE id = ?"),
            arguments: [job.id]
        )
        guard commits == progress.marker.commits else {
            throw ImportError(
                .storeInUse,
                at: store,
                "another import has committed to it meanwhile",
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
        _ image: DatabaseImage?,
        _ found: LateRejects,
        source: Int,
        _ progress: inout CommitState,
        _ changes: inout [EntityChanges],
        _ retained: inout RetainedRows?,
        _ database: Database
    ) throws -> [RowBatch.Reject] {
        var late: [RowBatch.Reject] = []
        for (index, writer) in writers.enumerated() where batch.recordsRead[index] > 0 {
            let deferred = DeferredUniqueIndex(job: job, position: index, plan: plans[index])
            let isDeferred = progress.deferredIdentifiers.contains(index)
            writer.presence = isDeferred ? PresenceMasks() : nil
            var places = isDeferred && job.options.onConflict == .error ? RecordPositions() : nil
            var order = PrecedingRowTracker(Int32(index))
            if let rowIDs = try image.flatMap({ try writer.copy($0, of: batch, database) }) {
                changes[index].insert(rowIDs)
                order.laidOutRowIDs = rowIDs
                if places != nil {
                    var rowID = rowIDs.lowerBound
                    for (row, place) in zip(batch.rows, batch.places) where row.isLaidOut && Int(row.entity) == index {
                        places?.add(place, ordinal: row.ordinal, rowID: rowID, found.chunkBytes)
                        rowID += 1
                    }
                }
            }
            try writer.write(
                batch,
                chunkBytes: found.chunkBytes,
                settle: {
                    try deferred.save(writer.presence, database)
                    try deferred.settle(&changes[index], &progress.errorGroups, database)
                    writer.presence = nil
                    progress.deferredIdentifiers.remove(index)
                }
            ) { place, effect in
                // What was refused has no row, or protects it as a reject.
                if retained != nil, let rowID = writer.rowID(of: effect) { retained?.add(rowID, of: index) }
                switch effect {
                case .inserted where !writer.hasRowID: changes[index].countWithoutRowID(inserted: 1)
                case .updated where !writer.hasRowID: changes[index].countWithoutRowID(updated: 1)
                case .inserted(let rowID):
                    changes[index].insert(rowID)
                    let ordinal = batch.rows[place].ordinal
                    places?.add(batch.places[place], ordinal: ordinal, rowID: rowID, found.chunkBytes)
                case .updated(let rowID): changes[index].update(rowID)
                case .unchanged: changes[index].unchanged += 1
                case .ignored: changes[index].ignored += 1
                case .duplicate:
                    let error = plans[index].duplicateError(at: batch.places[place].identifierOffset)
                    late.append(found.reject(place, error, batch))
                case .refused(let refusal):
                    late.append(found.reject(place, found.error(refusal, place, batch), batch))
                case .incomplete: late.append(batch.insertRejects[Int(batch.rows[place].insertReject)])
                case .waiting:
                    let last = changes[index].insertedRanges.last?.upperBound
                    if let last = try order.lastRowID(
                        before: place,
                        batch,
                        last: last,
                        lastOfTable: { try deferred.lastRowID(database) }
                    ) {
                        let keeper =
                            try keepers[index] ?? IncompleteRecordWriter(database, job: job, plan: plans[index])
                        keepers[index] = keeper
                        try keeper.keep(place, of: batch, chunk: found.chunkBytes, source: source, after: last)
                        changes[index].countWaiting(1, job.options.onConflict)
                    } else {
                        // There is no object yet.
                        late.append(batch.insertRejects[Int(batch.rows[place].insertReject)])
                    }
                }
            }
            try deferred.save(writer.presence, database)
            try deferred.save(places, source: source, database)
        }
        return late
    }
}
