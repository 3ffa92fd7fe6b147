import GRDB
import ImportEngine
import ImportSources

/// Rows that a job has inserted into tables of others whose foreign keys lead nowhere: while importing, they are not looked at.
enum UncheckedForeignKeys {
    /// What is to be said of them, a line for each foreign key.
    static func words(of job: StoredJob, _ database: Database) throws -> [MessageText] {
        let tables = try Row.fetchAll(
            database,
            sql: """
                SELECT table_name, min(last_rowid_before) FROM _import_entity
                WHERE job = ? AND inserted > 0 AND NOT made_table GROUP BY table_name COLLATE NOCASE ORDER BY position
                """,
            arguments: [job.id]
        )
        return try tables.flatMap { row -> [MessageText] in
            let (table, last): (String, Int64) = (row[0], row[1])
            guard try !StoreSchema.hasMade(table, database), let rowID = try StoredTable(table, database).rowIDName
            else {
                return []
            }
            return try StoredForeignKey.all(of: table, database).compactMap { key in
                let count = try count(of: key, rowID, after: last, database)
                guard count > 0 else { return nil }
                return
                    "\(table): \(count.grouped) \(count == 1 ? "row refers" : "rows refer") to no row of \(key.parent) "
                    + "(\(key.columns.joined(separator: ", "))): an import does not check foreign keys"
            }
        }
    }

    private static func count(
        of key: StoredForeignKey,
        _ rowID: String,
        after last: Int64,
        _ database: Database
    ) throws -> Int64 {
        let columns = key.columns.map { "child.\($0.quotedIdentifier)" }
        var conditions = ["child.\(rowID) > ?"] + columns.map { "\($0) IS NOT NULL" }
        if try database.hasTable(key.parent) {
            let same = zip(key.parentColumns, columns).map { "parent.\($0.quotedIdentifier) = \($1)" }
            let parent = "SELECT 1 FROM main.\(key.parent.quotedIdentifier) AS parent"
            conditions.append("NOT EXISTS (\(parent) WHERE \(same.joined(separator: " AND ")))")
        }
        let rows = "SELECT count(*) FROM main.\(key.table.quotedIdentifier) AS child"
        let sql = "\(rows) WHERE \(conditions.joined(separator: " AND "))"
        return try Int64.fetchOne(database, sql: sql, arguments: [last]) ?? 0
    }
}
