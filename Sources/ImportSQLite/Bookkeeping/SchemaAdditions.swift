import GRDB

/// What jobs have added beside the tables of entities: columns of tables that were there before, indexes, join tables.
///
/// It is removed with the job, and where the job accepts nothing.
package enum SchemaAdditions {
    /// What was added.
    package enum Kind: String {
        case column, index, table
        /// An index that was the table's primary key, and is to be it again.
        case key
    }

    private static let table = "_import_addition"
    /// A condition: it is one of these, not rows.
    private static let isOne = "name IS NOT NULL"

    /// Notes something in the transaction that adds it.
    package static func note(_ kind: Kind, _ name: String, of tableName: String, job: Int64, _ database: Database)
        throws
    {
        try database.execute(
            sql: """
                INSERT INTO \(table) (job, table_name, kind, name) SELECT :job, :table, :kind, :name
                WHERE NOT EXISTS (
                    SELECT 1 FROM \(table) WHERE job = :job AND table_name = :table AND kind = :kind AND name = :name
                )
                """,
            arguments: ["job": job, "table": tableName, "kind": kind.rawValue, "name": name]
        )
    }

    /// True if an index is an import's own.
    package static func isNoted(_ name: String, _ database: Database) throws -> Bool {
        let sql = "SELECT 1 FROM \(table) WHERE kind IN ('index', 'key') AND name = ? COLLATE NOCASE"
        return try database.hasTable(table) && database.exists(sql, [name])
    }

    /// Forgets what was added to a table that is dropped.
    package static func forget(table name: String, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM \(table) WHERE table_name = ? COLLATE NOCASE AND \(isOne)",
            arguments: [name]
        )
    }

    /// Gives tables other names, which may be swapped.
    package static func rename(_ names: [(from: String, to: String)], _ database: Database) throws {
        let marks = names.enumerated().map { place, name in (name.from, "_import_renamed_\(place)") }
        for (from, to) in marks + zip(marks, names).map({ ($0.1, $1.to) }) {
            try database.execute(
                sql: """
                    UPDATE \(table) SET table_name = :to, name = iif(kind = 'table', :to, name)
                    WHERE table_name = :from COLLATE NOCASE AND \(isOne)
                    """,
                arguments: ["from": from, "to": to]
            )
        }
    }

    /// Forgets an index that is none of its own any more.
    package static func forget(index name: String, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM \(table) WHERE kind IN ('index', 'key') AND name = ?", arguments: [name])
    }

    /// Forgets something that a job has removed itself.
    package static func forget(_ kind: Kind, _ name: String, of tableName: String, job: Int64, _ database: Database)
        throws
    {
        try database.execute(
            sql: "DELETE FROM \(table) WHERE job = ? AND table_name = ? AND kind = ? AND name = ?",
            arguments: [job, tableName, kind.rawValue, name]
        )
    }

    /// Takes away what a job has added.
    ///
    /// - Parameter tableName: to one table; nil for all.
    package static func remove(job: Int64, from tableName: String? = nil, _ database: Database) throws {
        let additions = try BookkeepingRow.fetchAll(
            database,
            from: table,
            sql: """
                SELECT table_name, kind, name FROM \(table) WHERE job = :job AND \(isOne)
                    AND (:table IS NULL OR table_name = :table COLLATE NOCASE)
                ORDER BY kind DESC, name
                """,
            arguments: ["job": job, "table": tableName]
        )
        for addition in additions {
            let (tableName, name) = (try addition.text("table_name"), try addition.text("name"))
            let kind = try addition.choice("kind", as: Kind.self)
            try drop(kind, name, of: tableName, database)
            try forget(kind, name, of: tableName, job: job, database)
        }
    }

    private static func drop(_ kind: Kind, _ name: String, of tableName: String, _ database: Database) throws {
        switch kind {
        case .key: break
        case .table: try database.execute(sql: "DROP TABLE IF EXISTS \(name.quotedIdentifier)")
        case .index:
            let isIt = "type = 'index' AND name = ? COLLATE NOCASE AND tbl_name = ? COLLATE NOCASE"
            guard try database.exists("SELECT 1 FROM sqlite_master WHERE \(isIt)", [name, tableName]) else { return }
            try database.execute(sql: "DROP INDEX \(name.quotedIdentifier)")
        case .column:
            guard try StoredTable(tableName, database).column(name) != nil else { return }
            do {
                try database.execute(
                    sql: "ALTER TABLE \(tableName.quotedIdentifier) DROP COLUMN \(name.quotedIdentifier)"
                )
            } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_ERROR {
                // Somebody's index, view or trigger uses it by now: it stays, and is empty.
                return
            }
        }
    }
}
