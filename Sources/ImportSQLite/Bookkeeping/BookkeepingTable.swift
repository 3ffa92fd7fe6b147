import GRDB
import ImportSources

/// The bookkeeping tables of a store, as SQLite keeps their statements.
package enum BookkeepingTable {
    private static let reservedNames = "LIKE '\\_import\\_%' ESCAPE '\\'"

    /// The texts of a store's bookkeeping tables, by name.
    ///
    /// Nothing else may have the name of one, and no trigger may be on one: the importer's own writing would run its SQL.
    ///
    /// - Throws: `ImportError` with `.badInput` where something else has.
    package static func texts(_ database: Database, store: String) throws -> [String: String] {
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT type, name, sql FROM sqlite_master
                WHERE type <> 'index' AND (lower(name) \(reservedNames) OR lower(tbl_name) \(reservedNames))
                """
        )
        var texts: [String: String] = [:]
        while let row = try rows.next() {
            let (type, name): (String, String) = (row[0], row[1])
            guard type == "table" else {
                throw ImportError(
                    .storeForeign,
                    at: store,
                    "its \(type) \(name) is on, or replaces, a table of this program",
                    advice: "Remove it, or import into another store."
                )
            }
            texts[name] = row[2] as String?
        }
        return texts
    }
}
