import ImportModel
import Importer

/// What is counted, and which records are rejects.
extension ReplaySettlement {
    /// Adds the rejects that decoding alone did not give.
    func writeRejects(from store: ReplayStore) throws {
        let chunks = ChunkTable(job: job)
        let counts = PGCounts(job: task.job, plans: model.plans)
        var entry: ChunkEntry?
        var known: Set<Int64> = []
        var tally = PGCounts.Tally(entities: model.plans.count)
        func write() throws {
            guard let entry, !tally.rejects.isEmpty else { return }
            if task.job.options.onError == .stop { try LateRejectFinder.stop(at: tally.rejects, of: entry, task) }
            let place = try RelationshipRejects.nextPlace(of: job, in: entry, connection)
            try counts.writeRejects(tally, of: entry, place: place, connection)
            tally = PGCounts.Tally(entities: model.plans.count)
        }
        try store.forEachReject { reject in
            if entry?.ordinals.contains(reject.ordinal) != true {
                try write()
                let next = try chunks.entry(having: reject.ordinal, connection, label: label)
                entry = next
                known = try Set(
                    connection.execute(
                        "SELECT ordinal FROM _import_reject WHERE job = $1 AND chunk = $2",
                        [.integer(job), .integer(Int64(next.number))]
                    ).map { try $0.integer(0) }
                )
            }
            guard !known.contains(reject.ordinal) else { return }
            guard
                let entity = model.plans.firstIndex(where: {
                    BytewiseString($0.entity.name) == BytewiseString(reject.entity)
                })
            else { throw ImportError(.fault, at: label, "a reject is of no entity of the model") }
            tally.rejectLate(
                RowBatch.Reject(
                    entity: Int32(entity),
                    ordinal: reject.ordinal,
                    byteOffset: reject.byteOffset,
                    length: reject.length,
                    errors: reject.errors,
                    bytes: reject.record,
                    key: reject.key
                )
            )
        }
        try write()
    }

    /// Brings counts and ledger to what the SQLite store has counted.
    func writeCounts(from store: ReplayStore) throws {
        let before = try PGCounts.totals(of: task.job, connection)
        for (position, now) in try store.totals().enumerated() {
            let pairs = zip(Self.counts(of: now), Self.counts(of: before[position])).map { ($0.0, $0.1 - $1.1) }
            guard pairs.contains(where: { $0.1 != 0 }) else { continue }
            let names = pairs.map(\.0)
            let places = names.indices.map { "$\($0 + 4)" }
            _ = try connection.execute(
                """
                INSERT INTO _import_count (job, chunk, position, \(names.joined(separator: ", ")))
                VALUES ($1, $2, $3, \(places.joined(separator: ", ")))
                """,
                [.integer(job), .integer(RelationshipSteps.chunk), .integer(Int64(position))]
                    + pairs.map { .integer($0.1) }
            )
        }
        for (entity, attribute, kind, count) in try store.ledger() {
            _ = try connection.execute(
                """
                INSERT INTO _import_ledger (job, chunk, entity, attribute, kind, count)
                SELECT $1, $2, $3, $4, $5, $6 - known.count FROM (
                    SELECT coalesce(sum(count), 0)::bigint AS count FROM _import_ledger
                    WHERE job = $1 AND entity = $3 AND attribute = $4 AND kind = $5 AND NOT is_error
                ) AS known WHERE known.count < $6::bigint
                """,
                [
                    .integer(job), .integer(RelationshipSteps.chunk), .bookkeeping(entity), .bookkeeping(attribute),
                    .text(kind.rawValue), .integer(count),
                ]
            )
        }
    }

    /// The columns of `_import_count` with what totals have of each.
    private static func counts(of totals: EntityTotals) -> [(String, Int64)] {
        [
            ("records_read", totals.recordsRead), ("inserted", totals.inserted), ("updated", totals.updated),
            ("unchanged", totals.unchanged), ("ignored", totals.ignored), ("rejected", totals.rejected),
            ("nested", totals.nested.nested), ("nested_inserted", totals.nested.inserted),
            ("nested_updated", totals.nested.updated), ("nested_unchanged", totals.nested.unchanged),
            ("linked", totals.nested.linked), ("stubs", totals.nested.stubs), ("deleted", totals.nested.deleted),
        ]
    }
}
