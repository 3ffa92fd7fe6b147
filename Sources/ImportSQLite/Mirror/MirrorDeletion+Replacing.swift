import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// A source that has changed takes the place of its earlier version: the rows that this has inserted go, by their row ids.
extension MirrorDeletion {
    /// Rows that an earlier version of a source has inserted, in one chunk.
    private struct Rows {
        let job: Int64
        let entity: String
        let table: String
        let rowIDs: ClosedRange<Int64>
    }

    /// Makes sure that the rows of earlier versions can be told from all others, before anything is written.
    ///
    /// - Throws: `ImportError` with `.usage`.
    package static func checkReplaced(by job: StoredJob, _ database: Database, store: String) throws {
        for (source, entities) in job.sources.map({ ($0.description, $0.entities) }) {
            guard let before = source.replaces else { continue }
            func refused(_ why: String) -> ImportError {
                ImportError(
                    .optionsConflict,
                    at: source.name,
                    "its earlier version cannot be replaced: \(why)",
                    advice: "\(.again) imports all of it beside what is there. Nothing was written."
                )
            }
            guard try !MigrationHistory.exists(since: before, database) else {
                throw refused("the store was migrated since it was imported")
            }
            guard let rows = try rows(of: source, before, database) else {
                throw refused("its rows cannot be told from others")
            }
            let own = Set(entities.map(\.asciiLowercased))
            if let other = rows.first(where: { !own.contains($0.entity.asciiLowercased) })?.entity {
                throw refused("it had records of \(other.printable), and there are none now")
            }
            for table in Set(rows.map(\.table)) where try !areThere(rows.filter { $0.table == table }, database) {
                throw refused("its rows in \(table.printable) have changed, or have other row ids by now")
            }
        }
    }

    /// True if rows of one table are what they were when a job last ended, as far as they were looked at then.
    private static func areThere(_ rows: [Rows], _ database: Database) throws -> Bool {
        guard let table = rows.first?.table, try database.hasTable(table) else { return false }
        for part in rows {
            let left = try InsertedRowRanges.count([part.rowIDs], in: table, database)
            guard left == Int64(part.rowIDs.count), try given(of: part, database).isEmpty else { return false }
        }
        guard let fingerprint = try TableFingerprint(of: table, database) else { return true }
        let samples = fingerprint.samples.filter { sample in rows.contains { $0.rowIDs.contains(sample.row) } }
        let (compared, changed) = try fingerprint.compare(table, database, samples)
        return compared == Int64(samples.count) && changed == 0
    }

    /// The row ids of some rows that later jobs have given to others.
    private static func given(of rows: Rows, _ database: Database) throws -> [ClosedRange<Int64>] {
        try InsertedRowRanges.ranges(of: rows.table, after: rows.job, from: rows.rowIDs.lowerBound, database)
            .filter { $0.overlaps(rows.rowIDs) }
    }

    /// Deletes what earlier versions of the job's sources have inserted.
    ///
    /// - Parameter log: keeps what the rows were.
    /// - Returns: what it has changed; nil for nothing.
    package func replace(_ log: UndoLog) throws -> MergeNotification? {
        try prepareGone()
        for source in job.sources.map(\.description) {
            guard let before = source.replaces else { continue }
            for rows in try Self.rows(of: source, before, database) ?? [] {
                let table = ExistingEntity.folded(rows.table)
                guard let place = roots.firstIndex(where: { ExistingEntity.folded($0.table) == table }) else {
                    continue
                }
                try check()
                try database.execute(
                    sql: """
                        INSERT OR IGNORE INTO \(Self.gone) (root, row)
                        SELECT ?, rowid FROM main.\(rows.table.quotedIdentifier) WHERE rowid BETWEEN ? AND ?
                        """,
                    arguments: [place, rows.rowIDs.lowerBound, rows.rowIDs.upperBound]
                )
                for range in try Self.given(of: rows, database) {
                    try database.execute(
                        sql: "DELETE FROM \(Self.gone) WHERE root = ? AND row BETWEEN ? AND ?",
                        arguments: [place, range.lowerBound, range.upperBound]
                    )
                }
            }
        }
        let merge = try deleteGone(log)
        try database.execute(sql: "DROP TABLE \(Self.gone)")
        return merge
    }

    /// What a job has inserted of a source, and the jobs that it went on from.
    ///
    /// - Returns: nil where other rows may be among them.
    private static func rows(of source: SourceDescription, _ job: Int64, _ database: Database) throws -> [Rows]? {
        var rows: [Rows] = []
        var next: Int64? = job
        while let job = next {
            let sources = try StoredJob.sources(of: job, database)
            guard let place = sources.firstIndex(where: { $0.description.key == source.key }) else { return nil }
            let chunks = try BookkeepingRow.fetchAll(
                database,
                from: "_import_chunk",
                sql: """
                    SELECT chunk.inserted, first_rowid, last_rowid, table_name, entity.entity
                    FROM _import_chunk AS chunk JOIN _import_entity AS entity
                        ON entity.job = chunk.job AND entity.position = chunk.entity
                    WHERE chunk.job = ? AND source = ? AND chunk.inserted > 0
                    """,
                arguments: [job, place]
            )
            for chunk in chunks {
                guard let first = try chunk.optionalNumber("first_rowid"),
                    let last = try chunk.optionalNumber("last_rowid"), first <= last,
                    try last - first + 1 == chunk.number("inserted")
                else { return nil }
                rows.append(
                    Rows(
                        job: job,
                        entity: try chunk.text("entity"),
                        table: try chunk.text("table_name"),
                        rowIDs: first...last
                    )
                )
            }
            next = sources[place].description.earlier?.job
        }
        return rows
    }
}
