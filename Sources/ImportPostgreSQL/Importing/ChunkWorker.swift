import Foundation
import ImportModel
import Importer

/// One worker: takes chunks that nobody has, decodes them, and commits each with everything that counts it, in one transaction.
///
/// It has a connection of its own. It may be in the importing process or in any other on a host that sees the chunk folder.
final class ChunkWorker {
    /// What the workers of a process have in common.
    struct Task: Sendable {
        let store: PostgreSQLStore
        /// The workers' connections, which settle what they have staged, too.
        let links: IdlePool<PGWorkerConnection>
        let job: StoredJob
        let model: ModelDescription
        let transformers: TransformerRegistry
        let directory: ChunkDirectory
        /// Removes chunks that are committed; nil where they stay.
        let removal: ChunkCleanup?
        let interruption: Interruption
        let signal: ChunkSignal
        /// How long there may be nothing to do and no importing process, in seconds; nil in the importing process itself.
        var endsWithout: Double?
        /// Told of what is committed: records, bytes, rejects.
        let onCommit: @Sendable (_ records: Int64, _ bytes: Int64, _ rejects: Int64) -> Void

        /// The model as the server has it, for one worker.
        func serverModel() throws -> PGModel {
            try PGModel(model, job.options, transformers, label: store.label)
        }

        /// Lets a decoder have a chunk.
        ///
        /// - Parameter retried: what its records are, in a retry.
        func open(_ entry: ChunkEntry, _ decoder: ChunkDecoder, _ retried: RetriedRecords? = nil) throws {
            let source = job.sources[entry.source]
            let chunk = SealedChunk(
                entry,
                in: directory,
                shape: source.shape,
                maxRecordBytes: SplitLimits(job.options).maxRecordBytes
            )
            try decoder.open([chunk], skipping: .none, source: source.description.name, retried: retried)
        }

        func decoder(_ model: PGModel) -> ChunkDecoder {
            // A retry knows of each of its records by itself which entity it is.
            let bySource = job.sources.map { source in
                job.retry != nil
                    ? model.plans : source.entities.compactMap { name in model.plans.first { $0.entity.name == name } }
            }
            return ChunkDecoder(
                plans: bySource,
                columns: job.sources.map(\.columns),
                entities: model.plans.count,
                graph: model.related?.graph,
                options: job.options
            )
        }
    }

    /// Up to this many records are decoded, then encoded: few enough for their values to be in the processor's cache still.
    static let batchSize = 512

    private let task: Task
    private let plans: [EntityPlan]
    /// Stages what records say, where entities relate to one another; nil where none do.
    private let stager: RelationshipStager?
    private let decoder: ChunkDecoder
    private let chunks: ChunkTable
    private let counts: PGCounts
    private let owner: String
    private let retries: RetryTable?
    private var rows: [ChunkRows]
    private let link: PGWorkerConnection
    private lazy var valueLocator = ValueLocator(task.job.options)

    private var job: StoredJob { task.job }
    private var label: String { task.store.label }

    /// - Throws: `ImportError` where the model cannot be imported with.
    init(_ task: Task, _ link: PGWorkerConnection) throws {
        self.task = task
        self.link = link
        let model = try task.serverModel()
        plans = model.plans
        decoder = task.decoder(model)
        chunks = ChunkTable(job: task.job.id)
        counts = PGCounts(job: task.job, plans: plans)
        owner = Self.makeOwner()
        retries = RetryTable(of: task.job)
        stager = model.related.map { tables in
            RelationshipStager(tables, isSerial: model.serial != nil) { entity in
                while true {
                    do {
                        // On the server's disk: one that ends at once would give them again.
                        return try link.use { connection in
                            try connection.transaction("BEGIN; SET LOCAL synchronous_commit = on") {
                                try tables.rowIDs(of: entity, connection)
                            }
                        }
                    } catch is UnknownCommitOutcome {
                        link.close()
                    }
                }
            }
        }
        if let stager {
            rows = try stager.makeRows(task.job)
        } else {
            rows = try plans.map { plan in
                guard !plan.identifier.isEmpty else { return try ChunkRows(plan, task.job.options) }
                let stage = StagingName.rows(of: task.job.id, Int(plan.index))
                return try ChunkRows(staging: plan, table: stage, task.job.options)
            }
        }
    }

    /// 128 random bits, in hexadecimal.
    static func makeOwner() -> String {
        var random = SystemRandomNumberGenerator()
        return (0..<2).map { _ in
            let digits = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    // MARK: Its life

    /// Works until all chunks are done.
    ///
    /// - Throws: `ImportError`; what was committed before stays, and no chunk is left half committed.
    func work() throws {
        var idleTime = IdleTimer()
        while true {
            try task.interruption.check()
            if task.signal.isDone { return }
            let seen = task.signal.count
            let (lease, outlook) = try link.use { try chunks.lease(owner, host: task.store.host, $0, label: label) }
            if let lease {
                task.signal.take()
                try importChunk(lease)
                task.signal.rest()
                idleTime = IdleTimer()
                continue
            }
            guard let outlook, !outlook.hasFailed else {
                throw ImportError(
                    .storeFailed,
                    at: label,
                    "another worker has given up a chunk",
                    advice: "See the messages of the workers, then resume: \(call: .resuming(store: label))."
                )
            }
            if outlook.isDone || task.endsWithout != nil && outlook.state == "finished" {
                task.signal.end()
                return
            }
            if let seconds = task.endsWithout {
                let isLed = try link.use { [task] in try PGLockingSession.isLockHeld($0, task.store.lockName) }
                try idleTime.check(isLed: isLed, seconds, at: label)
            }
            task.signal.wait(after: seen, seconds: 0.25)
        }
    }

    // MARK: One chunk

    private func importChunk(_ lease: ChunkLease) throws {
        do {
            var refused = RefusedRows()
            while true {
                // A row that the server does not take makes its record a reject, and the chunk is done again without it.
                do {
                    let rows = try decodeAndCommit(lease, without: refused)
                    if rows.isEmpty { break }
                    for row in rows { refused.add(row) }
                } catch is RetryTable.Changed {
                    continue
                }
            }
        } catch {
            let isOurs = try? link.use { try chunks.giveBack(lease, owner, $0) }
            // Whoever has committed the chunk meanwhile has done with its file, too.
            if isOurs == false, (error as? ImportError)?.reason == .chunkDamaged { return }
            throw error
        }
    }

    /// Rows that the server has refused; nothing of the chunk is committed.
    private struct Refusal: Error {
        let rows: [RefusedRow]
    }

    /// - Returns: the rows that the server has refused, with nothing committed; none when all is done.
    private func decodeAndCommit(_ lease: ChunkLease, without refused: RefusedRows) throws -> [RefusedRow] {
        let source = job.sources[lease.entry.source]
        let retried = try retries.map { retries in try link.use { try retries.records(of: lease.entry, $0) } }
        let tally = try decode(lease.entry, retried, without: refused)
        try checkLimit(tally, source.description.name)
        do {
            guard try commit(lease, tally, retried) else {
                // Another one has taken it over; what this one did is not in the store.
                return []
            }
        } catch let refusal as Refusal {
            return refusal.rows
        }
        // Whoever waits for the last chunks looks again.
        task.signal.noteDone()
        task.onCommit(
            Int64(lease.entry.records),
            lease.entry.endByte - lease.entry.firstByte,
            tally.rejected.reduce(0, +)
        )
        if !tally.rejects.isEmpty {
            // A model that none of the first records fits is most likely another's.
            if lease.entry.firstOrdinal == 1, job.options.maxErrors == nil {
                try checkRejects(tally, source.description.name)
            }
            try judge()
        }
        if lease.entry.records > 0 { try task.removal?.remove(lease.entry.number) }
        return []
    }

    private func decode(
        _ entry: ChunkEntry,
        _ retried: RetriedRecords?,
        without refused: RefusedRows
    ) throws -> PGCounts.Tally {
        var tally = PGCounts.Tally(entities: plans.count)
        for index in rows.indices { rows[index].begin() }
        try task.open(entry, decoder, retried)
        var batch = DecodedBatch()
        // A chunk without records still has what is outside of them.
        repeat {
            try task.interruption.check()
            decoder.decode(upTo: Self.batchSize, into: &batch)
            if let stager {
                try stager.number(&batch.rows)
                try add(batch.rows, refused, stager, &tally)
            } else {
                add(batch.rows, refused, &tally)
            }
        } while !decoder.isExhausted
        for reject in tally.rejects { tally.rejected[Int(reject.entity)] += 1 }
        for (entity, rows) in rows.prefix(plans.count).enumerated() {
            for (kind, counts) in [(LedgerKind.nulled, rows.nulled), (.nulReplaced, rows.replaced)] {
                for (attribute, count) in counts {
                    let name = plans[entity].entity.attributes[attribute].name
                    tally.ledger.add(kind, entity: Int32(entity), attribute: name, count: Int64(count))
                }
            }
        }
        return tally
    }

    /// Stages records of entities that relate to one another, each as a whole.
    private func add(
        _ batch: borrowing RowBatch,
        _ refused: RefusedRows,
        _ stager: RelationshipStager,
        _ tally: inout PGCounts.Tally
    ) throws {
        tally.add(batch)
        tally.countByEntity(batch)
        let late = LateRejects(plans: plans, chunkBytes: decoder.bytes)
        try decoder.bytes.withUnsafeBufferPointer { chunk in
            for (index, record) in batch.graph.records.enumerated() {
                let (row, place) = (batch.rows[record.row], batch.places[index])
                var error = refused[row.ordinal].map { $0.error(at: place.byteOffset) }
                if error == nil {
                    switch try stager.add(record, batch, chunk, &rows) {
                    case .staged(let linked): for entity in linked { tally.linked[entity] += 1 }
                    case .refused(let fault, let entity):
                        error = rows[entity].error(fault, byteOffset: place.byteOffset)
                    }
                }
                guard let error else { continue }
                tally.rejectLate(late.reject(row, place, [error.of(plans[Int(row.entity)].entity.name)]))
            }
        }
    }

    private func add(
        _ batch: borrowing RowBatch,
        _ refused: RefusedRows,
        _ tally: inout PGCounts.Tally
    ) {
        tally.add(batch)
        let late = LateRejects(plans: plans, chunkBytes: decoder.bytes)
        decoder.bytes.withUnsafeBufferPointer { chunk in
            batch.bytes.withUnsafeBufferPointer { own in
                batch.cells.withUnsafeBufferPointer { cells in
                    for (place, row) in batch.rows.enumerated() {
                        let entity = Int(row.entity)
                        let record = batch.places[place]
                        if let refusal = refused[row.ordinal] {
                            let error = refusal.error(at: byteOffset(of: refusal.attribute, entity, record, chunk))
                            tally.rejectLate(late.reject(place, error, batch))
                            continue
                        }
                        let fault = rows[entity].append(
                            row,
                            cells: cells,
                            chunk: chunk,
                            own: own,
                            presence: batch.presence
                        )
                        guard let fault else {
                            // Of a staged row it is not known yet what it comes to.
                            if plans[entity].identifier.isEmpty { tally.inserted[entity] += 1 }
                            continue
                        }
                        let byteOffset = byteOffset(of: fault.attribute, entity, record, chunk)
                        let error = rows[entity].error(fault, byteOffset: byteOffset)
                        tally.rejectLate(late.reject(place, error, batch))
                    }
                }
            }
        }
    }

    /// Where in the source the value of a record is that an error is about; the record itself where it is about none.
    private func byteOffset(
        of attribute: Int?,
        _ entity: Int,
        _ record: RowBatch.RecordLocation,
        _ chunk: UnsafeBufferPointer<UInt8>
    ) -> Int64 {
        guard let attribute else { return record.byteOffset }
        return valueLocator.byteOffset(of: attribute, plans[entity], in: record, chunk)
    }

    /// Where the first reject stops the import, no chunk with one is committed.
    private func checkLimit(_ tally: PGCounts.Tally, _ source: String) throws {
        guard !tally.rejects.isEmpty, job.options.onError == .stop else { return }
        do {
            try checkRejects(tally, source)
        } catch let error as ImportError {
            throw error.advising(
                """
                Nothing of its chunk is imported. Correct the source from there on, then \(.sameAgain).
                Or restart with \(.restart) and other options.
                """
            )
        }
    }

    private func checkRejects(_ tally: PGCounts.Tally, _ source: String) throws {
        do {
            try RejectLimit(job).check(tally.rejects.sorted { $0.ordinal < $1.ordinal }, after: 0)
        } catch let excess as RejectLimit.Excess {
            throw excess.error(in: source)
        }
    }

    /// How many rejects there may be is judged on the unbroken run of chunks that are done, from the first on.
    private func judge() throws {
        guard let limit = job.options.maxErrors, case .count = limit else { return }
        let run = try link.use { try chunks.unbrokenRun($0) }
        try RejectLimit.judge(rejected: run.rejects, of: run.records, by: limit)
    }

    // MARK: Its transaction

    /// - Returns: whether it is committed by this lease; otherwise another one has the chunk.
    /// - Throws: `Refusal`, and `ImportError`.
    private func commit(
        _ lease: ChunkLease,
        _ tally: PGCounts.Tally,
        _ retried: RetriedRecords?
    ) throws -> Bool {
        try link.commit(
            { try transaction(lease, tally, retried, $0) },
            wasDone: { try chunks.isDone(lease, owner, $0) }
        )
    }

    private func transaction(
        _ lease: ChunkLease,
        _ tally: PGCounts.Tally,
        _ retried: RetriedRecords?,
        _ connection: PGConnection
    ) throws -> Bool {
        struct Lost: Error {}
        // Whose COPY it was that the server has refused.
        var copied: ChunkRows?
        do {
            return try connection.transaction(task.store.durableBegin) {
                guard try chunks.fence(lease, owner, connection) else { throw Lost() }
                if let retried { try retries?.hold(lease.entry, retried, connection) }
                for rows in rows where rows.count > 0 {
                    copied = rows
                    let count = try connection.copy(rows.statement) { try rows.write(to: &$0) }
                    guard count == Int64(rows.count) else {
                        throw ImportError(.fault, at: label, "\(count) of \(rows.count) rows were copied")
                    }
                }
                copied = nil
                try counts.write(tally, of: lease.entry, connection)
                let staged = plans.indices.filter { stager != nil || !plans[$0].identifier.isEmpty }
                try retries?.settle(lease.entry, staged: staged, connection)
                return true
            }
        } catch is Lost {
            return false
        } catch let failure as PGError where !failure.isTransient {
            let refused = try copied?.findRefused(failure, connection) ?? []
            guard refused.isEmpty else { throw Refusal(rows: refused) }
            throw failure
        }
    }
}

/// How long there has been nothing to do, and no importing process.
struct IdleTimer {
    private var since: ContinuousClock.Instant?

    /// - Throws: `ImportError` with `.storeInUse` where nobody has led the import for more than `seconds`.
    mutating func check(isLed: Bool, _ seconds: Double, at label: String) throws {
        guard !isLed else {
            since = nil
            return
        }
        let start = since ?? .now
        since = start
        guard ContinuousClock.now - start > .seconds(seconds) else { return }
        throw ImportError(
            .storeInUse,
            at: label,
            "the importing process has ended, and nobody resumes the import",
            advice: "What is committed stays. Resume it: \(call: .resuming(store: label))."
        )
    }
}
