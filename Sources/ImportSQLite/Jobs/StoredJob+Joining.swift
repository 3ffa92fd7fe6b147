import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// How a finished job becomes a part of an earlier one.
extension StoredJob {
    /// What is kept of a job by itself, so that it stays one.
    private static let own = ["change", "undo", "undo_range", "undo_table", "mirror", "seen", "conflict", "retry"]
    /// What counts a job's records of an entity.
    private static let counts = [
        "records_read", "inserted", "updated", "unchanged", "ignored", "rejected", "deletions", "nested",
        "nested_inserted",
        "nested_updated", "nested_unchanged", "nested_ignored", "linked", "stubs", "deleted",
    ]

    /// Makes the job, the newest one, a part of an earlier one.
    ///
    /// - Returns: false where both stay.
    func join(to first: Int64, _ database: Database) throws -> Bool {
        let isAlike = try database.exists(
            """
            SELECT 1 FROM _import_job AS one JOIN _import_job AS other ON one.options = other.options
                AND one.given_model IS other.given_model AND one.is_given = other.is_given
            WHERE one.id = ? AND other.id = ? AND one.state = 'finished' AND other.state = 'finished'
            """,
            [first, id]
        )
        let isOwn = try Self.own.map { "_import_\($0)" }.contains {
            try database.hasTable($0) && database.exists("SELECT 1 FROM \($0) WHERE job IN (?, ?)", [first, id])
        }
        guard isAlike, !isOwn, let earlier = try StoredJob.find(first, database),
            let later = try StoredJob.find(id, database), let (model, places) = earlier.model(with: later)
        else { return false }
        let sources = try later.joinSources(to: earlier, database)
        let entities = try joinEntities(places, to: first, database)
        try InsertedRowRanges.join(id, to: first, database)
        let given: [String: (any DatabaseValueConvertible)?] = [
            "first": first, "job": id, "sources": try BookkeepingJSON.encode(sources),
            "entities": try BookkeepingJSON.encode(entities),
            "records": try Marker(database, job: first)?.recordOrdinal ?? 0,
            "model": try StoredJob.document(of: model, database),
        ]
        for sql in Self.joining {
            guard let table = sql.split(separator: " ").first(where: { $0.hasPrefix("_import_") }),
                try database.hasTable(String(table))
            else { continue }
            try database.cachedStatement(sql: sql)
                .execute(arguments: StatementArguments(given.filter { sql.contains(":\($0.key)") }))
        }
        return true
    }

    /// Adds the sources.
    ///
    /// - Returns: the places of the job's sources in the other one.
    private func joinSources(to earlier: StoredJob, _ database: Database) throws -> [Int] {
        let first = earlier.id
        let (all, places) = try earlier.sources(with: self) { place in
            try Int64.fetchOne(
                database,
                sql: """
                    SELECT end_byte FROM _import_chunk WHERE job = ? AND source = ? ORDER BY first_byte DESC LIMIT 1
                    """,
                arguments: [first, place]
            )
        }
        for (place, source) in all.enumerated() {
            let before = place < earlier.sources.count ? earlier.sources[place].description : nil
            guard source.description != before else { continue }
            let key = source.description.key?.text ?? source.description.fingerprint ?? ""
            let description = try BookkeepingJSON.encode(source.description)
            if before != nil {
                try database.execute(
                    sql: "UPDATE _import_source SET key = ?, description = ? WHERE job = ? AND position = ?",
                    arguments: [key, description, first, place]
                )
            } else {
                try database.execute(
                    sql: """
                        INSERT INTO _import_source SELECT ?, ?, ?, layout, ? FROM _import_source WHERE job = ? AND position = ?
                        """,
                    arguments: [first, place, key, description, id, places.firstIndex(of: place)]
                )
            }
        }
        return places
    }

    /// Adds the entities, and what was counted of them.
    ///
    /// - Parameter places: the places of the job's entities in the other one; tables of relationships, which come behind them, have the
    ///   same in both.
    /// - Returns: all of these.
    private func joinEntities(_ places: [Int], to first: Int64, _ database: Database) throws -> [Int] {
        let sums = Self.counts.map { "\($0) = one.\($0) + other.\($0)" }.joined(separator: ", ")
        let positions = try Int.fetchAll(
            database,
            sql: "SELECT position FROM _import_entity WHERE job = ?",
            arguments: [id]
        )
        let all = places + (places.count..<max(places.count, (positions.max() ?? -1) + 1))
        for position in positions {
            let isThere = try database.exists(
                "SELECT 1 FROM _import_entity WHERE job = ? AND position = ?",
                [first, all[position]]
            )
            try database.execute(
                sql: isThere
                    ? """
                    UPDATE _import_entity AS one SET \(sums), made_table = max(one.made_table, other.made_table),
                        fingerprint = coalesce(other.fingerprint, one.fingerprint)
                    FROM _import_entity AS other
                    WHERE one.job = ? AND one.position = ? AND other.job = ? AND other.position = ?
                    """ : "UPDATE _import_entity SET job = ?, position = ? WHERE job = ? AND position = ?",
                arguments: [first, all[position], id, position]
            )
        }
        return all
    }

    /// In SQL, a place of the job in the other one; those below 0 are of no source.
    private static func place(of column: String, among places: String) -> String {
        "CASE WHEN \(column) < 0 THEN \(column) ELSE json_extract(:\(places), '$[' || \(column) || ']') END"
    }

    /// What gives the rows of the job to the other one; the marker comes last, as others are after it.
    private static let joining = [
        """
        UPDATE OR REPLACE _import_chunk SET job = :first, source = \(place(of: "source", among: "sources")),
            entity = \(place(of: "entity", among: "entities")), first_ordinal = first_ordinal + :records
        WHERE job = :job
        """,
        """
        UPDATE _import_reject SET job = :first, source = \(place(of: "source", among: "sources")),
            ordinal = ordinal + :records
        WHERE job = :job
        """,
        """
        UPDATE OR REPLACE _import_outside SET job = :first, source = \(place(of: "source", among: "sources"))
        WHERE job = :job
        """,
        """
        INSERT INTO _import_ledger (job, entity, attribute, kind, count, is_error, expected, found, first_source,
            first_byte_offset, first_ordinal)
        SELECT :first, entity, attribute, kind, count, is_error, expected, found,
            \(place(of: "first_source", among: "sources")), first_byte_offset, first_ordinal + :records
        FROM _import_ledger WHERE job = :job
        ON CONFLICT (job, is_error, entity, attribute, kind, expected, found) DO UPDATE SET count = count + excluded.count
        """,
        """
        INSERT INTO _import_unresolved (job, relationship, count)
        SELECT :first, relationship, count FROM _import_unresolved WHERE job = :job
        ON CONFLICT (job, relationship) DO UPDATE SET count = count + excluded.count
        """,
        "UPDATE _import_addition SET job = :first WHERE job = :job",
        "UPDATE _import_merge SET job = :first WHERE job = :job",
        "UPDATE _import_link SET job = :first WHERE job = :job",
        "UPDATE _import_migration SET job = :first WHERE job = :job",
        """
        UPDATE _import_job AS one SET model = :model, is_model_final = other.is_model_final, message = other.message,
            finished = other.finished,
            source = (SELECT count(*) FROM _import_source WHERE job = :first),
            byte_offset = other.byte_offset, record_ordinal = one.record_ordinal + other.record_ordinal,
            record_path = other.record_path, chunk_start = other.chunk_start, chunk_records = other.chunk_records,
            chunk_hash = other.chunk_hash, bytes = one.bytes + other.bytes,
            chunks_done = one.chunks_done + other.chunks_done, commits = one.commits + other.commits,
            seconds = one.seconds + other.seconds
        FROM _import_job AS other WHERE one.id = :first AND other.id = :job
        """,
        "DELETE FROM _import_source WHERE job = :job",
        "DELETE FROM _import_entity WHERE job = :job",
        "DELETE FROM _import_ledger WHERE job = :job",
        "DELETE FROM _import_index WHERE job = :job",
        "DELETE FROM _import_unresolved WHERE job = :job",
        "DELETE FROM _import_job WHERE id = :job",
    ]
}
