import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// Identifiers as primary keys, by which an app looks for its objects.
///
/// While rows are written, an index keeps an identifier unique: it can be dropped, and made again at the end. The primary key of a
/// table with row ids is just such an index (<https://www.sqlite.org/lang_createtable.html#the_primary_key>), so that in the end
/// only the schema has to say so, and no row is written
/// (<https://www.sqlite.org/lang_altertable.html#making_other_kinds_of_table_schema_changes>).
extension StoreSchema {
    /// Makes the identifiers of the tables that an import has made, or that had one as they were empty, their primary keys.
    package static func makePrimaryKeys(of job: StoredJob, _ database: Database) throws {
        guard let model = job.model else { return }
        let made = try String.fetchSet(
            database,
            sql: """
                SELECT table_name FROM _import_entity WHERE job = :job AND made_table
                UNION SELECT table_name FROM _import_addition WHERE job = :job AND kind = 'key'
                """,
            arguments: ["job": job.id]
        )
        guard !made.isEmpty else { return }
        try makePrimaryKeys(of: ModelLayout(importing: model).tables.filter { made.contains($0.name) }, database)
    }

    /// Makes the identifiers of new tables their primary keys, where an import's own index keeps them unique.
    ///
    /// That of one column of the type INTEGER is none: it would be the row id.
    package static func makePrimaryKeys(of tables: [TableDescription], _ database: Database) throws {
        for table in tables {
            guard let columns = table.indexes.first(where: \.isIdentifier)?.columns,
                columns.count > 1 || table.column(columns[0])?.attribute.declaredType != "INTEGER",
                let index = try ownIndex(on: columns, table.name, database)
            else { continue }
            try makePrimaryKey(index, on: columns, of: table.name, database)
        }
    }

    private static func makePrimaryKey(
        _ index: String,
        on columns: [String],
        of table: String,
        _ database: Database
    ) throws {
        let key = self.key(columns)
        // Others' keys have such indexes, too, and are numbered with it.
        let isPossible =
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE AND sql LIKE '%)'"
        guard try database.exists(isPossible, [table]),
            try StoredTable(table, database).indexes.allSatisfy(\.isDeclared)
        else { return }
        try UntrustedStoreGuard.editingSchema(database) {
            try database.execute(
                sql: """
                    UPDATE sqlite_master SET name = 'sqlite_autoindex_' || tbl_name || '_1', sql = NULL
                    WHERE type = 'index' AND name = :index;
                    UPDATE sqlite_master SET sql = substr(sql, 1, length(sql) - 1) || :key
                    WHERE type = 'table' AND name = :table COLLATE NOCASE;
                    """,
                arguments: ["index": index, "key": key, "table": table]
            )
        }
        guard try StoredTable(table, database).primaryKey == columns else {
            throw ImportError(.fault, "\(columns.joined(separator: ", ")) did not become the primary key of \(table)")
        }
        try SchemaAdditions.forget(index: index, database)
    }

    /// Makes the primary key of an empty table that an import has made an index again, so that it can be dropped until the end.
    static func openPrimaryKey(of table: String, job: Int64, _ database: Database) throws {
        let columns = try StoredTable(table, database).primaryKey
        guard !columns.isEmpty else { return }
        let key = self.key(columns)
        let isPossible = try Bool.fetchOne(
            database,
            sql: """
                SELECT substr(sql, -length(:key)) = :key AND EXISTS (
                    SELECT 1 FROM _import_entity WHERE table_name = :table COLLATE NOCASE AND made_table
                ) FROM sqlite_master WHERE type = 'table' AND name = :table COLLATE NOCASE
                """,
            arguments: ["key": key, "table": table]
        )
        guard isPossible ?? false else { return }
        let name = try freeName("\(table)_identifier", database)
        try UntrustedStoreGuard.editingSchema(database) {
            try database.execute(
                sql: """
                    UPDATE sqlite_master SET name = :name, sql = :sql
                    WHERE type = 'index' AND name = 'sqlite_autoindex_' || tbl_name || '_1' AND tbl_name = :table COLLATE NOCASE;
                    UPDATE sqlite_master SET sql = substr(sql, 1, length(sql) - length(:key)) || ')'
                    WHERE type = 'table' AND name = :table COLLATE NOCASE;
                    """,
                arguments: [
                    "name": name, "sql": index(name, columns, table, isUnique: true), "key": key, "table": table,
                ]
            )
        }
        try SchemaAdditions.note(.key, name, of: table, job: job, database)
    }

    /// The end of the statement that makes a table.
    private static func key(_ columns: [String]) -> String {
        ", PRIMARY KEY (\(columns.map(\.quotedIdentifier).joined(separator: ", "))))"
    }
}
