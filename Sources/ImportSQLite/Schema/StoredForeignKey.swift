import GRDB
import ImportEngine
import ImportModel

/// A foreign key of a store's table.
package struct StoredForeignKey {
    package let table: String
    package let columns: [String]
    package let parent: String
    package let parentColumns: [String]
    /// `CASCADE`, `SET NULL`, `SET DEFAULT`, `RESTRICT`, `NO ACTION`.
    package let onDelete: String
    let onUpdate: String

    package var isSameTable: Bool { ExistingEntity.folded(table) == ExistingEntity.folded(parent) }

    /// Those of all tables of the store's user, but keys that lead to nothing that is unique.
    package static func all(_ database: Database) throws -> [StoredForeignKey] {
        try TrackedTable.names(database).flatMap { try all(of: $0, database) }
    }

    /// Those of a table, in the order in which they were declared.
    package static func all(of table: String, _ database: Database) throws -> [StoredForeignKey] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT id, "table", "from", "to", on_delete, on_update FROM pragma_foreign_key_list(?) ORDER BY id, seq
                """,
            arguments: [table]
        )
        return try Dictionary(grouping: rows) { $0["id"] as Int }.sorted { $0.key > $1.key }.compactMap { _, rows in
            let columns = rows.map { $0["from"] as String }
            let parent: String = rows[0]["table"]
            var parents = rows.compactMap { $0["to"] as String? }
            if parents.count != columns.count {
                parents = try StoredTable(parent, database).primaryKey
            }
            guard parents.count == columns.count else { return nil }
            return StoredForeignKey(
                table: table,
                columns: columns,
                parent: parent,
                parentColumns: parents,
                onDelete: rows[0]["on_delete"],
                onUpdate: rows[0]["on_update"]
            )
        }
    }
}
