import GRDB

/// A bookkeeping table of some format, to compare a store's with.
///
/// What counts is what the table does, not how its statement is written: columns, their types, defaults and constraints, and
/// what rows are unique by. The tables are strict (<https://www.sqlite.org/stricttables.html>), so that a value of another type
/// is not in one.
struct BookkeepingTable: Equatable {
    let name: String
    /// Its statement as SQLite keeps it.
    ///
    /// A table with the same text is the same, which is known without asking for more.
    let text: String
    /// What SQLite says of it, and what it does not: how often its statement has each word of a constraint that no pragma
    /// reports.
    private let shape: [[DatabaseValue]]
    private let words: [String: Int]

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

    /// The bookkeeping tables of a database that has no other tables.
    static func all(_ database: Database) throws -> [BookkeepingTable] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
        )
        return try rows.map { row in try BookkeepingTable(row["name"], row["sql"], database) }
    }

    private init(_ name: String, _ text: String, _ database: Database) throws {
        self.name = name
        self.text = text
        shape = try Self.shape(of: name, database)
        words = Self.constraints(in: text)
    }

    /// Whether a store's table of this name is like this one.
    ///
    /// - Parameter text: that of the store's table.
    func isLike(_ text: String, _ database: Database) throws -> Bool {
        try Self.constraints(in: text) == words && Self.shape(of: name, database) == shape
    }

    private static func shape(of table: String, _ database: Database) throws -> [[DatabaseValue]] {
        let queries = [
            "SELECT strict, wr FROM pragma_table_list(?) WHERE schema = 'main'",
            "SELECT name, upper(type), \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid",
            "SELECT \"table\", \"from\", \"to\", on_update, on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq",
            // Other indexes than those of constraints are nobody's matter: they change no result.
            """
            SELECT list.name, list."unique", list.partial, part.seqno, part.name, part.coll, part."desc"
            FROM pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS part
            WHERE list.origin <> 'c' AND part.key ORDER BY list.name, part.seqno
            """,
        ]
        return try queries.flatMap { sql in
            try Row.fetchAll(database, sql: sql, arguments: [table]).map { Array($0.databaseValues) }
        }
    }

    /// No pragma says that a table has a CHECK, drops rows on conflict, or compares a column that is in no key otherwise.
    ///
    /// A word in a comment or a name counts, too: no table of ours has one there.
    private static func constraints(in text: String) -> [String: Int] {
        let words: Set = ["CHECK", "CONFLICT", "COLLATE", "AUTOINCREMENT", "GENERATED"]
        var counts: [String: Int] = [:]
        for word in text.utf8.split(whereSeparator: {
            !($0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z"))
        }) {
            let word = String(decoding: word, as: UTF8.self).uppercased()
            if words.contains(word) { counts[word, default: 0] += 1 }
        }
        return counts
    }
}
