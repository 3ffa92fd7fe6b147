import GRDB

extension EntityTotals {
    /// Those of a job's entities as the store has them, in their order.
    static func all(of job: Int64, _ database: Database) throws -> [EntityTotals] {
        // The last job that came to a table has counted its rows when it began.
        try BookkeepingRow.fetchAll(
            database,
            from: "_import_entity",
            sql: """
                SELECT *,
                    CAST(CASE job WHEN (
                        SELECT max(job) FROM _import_entity AS other WHERE other.table_name = own.table_name COLLATE NOCASE
                    ) THEN rows_before + inserted ELSE (
                        SELECT rows_before FROM _import_entity AS first
                        WHERE first.table_name = own.table_name COLLATE NOCASE ORDER BY job LIMIT 1
                    ) + (
                        SELECT total(inserted) FROM _import_entity AS other
                        WHERE other.table_name = own.table_name COLLATE NOCASE
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
            return totals
        }
    }
}
