import CSQLite
import GRDB
import GRDBSQLite
import ImportModel

/// What a job has made of rows, so that it can be undone: of each row that it has touched, what it was before and what it is after.
///
/// Triggers of the connection note rows before they change, whatever changes them: a statement of the job, a delete rule, or a
/// trigger of the store. What rows have become is looked up before each commit, in the same transaction.
final class UndoLog {
    /// A row that was touched since the last commit.
    struct Touched {
        let table: String
        /// Its row id; nil in a table without.
        let rowID: Int64?
        let wasThere: Bool
        let isThere: Bool
    }

    private static let touched = "import_touched"

    let job: Int64
    private let tables: [WatchedTable]
    private let statements: GraphStatements

    /// Watches all tables that a store's user has, as long as the connection is open or until `end`.
    ///
    /// - Throws: `ImportError` with `.usage` for a table whose rows cannot be told apart.
    init(job: Int64, _ database: Database) throws {
        self.job = job
        statements = try GraphStatements(database)
        tables = try WatchedTable.all(database)
        try RowKey.addFunction(to: statements.connection)
        try database.execute(
            sql: """
                CREATE TEMP TABLE IF NOT EXISTS \(Self.touched) (
                    place INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (place, key)
                ) WITHOUT ROWID;
                DELETE FROM \(Self.touched);
                """
        )
        for (place, table) in tables.enumerated() { try watch(table, place, database) }
    }

    private func watch(_ table: WatchedTable, _ place: Int, _ database: Database) throws {
        let name = "'" + table.name.replacing("'", with: "''") + "'"
        func note(_ row: String, _ cells: String) -> String {
            let key = table.call(table.key, of: row)
            // The policy of the statement at hand would replace that of these, so nothing may be in conflict.
            return """
                INSERT INTO _import_undo (job, table_name, key, before) SELECT \(job), \(name), \(key), \(cells)
                WHERE NOT EXISTS (
                    SELECT 1 FROM _import_undo WHERE job = \(job) AND table_name = \(name) AND key = \(key)
                );
                INSERT INTO \(Self.touched) (place, key) SELECT \(place), \(key)
                WHERE NOT EXISTS (SELECT 1 FROM \(Self.touched) WHERE place = \(place) AND key = \(key));
                """
        }
        let old = note("old", table.call(table.columns, of: "old"))
        let new = note("new", "NULL")
        let isOther = table.key.map { "old.\($0) IS NOT new.\($0)" }.joined(separator: " OR ")
        let events = [
            ("BEFORE UPDATE", "", old), ("BEFORE DELETE", "", old), ("AFTER INSERT", "", new),
            // A row whose key changes is another one then.
            ("AFTER UPDATE", "WHEN \(isOther)", new),
        ]
        for (event, condition, statements) in events {
            try database.execute(
                sql: """
                    CREATE TEMPORARY TRIGGER \(Self.trigger(event, place)) \(event) ON main.\(table.name.quotedIdentifier)
                    \(condition) BEGIN \(statements) END
                    """
            )
        }
    }

    private static func trigger(_ event: String, _ place: Int) -> String {
        "import_undo_\(event.lowercased().replacing(" ", with: "_"))_\(place)"
    }

    /// Watches no more.
    func end(_ database: Database) throws {
        for place in tables.indices {
            for event in ["BEFORE UPDATE", "BEFORE DELETE", "AFTER INSERT", "AFTER UPDATE"] {
                try database.execute(sql: "DROP TRIGGER IF EXISTS temp.\(Self.trigger(event, place))")
            }
        }
    }

    /// Keeps what the rows that were touched since the last call are now; called before each commit, in its transaction.
    ///
    /// - Parameter body: called with each of them, by table.
    func complete(_ body: (Touched) throws -> Void) throws {
        for (place, table) in tables.enumerated() {
            let condition = table.key.map { "\($0) = ?" }.joined(separator: " AND ")
            let select =
                "SELECT \(RowKey.function)(\(table.columns.joined(separator: ", "))) FROM main.\(table.name.quotedIdentifier) "
                + "WHERE \(condition)"
            try statements.run("SELECT key FROM \(Self.touched) WHERE place = ? ORDER BY key", [.number(Int64(place))]) {
                let key = RowKey(bytes: $0.bytes(of: 0))
                var after: [UInt8]?
                try statements.run(select, [.key(key)]) { after = $0.bytes(of: 0) }
                let parameters: [GraphStatements.Parameter] = [
                    .number(job), .text(table.name), .bytes(key.bytes),
                ]
                var (wasThere, isSame) = (false, false)
                try statements.run(
                    "SELECT before FROM _import_undo WHERE job = ? AND table_name = ? AND key = ?",
                    parameters
                ) {
                    wasThere = sqlite3_column_type($0, 0) != SQLITE_NULL
                    isSame = wasThere ? $0.bytes(of: 0) == after : after == nil
                }
                if isSame {
                    // What is as it was needs no undoing.
                    try statements.run(
                        "DELETE FROM _import_undo WHERE job = ? AND table_name = ? AND key = ?",
                        parameters
                    )
                } else {
                    try statements.run(
                        "UPDATE _import_undo SET after = ? WHERE job = ? AND table_name = ? AND key = ?",
                        [after.map { .bytes($0) } ?? .number(nil)] + parameters
                    )
                }
                try body(
                    Touched(
                        table: table.name,
                        rowID: table.hasRowID ? key.firstNumber : nil,
                        wasThere: wasThere,
                        isThere: after != nil
                    )
                )
            }
        }
        try statements.run("DELETE FROM \(Self.touched)")
    }
}

/// A table of a store's user, and what its rows are known by.
struct WatchedTable {
    let name: String
    /// The columns by which a row is known, quoted.
    let key: [String]
    /// All columns that have values of their own, quoted.
    let columns: [String]
    let hasRowID: Bool
    /// Whether the row id is a column, and so the object's own.
    let hasOwnRowID: Bool

    /// The ordinary tables of a store, but those of the bookkeeping.
    ///
    /// - Throws: `ImportError` for one whose rows cannot be told apart.
    static func all(_ database: Database) throws -> [WatchedTable] {
        let names = try String.fetchAll(
            database,
            sql: """
                SELECT m.name FROM sqlite_master AS m JOIN pragma_table_list AS l ON l.name = m.name AND l.schema = 'main'
                WHERE m.type = 'table' AND l.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    AND m.name NOT LIKE '\\_import\\_%' ESCAPE '\\' ORDER BY m.rowid
                """
        )
        return try names.map { try WatchedTable($0, database) }
    }

    init(_ name: String, _ database: Database) throws {
        self.name = name
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT info.name, info.type, info.pk, info.hidden, list.wr
                FROM pragma_table_list(?) AS list, pragma_table_xinfo(list.name) AS info
                WHERE list.schema = 'main' ORDER BY info.cid
                """,
            arguments: [name]
        )
        hasRowID = rows.first.map { ($0["wr"] as Int) == 0 } ?? true
        columns = rows.filter { $0["hidden"] as Int == 0 }.map { ($0["name"] as String).quotedIdentifier }
        let primary = rows.filter { $0["pk"] as Int > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }
        hasOwnRowID = hasRowID && primary.count == 1 && (primary[0]["type"] as String).uppercased() == "INTEGER"
        guard hasRowID else {
            key = primary.map { ($0["name"] as String).quotedIdentifier }
            return
        }
        let taken = Set(rows.map { ($0["name"] as String).asciiLowercased })
        if let free = ["rowid", "_rowid_", "oid"].first(where: { !taken.contains($0) }) {
            key = [free]
        } else if hasOwnRowID {
            key = [(primary[0]["name"] as String).quotedIdentifier]
        } else {
            throw ImportError(
                .rowsIndistinct,
                "\(name.printable): its rows have no name that is not a column's, so what becomes of them cannot be kept",
                advice: "Leave out that it can be undone, or rename the column rowid, _rowid_ or oid."
            )
        }
    }

    /// The call whose value is the columns of a row as bytes.
    func call(_ columns: [String], of row: String) -> String {
        "\(RowKey.function)(\(columns.map { "\(row).\($0)" }.joined(separator: ", ")))"
    }
}

extension RowKey {
    /// The integer that it begins with; nil where it does not.
    var firstNumber: Int64? {
        guard bytes.count >= 9, bytes[0] == 1 else { return nil }
        return Int64(bitPattern: bytes[1..<9].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
