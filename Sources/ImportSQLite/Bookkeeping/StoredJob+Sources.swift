import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// What the store knows of its jobs' sources.
extension StoredJob {
    /// Keeps what has become of sources of earlier jobs.
    static func save(_ updates: [SourceUpdate], _ database: Database) throws {
        // One may be where another was.
        let found = try updates.map { update in
            try BookkeepingRow.fetchAll(
                database,
                from: "_import_source",
                sql: "SELECT job, position, description FROM _import_source WHERE "
                    + (update.position == nil ? "key = ? AND job <= ?" : "position = ? AND job = ?"),
                arguments: update.position.map { [$0, update.job] } ?? [update.key.text, update.job]
            )
        }
        let moved = Set(updates.map(\.key))
        for update in updates {
            guard let key = update.now?.key, !moved.contains(key) else { continue }
            // What was at its new path before is not there any more.
            try database.execute(
                sql: """
                    UPDATE _import_source SET key = '', description = json_set(description, '$.isGone', json('true'))
                    WHERE key = ? AND job <= ?
                    """,
                arguments: [key.text, update.job]
            )
        }
        for (update, rows) in zip(updates, found) {
            for row in rows {
                let job = try row.number("job")
                let now = update.updated(try row.json("description", where: \.isSound), of: job)
                try database.execute(
                    sql: "UPDATE _import_source SET key = ?, description = ? WHERE job = ? AND position = ?",
                    arguments: [now.key?.text ?? "", try BookkeepingJSON.encode(now), job, try row.number("position")]
                )
            }
        }
    }

    /// True if a stream that began with these bytes was imported to its end.
    static func hasFinishedStream(_ fingerprint: String, _ database: Database) throws -> Bool {
        guard try database.hasTable("_import_source") else { return false }
        let jobs = try Int64.fetchAll(
            database,
            sql: """
                SELECT DISTINCT source.job FROM _import_source AS source JOIN _import_job AS job ON job.id = source.job
                WHERE source.key = ? AND job.state = 'finished'
                """,
            arguments: [fingerprint]
        )
        return try jobs.contains { job in
            try sources(of: job, database).contains {
                !$0.description.isRepeatable && $0.description.fingerprint == fingerprint
            }
        }
    }

    /// Where imports that are not undone have found records of these entities, the newest first, and how their sources were read.
    ///
    /// - Parameters:
    ///   - entities: their names in lower case.
    ///   - job: one that does not count; nil for none.
    static func knownRecords(
        of entities: Set<String>,
        excluding job: Int64?,
        _ database: Database
    ) throws -> [String: KnownRecords] {
        guard try database.hasTable("_import_source") else { return [:] }
        var found: [(job: Int64, options: JobOptions, position: Int, source: Source)] = []
        for row in try BookkeepingRow.all(database, from: "_import_document", "WHERE kind = 'layout'") {
            let layout = try Layout(row)
            guard layout.entities.contains(where: { entities.contains($0.asciiLowercased) }),
                let (newest, options) = try newest(withLayout: row.number("id"), excluding: job, database),
                let (position, source) = try sources(of: newest, database).enumerated().first(where: {
                    $0.element.shape == layout.shape && $0.element.entities == layout.entities
                })
            else { continue }
            found.append((newest, options, position, source))
        }
        var known: [String: KnownRecords] = [:]
        for (_, options, _, source) in found.sorted(by: { ($1.job, $0.position) < ($0.job, $1.position) }) {
            source.add(to: &known, of: entities, options)
        }
        return known
    }

    /// The newest import with records and a source of this layout that is not undone.
    private static func newest(
        withLayout layout: Int64,
        excluding job: Int64?,
        _ database: Database
    ) throws -> (job: Int64, options: JobOptions)? {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT job.id, options.content FROM _import_source AS source JOIN _import_job AS job ON job.id = source.job
                JOIN _import_document AS options ON options.id = job.options
                WHERE source.layout = ? AND source.job IS NOT ? AND job.record_ordinal > 0 ORDER BY source.job DESC
                """,
            arguments: [layout, job]
        )
        while let row = try rows.next() {
            let options = try BookkeepingRow(row, of: "_import_document", database)
                .json("content", as: StoredOptions.self)
            guard options.retry == nil, options.change == nil, try undo(of: row[0], database) == nil else { continue }
            return (row[0], options.options)
        }
        return nil
    }
}
