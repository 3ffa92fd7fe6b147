import Foundation
import ImportModel
import Importer

/// Makes rejects of records that turn out not to do when their buckets are settled: their bytes are in their chunks still.
struct LateRejectFinder {
    /// So many are read at a time.
    private static let page = 10_000

    private let task: ChunkWorker.Task
    private let plans: [EntityPlan]
    private let decoder: ChunkDecoder

    private var label: String { task.store.label }

    init(_ task: ChunkWorker.Task, _ model: PGModel) {
        self.task = task
        plans = model.plans
        decoder = task.decoder(model)
    }

    /// Why a record does not do.
    private enum Reason {
        /// It lacks what a new object needs.
        case missing
        /// Its object is there already.
        case duplicate
        /// The server has refused its object.
        case refused(RefusedRow)
    }

    /// A record that does not do.
    private struct Late {
        let ordinal: Int64
        let reason: Reason
    }

    /// Writes the rejects that a bucket's query gives, in its transaction: those of one chunk at a time.
    ///
    /// - Throws: `ImportError`, also where the job wants to stop at the first reject; `PGError`.
    func reject(by query: String, position: Int, bucket: Int, _ connection: PGConnection) throws {
        let entity = plans[position].entity.name
        connection.post("DECLARE _import_late NO SCROLL CURSOR FOR \(query)")
        let chunks = ChunkTable(job: task.job.id)
        var waiting: ArraySlice<Late> = []
        var entry: ChunkEntry?
        var own: [Late] = []
        while true {
            if waiting.isEmpty {
                waiting = try connection.execute("FETCH \(Self.page) FROM _import_late").map {
                    try late($0, entity)
                }[...]
            }
            guard let first = waiting.first else { break }
            if let current = entry, first.ordinal >= current.ordinals.upperBound {
                try write(own, of: current, position: position, bucket: bucket, connection)
                own.removeAll(keepingCapacity: true)
                entry = nil
            }
            let current = try entry ?? chunks.entry(having: first.ordinal, connection, label: label)
            entry = current
            let more = waiting.prefix { $0.ordinal < current.ordinals.upperBound }
            own += more
            waiting = waiting.dropFirst(more.count)
        }
        if let entry { try write(own, of: entry, position: position, bucket: bucket, connection) }
        connection.post("CLOSE _import_late")
    }

    private func late(_ row: PGRow, _ entity: String) throws -> Late {
        let ordinal = try row.integer(0)
        guard let code = try row.optionalText(3) else {
            return Late(ordinal: ordinal, reason: try row.bool(2) ? .missing : .duplicate)
        }
        let error = RecordError(
            entity: entity,
            keyPath: "",
            code: CoercionError.Code(rawValue: code) ?? .constraintViolation,
            expected: try row.text(4),
            found: try row.text(5),
            byteOffset: 0
        )
        return Late(ordinal: ordinal, reason: .refused(RefusedRow(ordinal: ordinal, error: error)))
    }

    private func write(
        _ late: [Late],
        of entry: ChunkEntry,
        position: Int,
        bucket: Int,
        _ connection: PGConnection
    ) throws {
        var tally = PGCounts.Tally(entities: plans.count)
        for reject in try rejects(late, of: entry, connection) { tally.rejectLate(reject) }
        guard tally.rejects.count == late.count else {
            throw ImportError(
                .fault,
                at: label,
                "the chunk \(entry.number) has not all records that are rejects now"
            )
        }
        if task.job.options.onError == .stop { try Self.stop(at: tally.rejects, of: entry, task) }
        // Each bucket counts apart from the chunk's own rows.
        let place = Int64(position * 256 + bucket + 1) << 32
        try PGCounts(job: task.job, plans: plans).writeRejects(tally, of: entry, place: place, connection)
    }

    /// Ends a job that wants to stop at the first reject.
    static func stop(at rejects: [RowBatch.Reject], of entry: ChunkEntry, _ task: ChunkWorker.Task) throws {
        do {
            try RejectLimit(task.job).check(rejects, after: 0)
        } catch let excess as RejectLimit.Excess {
            throw excess.error(in: task.job.sources[entry.source].description.name).advising(
                "What others settle meanwhile stays. Restart with \(.restart), and a corrected source or other options."
            )
        }
    }

    /// Finds records again in a chunk that is committed already.
    private func rejects(
        _ late: [Late],
        of entry: ChunkEntry,
        _ connection: PGConnection
    ) throws -> [RowBatch.Reject] {
        let reasons = Dictionary(late.map { ($0.ordinal, $0.reason) }) { first, _ in first }
        var refused = RefusedRows()
        for case .refused(let row) in reasons.values { refused.add(row) }
        var rejects: [RowBatch.Reject] = []
        try task.forEachBatch(of: entry, plans, decoder, connection) { batch, late in
            for (index, row) in batch.rows.enumerated() {
                guard let reason = reasons[row.ordinal] else { continue }
                let place = batch.places[index]
                if case .missing = reason, row.insertReject >= 0 {
                    rejects.append(batch.insertRejects[Int(row.insertReject)])
                } else {
                    let error =
                        refused[row.ordinal]?.error(at: place.byteOffset)
                        ?? plans[Int(row.entity)].duplicateError(at: place.identifierOffset)
                    rejects.append(late.reject(index, error, batch))
                }
            }
        }
        return rejects
    }
}
