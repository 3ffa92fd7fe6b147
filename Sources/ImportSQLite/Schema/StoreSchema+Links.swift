import GRDB
import ImportModel

/// The tables of links of many-to-many relationships, while records are appended.
///
/// Such a table is kept in the order of its primary key, which takes many times as long while links come in another order. Then
/// links are rows in the order in which they come, until they are sorted at the end.
extension StoreSchema {
    /// True if the links of a table come in another order than it has: identifiers of objects ascend at most where they are single
    /// integers.
    private static func areUnordered(_ table: TableDescription, _ layout: ModelLayout) -> Bool {
        let making = layout.relationships.indices.first {
            layout.relationships[$0].shape == .join && layout.relationships[$0].owner == $0
                && layout.join(of: $0).table == table.name
        }
        guard let making else { return false }
        let key = layout.key(of: layout.relationships[making].entity)
        let isInteger = key.count == 1 && [.integer16, .integer32, .integer64].contains(key[0].attribute.type)
        // Its inverse states the links in the order of the other objects.
        let statesItself = !layout.relationships[making].description.from.isEmpty
        return !isInteger || !statesItself
    }

    /// The statement that makes a table for records that are appended.
    static func appendedCreation(of table: TableDescription, _ layout: ModelLayout) -> String {
        table.isJoin && areUnordered(table, layout) ? table.unorderedCreation : table.creation
    }

    /// Sorts the links of a model that are in the order in which they came.
    static func sortLinks(_ layout: ModelLayout, _ database: Database) throws {
        for table in layout.tables where try isUnordered(table, database) { try sortLinks(of: table, database) }
    }

    /// True if a table of links was made for records that are appended, and not sorted yet.
    static func isUnordered(_ table: TableDescription, _ database: Database) throws -> Bool {
        guard table.isJoin else { return false }
        let stored = try StoredTable(table.name, database)
        let sql = "SELECT 1 FROM _import_addition WHERE kind = 'table' AND name = ? COLLATE NOCASE"
        return try !stored.columns.isEmpty && stored.hasRowID && stored.primaryKey.isEmpty
            && database.exists(sql, [table.name])
    }

    private static func sortLinks(of table: TableDescription, _ database: Database) throws {
        let name = table.name.quotedIdentifier
        let columns = table.columns.map(\.name.quotedIdentifier).joined(separator: ", ")
        let order = table.primaryKey.map(\.quotedIdentifier).joined(separator: ", ")
        // What others have made on it meanwhile goes with it, and comes back.
        let others = try String.fetchAll(
            database,
            sql: """
                SELECT sql FROM sqlite_master
                WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') AND sql IS NOT NULL
                """,
            arguments: [table.name]
        )
        let sorted = "_import_links"
        try database.execute(sql: table.creation(as: sorted))
        try database.execute(
            sql: "INSERT INTO \(sorted) (\(columns)) SELECT \(columns) FROM \(name) ORDER BY \(order)"
        )
        try database.execute(sql: "DROP TABLE \(name)")
        // Views of the table do without it for a moment (<https://www.sqlite.org/lang_altertable.html>).
        let isLegacy = try Bool.fetchOne(database, sql: "PRAGMA legacy_alter_table") ?? false
        try database.execute(sql: "PRAGMA legacy_alter_table = ON")
        try database.execute(sql: "ALTER TABLE \(sorted) RENAME TO \(name)")
        if !isLegacy { try database.execute(sql: "PRAGMA legacy_alter_table = OFF") }
        for sql in others { try database.execute(sql: sql) }
    }
}

extension ModelLayout {
    /// The columns of an entity's key, quoted; a row id is known by its own name, whether the table has a column for it or not.
    func keyColumns(of entity: Int) -> [String] {
        key(of: entity).map { $0.role == .rowID ? "rowid" : $0.name.quotedIdentifier }
    }
}
