import ImportModel
import Importer

/// Makes rejects of records that were staged, whose bytes are in their chunks still.
final class RelationRejects {
    /// The number of the first group of their errors among a chunk's: after those of all buckets.
    private static let place = Int64(1) << 60

    private let task: ChunkWorker.Task
    private let model: ServerModel
    private let decoder: ChunkDecoder<UnusedLayout>

    init(_ task: ChunkWorker.Task, _ model: ServerModel) {
        self.task = task
        self.model = model
        decoder = task.decoder(model)
    }

    /// Writes rejects.
    ///
    /// - Parameter records: in order; by the number of each, which of its statements lack something, or that its own object is
    ///   there already (`RelationStatements.duplicate`).
    /// - Returns: by entity how many records it were, and how many references without more than an identifier they had.
    func write(
        _ records: [(ordinal: Int64, lacking: Set<Int>)],
        _ connection: ServerConnection
    ) throws -> (rejected: [Int64], linked: [Int64]) {
        let chunks = ChunkTable(job: task.job.id)
        var rejected = Array(repeating: Int64(0), count: model.plans.count)
        var linked = rejected
        var rest = records[...]
        while let first = rest.first {
            let entry = try chunks.entry(having: first.ordinal, connection, label: task.store.label)
            let own = rest.prefix { $0.ordinal < entry.firstOrdinal + Int64(entry.records) }
            rest = rest.dropFirst(own.count)
            var tally = ServerCounts.Tally(entities: model.plans.count)
            try find(
                Dictionary(own.map { ($0.ordinal, $0.lacking) }, uniquingKeysWith: { $0.union($1) }),
                in: entry,
                &tally
            )
            guard tally.rejects.count == own.count else {
                throw ImportError(
                    .fault,
                    at: task.store.label,
                    "the chunk \(entry.number) has not all records that are rejects now"
                )
            }
            if task.job.options.onError == .stop { try LateRecords.stop(at: tally.rejects, of: entry, task) }
            for reject in tally.rejects { rejected[Int(reject.entity)] += 1 }
            for entity in linked.indices { linked[entity] += tally.linked[entity] }
            try ServerCounts(job: task.job, plans: model.plans)
                .writeRejects(tally, of: entry, place: Self.place, connection)
        }
        return (rejected, linked)
    }

    private func find(
        _ wanted: [Int64: Set<Int>],
        in entry: ChunkEntry,
        _ tally: inout ServerCounts.Tally
    ) throws {
        try task.open(entry, decoder)
        var batch = DecodedBatch<UnusedLayout>()
        while !decoder.isExhausted {
            try task.interruption.check()
            decoder.decode(upTo: 8_192, into: &batch)
            let late = LateRejects(plans: model.plans, chunkBytes: decoder.bytes)
            for (place, record) in batch.rows.graph.records.enumerated() {
                let row = batch.rows.rows[record.row]
                guard let lacking = wanted[row.ordinal] else { continue }
                let place = batch.rows.places[place]
                var errors: [ImportModel.RecordError] = []
                if lacking.contains(RelationStatements.duplicate) {
                    errors.append(model.plans[Int(row.entity)].duplicateError(at: place.identifierOffset))
                }
                // What is nested in an object that is not there is not even looked at.
                var failed: Set<Int> = []
                for (child, statement) in batch.rows.graph.statements[record.statements].enumerated() {
                    switch statement {
                    case .row(let index) where failed.contains(Int(batch.rows.rows[index].parent)): failed.insert(index)
                    case .row(let index) where lacking.contains(child) && batch.rows.rows[index].unmet >= 0:
                        errors += batch.rows.unmet[Int(batch.rows.rows[index].unmet)].errors
                        failed.insert(index)
                    case .reference(let entity): tally.linked[entity] += 1
                    case .row, .links, .refers, .names, .joins: break
                    }
                }
                let entity = model.plans[Int(row.entity)].entity.name
                tally.rejectLate(late.reject(row, place, errors.map { $0.of(entity) }))
            }
        }
    }
}
