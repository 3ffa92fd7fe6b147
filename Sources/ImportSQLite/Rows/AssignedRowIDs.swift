import GRDB
import ImportEngine
import ImportModel

/// Row ids that rows of a table have had which are gone, as where another program has deleted them: something may still refer to
/// them.
///
/// SQLite gives the highest row id again when its row is gone (<https://www.sqlite.org/autoinc.html>). So the new rows of a job follow
/// the highest one that is known to have been given: by what refers to the table, and by what earlier jobs have kept of it.
enum AssignedRowIDs {
    /// In `_import_meta`.
    private static func key(_ table: String) -> String { "last row id of \(table.asciiLowercased)" }

    /// Keeps the last row id that a table has given, where its row is gone, as a job begins.
    ///
    /// - Returns: the row id that the job's new rows follow.
    static func keepLast(of table: String, _ entity: EntityDescription, _ database: Database) throws -> Int64 {
        let (name, stored) = (table.quotedIdentifier, try StoredTable(table, database))
        guard stored.hasRowID else { return 0 }
        let last = try Int64.fetchOne(database, sql: "SELECT max(rowid) FROM \(name)") ?? 0
        // What has no name for its row ids is referred to by something else.
        guard let column = stored.rowIDColumn,
            !entity.attributes.contains(where: { ExistingEntity.folded($0.column) == ExistingEntity.folded(column) })
        else { return last }
        let references = try Row.fetchAll(
            database,
            sql: """
                SELECT other.name, "from" FROM sqlite_master AS other, pragma_foreign_key_list(other.name) AS reference
                WHERE other.type = 'table' AND "table" = :table COLLATE NOCASE
                    AND coalesce("to", :column) = :column COLLATE NOCASE
                """,
            arguments: ["table": table, "column": column]
        )
        let fingerprint = try TableFingerprint(of: table, database)
        var given =
            try [fingerprint?.lastRowID].compactMap(\.self)
            + Int64.fetchAll(
                database,
                sql: """
                    SELECT value FROM _import_meta WHERE key = :key
                    UNION ALL SELECT * FROM (
                        SELECT last_rowid_before FROM _import_entity WHERE table_name = :table COLLATE NOCASE
                        ORDER BY job DESC LIMIT 1
                    )
                    """,
                arguments: ["key": key(table), "table": table]
            )
        try database.execute(sql: "DELETE FROM _import_meta WHERE key = ?", arguments: [key(table)])
        for row in references {
            let reference = (row["from"] as String).quotedIdentifier
            let sql =
                "SELECT max(\(reference)) FROM \((row["name"] as String).quotedIdentifier) "
                + "WHERE typeof(\(reference)) = 'integer'"
            given += try [Int64.fetchOne(database, sql: sql)].compactMap(\.self)
        }
        guard let highest = given.filter({ $0 < .max }).max(), highest > last else { return last }
        try database.execute(
            sql: "INSERT INTO _import_meta (key, value) VALUES (?, ?)",
            arguments: [key(table), highest]
        )
        return highest
    }

    /// The row id that the new rows of a table follow; nil where SQLite finds it.
    static func last(of table: String, _ database: Database) throws -> Int64? {
        guard try database.hasTable("_import_meta") else { return nil }
        return try Int64.fetchOne(
            database,
            sql: "SELECT value FROM _import_meta WHERE key = ?",
            arguments: [key(table)]
        )
    }
}
