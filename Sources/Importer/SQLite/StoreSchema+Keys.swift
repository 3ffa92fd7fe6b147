import GRDB
import ImportModel

/// What a table's keys and indexes are on.
extension StoreSchema {
    /// Whether the table's primary key, or a unique index over all rows, is on just these columns.
    static func hasKey(_ columns: [String], _ table: String, _ database: Database) throws -> Bool {
        let wanted = Set(columns.map(\.asciiLowercased))
        let primaryKey = try String.fetchAll(
            database,
            sql: "SELECT name FROM pragma_table_info(?) WHERE pk > 0",
            arguments: [table]
        )
        if Set(primaryKey.map(\.asciiLowercased)) == wanted { return true }
        let indexes = try String.fetchAll(
            database,
            sql: "SELECT name FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial",
            arguments: [table]
        )
        return try indexes.contains { try Set(keys(of: $0, database).map(\.column)) == wanted }
    }

    /// What an index is on, in lower case, and how it compares texts.
    private static func keys(of index: String, _ database: Database) throws -> [(column: String?, collation: String?)] {
        try Row.fetchAll(
            database,
            sql: "SELECT name, coll FROM pragma_index_xinfo(?) WHERE key",
            arguments: [index]
        ).map { (($0["name"] as String?)?.asciiLowercased, $0["coll"]) }
    }

    /// Whether an index is on just these columns, in any order, and compares texts by their bytes.
    ///
    /// - Parameter columns: their names, in lower case.
    static func isIndex(_ name: String, onJust columns: Set<String>, _ database: Database) throws -> Bool {
        let keys = try keys(of: name, database)
        // The name is NULL where the index is on an expression.
        return keys.count == columns.count && Set(keys.map { $0.column ?? "" }) == columns
            && keys.allSatisfy { $0.collation == "BINARY" }
    }

    /// The column that is another name of the row id, in lower case (<https://www.sqlite.org/lang_createtable.html#rowid>).
    static func rowIDColumn(of table: String, _ database: Database) throws -> String? {
        let keys = try Row.fetchAll(
            database,
            sql: "SELECT name, type FROM pragma_table_info(?) WHERE pk > 0",
            arguments: [table]
        )
        guard keys.count == 1, (keys[0]["type"] as String).asciiLowercased == "integer" else { return nil }
        // A key with an index of its own is none: `INTEGER PRIMARY KEY DESC`.
        let hasIndex = try Bool.fetchOne(
            database,
            sql: "SELECT EXISTS (SELECT 1 FROM pragma_index_list(?) WHERE origin = 'pk')",
            arguments: [table]
        )
        return hasIndex ?? false ? nil : (keys[0]["name"] as String).asciiLowercased
    }
}
