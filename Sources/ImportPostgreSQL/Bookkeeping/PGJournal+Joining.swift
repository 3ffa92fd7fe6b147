import Foundation
import ImportModel
import Importer

/// How a finished job becomes a part of an earlier one: its chunks come behind the other one's.
extension PGJournal {
    func join(_ job: StoredJob, to first: Int64) throws -> Bool {
        try session.write { connection in
            guard let later = try StoredJob.find(job.id, connection, label: label) else {
                // A call whose connection was lost has done it.
                return true
            }
            let isAlike = try connection.execute(
                """
                SELECT 1 FROM _import_job AS one JOIN _import_job AS other ON one.options = other.options
                    AND one.indexes = other.indexes
                WHERE one.id = $1 AND other.id = $2 AND one.state = 'finished' AND other.state = 'finished'
                """,
                [.integer(first), .integer(job.id)]
            )
            guard !isAlike.isEmpty, let earlier = try StoredJob.find(first, connection, label: label),
                let (model, places) = earlier.model(with: later)
            else { return false }
            let (sources, sourcePlaces) = try earlier.sources(with: later) { place in
                try connection.execute(
                    "SELECT max(end_byte) FROM _import_chunk WHERE job = $1 AND source = $2",
                    [.integer(first), .integer(Int64(place))]
                ).first?.optionalInteger(0)
            }
            try moveChunks(of: job.id, to: first, sourcePlaces, connection)
            try moveEntities(of: job.id, to: first, places, connection)
            save(model, of: first, isFinal: later.isModelFinal, connection)
            _ = try connection.execute(
                """
                UPDATE _import_job AS one SET sources = $3, message = other.message, finished = other.finished,
                    seconds = one.seconds + other.seconds
                FROM _import_job AS other WHERE one.id = $1 AND other.id = $2
                """,
                [.integer(first), .integer(job.id), .text(try BookkeepingJSON.encode(sources))]
            )
            for table in ["_import_settle", "_import_unresolved"] where try BookkeepingSchema.has(table, connection) {
                _ = try connection.execute("DELETE FROM \(table) WHERE job = $1", [.integer(job.id)])
            }
            _ = try connection.execute("DELETE FROM _import_job WHERE id = $1", [.integer(job.id)])
            return true
        }
    }

    /// Gives chunks, and the rejects of their records, numbers behind those of the other job.
    private func moveChunks(of job: Int64, to first: Int64, _ places: [Int], _ connection: PGConnection) throws {
        let last = try connection.execute(
            """
            SELECT coalesce(max(number), 0), coalesce(max(first_ordinal + records - 1), 0) FROM _import_chunk WHERE job = $1
            """,
            [.integer(first)]
        ).first
        let (chunks, records) = (try last?.integer(0) ?? 0, try last?.integer(1) ?? 0)
        let rows = try connection.execute("SELECT entry FROM _import_chunk WHERE job = $1", [.integer(job)])
        for row in rows {
            let entry = try BookkeepingJSON.decode(ChunkEntry.self, row.text(0))
            let moved = entry.moved(
                to: entry.number + Int(chunks),
                source: places[entry.source],
                firstOrdinal: entry.firstOrdinal + records
            )
            _ = try connection.execute(
                """
                UPDATE _import_chunk SET job = $3, number = $4, source = $5, first_ordinal = $6, entry = $7
                WHERE job = $1 AND number = $2
                """,
                [
                    .integer(job), .integer(Int64(entry.number)), .integer(first), .integer(Int64(moved.number)),
                    .integer(Int64(moved.source)), .integer(moved.firstOrdinal),
                    .text(try BookkeepingJSON.encode(moved)),
                ]
            )
        }
        // What is counted for no chunk has the numbers from 0 down.
        let chunk = "CASE WHEN chunk > 0 THEN chunk + $3 ELSE chunk END"
        let source = "('{\(places.map(String.init).joined(separator: ","))}'::integer[])"
        _ = try connection.execute(
            """
            UPDATE _import_reject SET job = $2, chunk = \(chunk), ordinal = ordinal + $4, source = \(source)[source + 1]
            WHERE job = $1
            """,
            [.integer(job), .integer(first), .integer(chunks), .integer(records)]
        )
        _ = try connection.execute(
            """
            INSERT INTO _import_ledger AS known (job, chunk, entity, attribute, kind, count, is_error, place, expected, found,
                first_byte_offset, first_ordinal, first_source)
            SELECT $2, \(chunk), entity, attribute, kind, count, is_error,
                CASE WHEN chunk > 0 THEN place ELSE (SELECT coalesce(max(place), 0) + 1 FROM _import_ledger WHERE job = $2) + place END,
                expected, found, first_byte_offset, first_ordinal + $4,
                coalesce(\(source)[first_source + 1], first_source)
            FROM _import_ledger WHERE job = $1
            ON CONFLICT (job, chunk, entity, attribute, kind) WHERE NOT is_error
                DO UPDATE SET count = known.count + excluded.count
            """,
            [.integer(job), .integer(first), .integer(chunks), .integer(records)]
        )
        _ = try connection.execute("DELETE FROM _import_ledger WHERE job = $1", [.integer(job)])
        _ = try connection.execute(
            "UPDATE _import_count SET chunk = chunk + $2 WHERE job = $1 AND chunk > 0",
            [.integer(job), .integer(chunks)]
        )
    }

    /// Adds the entities, and what was counted of them.
    private func moveEntities(of job: Int64, to first: Int64, _ places: [Int], _ connection: PGConnection) throws {
        // Tables of relationships, which come behind them, have the same places in both.
        let place =
            "coalesce(('{\(places.map(String.init).joined(separator: ","))}'::integer[])[position + 1], position)"
        _ = try connection.execute(
            """
            INSERT INTO _import_entity SELECT $2, \(place), entity, table_name, made_table, was_empty, buckets
            FROM _import_entity WHERE job = $1 ON CONFLICT (job, position) DO NOTHING
            """,
            [.integer(job), .integer(first)]
        )
        let sums = Self.counts.map { "\($0) = known.\($0) + excluded.\($0)" }.joined(separator: ", ")
        let columns = Self.counts.joined(separator: ", ")
        _ = try connection.execute(
            """
            INSERT INTO _import_count AS known (job, chunk, position, \(columns))
            SELECT $2, chunk, \(place), \(columns) FROM _import_count WHERE job = $1
            ON CONFLICT (job, chunk, position) DO UPDATE SET \(sums)
            """,
            [.integer(job), .integer(first)]
        )
        for table in ["_import_count", "_import_entity"] {
            _ = try connection.execute("DELETE FROM \(table) WHERE job = $1", [.integer(job)])
        }
    }

    private static let counts = [
        "records_read", "inserted", "updated", "unchanged", "ignored", "rejected", "nested", "nested_inserted",
        "nested_updated", "nested_unchanged", "linked", "stubs", "deleted",
    ]
}
