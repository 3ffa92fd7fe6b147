import GRDB
import ImportEngine

extension EntityTotals {
    /// Those of a job's entities as the store has them, in their order.
    package static func all(of job: Int64, _ database: Database) throws -> [EntityTotals] {
        // The last job that came to a table has counted its rows when it began.
        return try BookkeepingRow.fetchAll(
            database,
            from: "_import_entity",
            sql: """
                WITH gains AS NOT MATERIALIZED (
                    SELECT job, position, table_name, inserted + nested_inserted + stubs - deleted AS gain
                    FROM _import_entity
                )
                SELECT own.*,
                    CAST(CASE own.job WHEN (
                        SELECT max(job) FROM _import_entity AS other WHERE other.table_name = own.table_name COLLATE NOCASE
                    ) THEN rows_before + (
                        SELECT total(gain) FROM gains
                        WHERE gains.job = own.job AND gains.table_name = own.table_name COLLATE NOCASE
                    ) ELSE (
                        SELECT rows_before FROM _import_entity AS first
                        WHERE first.table_name = own.table_name COLLATE NOCASE ORDER BY job LIMIT 1
                    ) + (
                        SELECT total(gain) FROM gains WHERE gains.table_name = own.table_name COLLATE NOCASE
                    ) END AS INTEGER) AS row_count
                FROM _import_entity AS own WHERE job = ? ORDER BY position
                """,
            arguments: [job]
        ).map { row in
            var totals = EntityTotals(entity: try row.text("entity"), table: try row.text("table_name"))
            totals.recordsRead = try row.number("records_read")
            totals.inserted = try row.number("inserted")
            totals.updated = try row.number("updated")
            totals.unchanged = try row.number("unchanged")
            totals.ignored = try row.number("ignored")
            totals.rejected = try row.number("rejected")
            totals.rows = try row.rowID("row_count")
            totals.nested = try NestedCounts(row)
            return totals
        }
    }
}

extension NestedCounts {
    /// Those of a row of `_import_entity`.
    package init(_ row: BookkeepingRow) throws {
        self.init()
        nested = try row.number("nested")
        inserted = try row.number("nested_inserted")
        updated = try row.number("nested_updated")
        unchanged = try row.number("nested_unchanged")
        ignored = try row.number("nested_ignored")
        linked = try row.number("linked")
        // Fewer than none: records have made objects of those of earlier jobs.
        stubs = try row.rowID("stubs")
        deleted = try row.number("deleted")
    }

    /// Adds them to what the store has of a job's entity.
    package func save(job: Int64, position: Int, _ database: Database) throws {
        guard !isEmpty else { return }
        try database.cachedStatement(
            sql: """
                UPDATE _import_entity SET nested = nested + ?, nested_inserted = nested_inserted + ?,
                    nested_updated = nested_updated + ?, nested_unchanged = nested_unchanged + ?,
                    nested_ignored = nested_ignored + ?, linked = linked + ?, stubs = stubs + ?, deleted = deleted + ?
                WHERE job = ? AND position = ?
                """
        ).execute(arguments: [
            nested, inserted, updated, unchanged, ignored, linked, stubs, deleted, job, position,
        ])
    }
}
