import GRDB

/// What is asked of bookkeeping tables that may not have been made.
extension Database {
    /// True if the store has a table by now.
    ///
    /// GRDB's `tableExists` remembers what tables there were when it looked first.
    package func hasTable(_ name: String) throws -> Bool {
        try Bool.fetchOne(
            cachedStatement(
                sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE)"
            ),
            arguments: [name]
        ) ?? false
    }

    /// How many rows of a bookkeeping table fulfil a condition; 0 where the table is not there.
    package func count(_ table: String, where condition: String) throws -> Int64 {
        guard try hasTable(table) else { return 0 }
        return try Int64.fetchOne(self, sql: "SELECT count(*) FROM \(table) WHERE \(condition)") ?? 0
    }

    /// Deletes a job's rows from the bookkeeping tables that are there.
    package func delete(job: Int64, from tables: [String]) throws {
        for table in tables where try hasTable(table) {
            try execute(sql: "DELETE FROM \(table) WHERE job = ?", arguments: [job])
        }
    }
}
