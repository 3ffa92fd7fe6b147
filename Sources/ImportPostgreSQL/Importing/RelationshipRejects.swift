import ImportModel
import Importer

/// Reads records again that were staged, in their chunks, where they are not accepted: most of them become rejects.
final class RelationshipRejects {
    /// The number of the first group of their errors among a chunk's: after those of all buckets.
    private static let place = Int64(1) << 60

    /// That of the next group of a chunk's: they may be written in several goes.
    static func nextPlace(of job: Int64, in entry: ChunkEntry, _ connection: PGConnection) throws -> Int64 {
        try connection.execute(
            "SELECT coalesce(max(place) + 1, $3) FROM _import_ledger WHERE job = $1 AND chunk = $2 AND place >= $3",
            [.integer(job), .integer(Int64(entry.number)), .integer(place)]
        ).first?.integer(0) ?? place
    }

    /// Why a record is a reject.
    enum Reason {
        /// These of its statements lack what an object needs, or its own object is there already (`RelationshipStatements.duplicate`).
        case lacking(Set<Int>)
        /// The server has refused what it says.
        case refused(RefusedRow)
        /// References of it lead to nothing.
        case dangling(DanglingReferenceErrors)
    }

    /// By entity.
    struct Counts {
        /// Records.
        var records: [Int64]
        /// References without more than an identifier that they had.
        var linked: [Int64]

        init(entities: Int) {
            records = Array(repeating: 0, count: entities)
            linked = records
        }
    }

    private let task: ChunkWorker.Task
    private let model: PGModel
    private let decoder: ChunkDecoder

    init(_ task: ChunkWorker.Task, _ model: PGModel) {
        self.task = task
        self.model = model
        decoder = task.decoder(model)
    }

    /// Writes rejects.
    ///
    /// - Parameter records: in order.
    func write(_ records: [(ordinal: Int64, reason: Reason)], _ connection: PGConnection) throws -> Counts {
        var counts = Counts(entities: model.plans.count)
        let reasons = Dictionary(records.map { ($0.ordinal, $0.reason) }) { first, _ in first }
        try forEachChunk(of: records.map(\.ordinal), connection) { entry in
            var tally = PGCounts.Tally(entities: model.plans.count)
            var count = 0
            try forEachRecord(of: entry, connection, finding: { try find(reasons, $0, $1, entry) }) {
                index,
                batch,
                late in
                let record = batch.graph.records[index]
                let row = batch.rows[record.row]
                guard let reason = reasons[row.ordinal] else { return }
                count += 1
                countLinked(by: record, batch, &counts)
                let entity = model.plans[Int(row.entity)].entity.name
                let place = batch.places[index]
                let errors =
                    switch reason {
                    case .lacking(let children): lacks(record, children, batch, place).map { $0.of(entity) }
                    case .refused(let refused): [refused.error(of: entity, at: place.byteOffset)]
                    case .dangling(let dangling):
                        try dangling.errors(of: index, batch, late, source: entry.source).map { $0.of(entity) }
                    }
                tally.rejectLate(late.reject(row, place, errors))
            }
            try check(count, of: records.map(\.ordinal), in: entry)
            if task.job.options.onError == .stop { try LateRejectFinder.stop(at: tally.rejects, of: entry, task) }
            for reject in tally.rejects { counts.records[Int(reject.entity)] += 1 }
            try PGCounts(job: task.job, plans: model.plans)
                .writeRejects(
                    tally,
                    of: entry,
                    place: Self.nextPlace(of: task.job.id, in: entry, connection),
                    connection
                )
        }
        return counts
    }

    /// Counts records that are passed over.
    ///
    /// - Parameter ordinals: in order.
    func count(_ ordinals: [Int64], _ connection: PGConnection) throws -> Counts {
        var counts = Counts(entities: model.plans.count)
        let wanted = Set(ordinals)
        try forEachChunk(of: ordinals, connection) { entry in
            var count = 0
            try forEachRecord(of: entry, connection) { index, batch, _ in
                let record = batch.graph.records[index]
                let row = batch.rows[record.row]
                guard wanted.contains(row.ordinal) else { return }
                count += 1
                counts.records[Int(row.entity)] += 1
                countLinked(by: record, batch, &counts)
            }
            try check(count, of: ordinals, in: entry)
        }
        return counts
    }

    // MARK: Records

    /// Calls `body` with each chunk that has some of these records.
    private func forEachChunk(
        of ordinals: [Int64],
        _ connection: PGConnection,
        _ body: (ChunkEntry) throws -> Void
    ) throws {
        let chunks = ChunkTable(job: task.job.id)
        var rest = ordinals[...]
        while let first = rest.first {
            let entry = try chunks.entry(having: first, connection, label: task.store.label)
            rest = rest.drop { entry.ordinals.contains($0) }
            try body(entry)
        }
    }

    /// Looks up what references of a batch's records lead to nothing.
    private func find(
        _ reasons: [Int64: Reason],
        _ batch: RowBatch,
        _ late: LateRejects,
        _ entry: ChunkEntry
    ) throws {
        var errors: DanglingReferenceErrors?
        let dangling = batch.graph.records.indices.filter { index in
            guard case .dangling(let found)? = reasons[batch.rows[batch.graph.records[index].row].ordinal] else {
                return false
            }
            errors = found
            return true
        }
        try errors?.find(dangling, batch, late, source: entry.source)
    }

    /// Calls `body` with each record of a chunk that was staged, and its index in a batch.
    ///
    /// - Parameter finding: called with each batch before.
    private func forEachRecord(
        of entry: ChunkEntry,
        _ connection: PGConnection,
        finding: (RowBatch, LateRejects) throws -> Void = { _, _ in },
        _ body: (Int, borrowing RowBatch, LateRejects) throws -> Void
    ) throws {
        try task.forEachBatch(of: entry, model.plans, decoder, connection) { batch, late in
            try finding(batch, late)
            for index in batch.graph.records.indices { try body(index, batch, late) }
        }
    }

    private func check(_ count: Int, of ordinals: [Int64], in entry: ChunkEntry) throws {
        guard count != ordinals.count(where: entry.ordinals.contains) else { return }
        throw ImportError(
            .fault,
            at: task.store.label,
            "the chunk \(entry.number) has not all records that are not accepted now"
        )
    }

    private func countLinked(by record: GraphBatch.Record, _ batch: borrowing RowBatch, _ counts: inout Counts) {
        for operation in batch.graph.operations[record.operations] {
            if case .reference(let entity) = operation { counts.linked[entity] += 1 }
        }
    }

    /// What is wrong with a record some of whose statements lack something, or whose object is there already.
    private func lacks(
        _ record: GraphBatch.Record,
        _ children: Set<Int>,
        _ batch: borrowing RowBatch,
        _ place: RowBatch.RecordLocation
    ) -> [ImportModel.RecordError] {
        if children.contains(RelationshipStatements.duplicate) {
            return [model.plans[Int(batch.rows[record.row].entity)].duplicateError(at: place.identifierOffset)]
        }
        let operations = batch.graph.operations[record.operations]
        var errors: [ImportModel.RecordError] = []
        // What is nested in an object that is not there is not even looked at.
        var failed: Set<Int> = []
        for (child, operation) in operations.enumerated() {
            guard case .row(let index) = operation else { continue }
            if failed.contains(Int(batch.rows[index].parent)) {
                failed.insert(index)
            } else if children.contains(child), batch.rows[index].insertReject >= 0 {
                errors += batch.insertRejects[Int(batch.rows[index].insertReject)].errors
                failed.insert(index)
            }
        }
        return errors
    }
}

extension RefusedRow {
    /// The error of a record of an entity, which it is about where the server names no other.
    fileprivate func error(of entity: String, at byteOffset: Int64) -> ImportModel.RecordError {
        let error = error(at: byteOffset)
        return error.entity.isEmpty ? error.of(entity) : error
    }
}
