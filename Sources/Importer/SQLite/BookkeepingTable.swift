import GRDB

/// The bookkeeping tables of a store, as SQLite keeps their statements.
enum BookkeepingTable {
    private static let reservedNames = "LIKE '\\_import\\_%' ESCAPE '\\'"

    /// The texts of a store's bookkeeping tables, by name.
    ///
    /// Nothing else may have the name of one, and no trigger may be on one: the importer's own writing would run its SQL.
    ///
    /// - Throws: `ImportError` with `.badInput` where something else has.
    static func texts(_ database: Database, store: String) throws -> [String: String] {
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

    /// The texts that SQLite keeps of the tables that statements make (`sqlite_master`), by name: each is that of its statement
    /// from its name on, after `CREATE TABLE`.
    ///
    /// - Parameter statements: of these each begins with `CREATE`, and those of tables go on with ` TABLE IF NOT EXISTS `; no
    ///   semicolon is but at the end of one, and a blank follows a table's name.
    static func texts(in statements: String) -> [String: String] {
        let beginning = Array("CREATE TABLE IF NOT EXISTS ".utf8)
        let text = Array(statements.utf8)
        var texts: [String: String] = [:]
        var index = 0
        while let start = text[index...].firstIndex(of: UInt8(ascii: "C")),
            let end = text[start...].firstIndex(of: UInt8(ascii: ";"))
        {
            index = end + 1
            // There are indexes, too.
            guard text[start..<end].starts(with: beginning) else { continue }
            let definition = text[(start + beginning.count)..<end]
            let name = definition.prefix { $0 != UInt8(ascii: " ") }
            texts[String(decoding: name, as: UTF8.self)] = "CREATE TABLE " + String(decoding: definition, as: UTF8.self)
        }
        return texts
    }
}
