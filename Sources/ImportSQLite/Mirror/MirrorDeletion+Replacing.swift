import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// A source that has changed takes the place of its earlier version: the rows that this has inserted go, by their row ids.
extension MirrorDeletion {
    /// Rows that an earlier version of a source has inserted, in one chunk.
    private struct Rows {
        let table: String
        let rowIDs: ClosedRange<Int64>
    }

    /// Makes sure that the rows of earlier versions can be told from all others, before anything is written.
    ///
    /// - Throws: `ImportError` with `.usage`.
    package static func checkReplaced(by job: StoredJob, _ database: Database, store: String) throws {
        for source in job.sources.map(\.description) {
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
            for table in Set(rows.map(\.table)) {
                guard let fingerprint = try TableFingerprint(of: table, database) else { continue }
                let (compared, changed) = try fingerprint.compare(table, database)
                let known = Int64(fingerprint.samples.count)
                guard 2 * (known - compared + changed) > known else { continue }
                throw refused("the rows of \(table.printable) have other row ids by now")
            }
        }
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
                    SELECT chunk.inserted, first_rowid, last_rowid, table_name
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
                rows.append(Rows(table: try chunk.text("table_name"), rowIDs: first...last))
            }
            next = sources[place].description.earlier?.job
        }
        return rows
    }
}
