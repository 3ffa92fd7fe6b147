import Foundation
import GRDB
import GRDBSQLite

/// Index texts that stores of formats before 4 keep.
extension IndexDefinition {
    /// What the text of a `CREATE INDEX` says.
    ///
    /// The text is run on an empty table in memory, in a database that has nothing else, and may do nothing but make an
    /// index there. On the store, only the statement that is made of the result is ever run.
    ///
    /// - Parameters:
    ///   - sql: the text as the store has it.
    ///   - name: the index's name as it was noted beside the text.
    ///   - table: likewise, the table's.
    ///   - database: the store that has the table.
    /// - Returns: nil where it is anything but the index of that name, on columns of the table.
    init?(parsing sql: String, name: String, table: String, _ database: Database) throws {
        let sandbox = try DatabaseQueue()
        defer { try? sandbox.retire() }
        let definition = try sandbox.inDatabase { sandbox -> IndexDefinition? in
            try sandbox.execute(sql: "CREATE TABLE \(table.quotedIdentifier) (\(Self.columns(of: table, database)))")
            guard Self.run(sql, sandbox) else { return nil }
            return try IndexDefinition.all(of: table, sandbox).first
        }
        guard let definition, definition.name.asciiLowercased == name.asciiLowercased else { return nil }
        self = definition
    }

    /// The columns of a table, with how each compares texts, which is how its indexes do unless they say otherwise.
    private static func columns(of table: String, _ database: Database) throws -> String {
        let names = try String.fetchAll(database, sql: "SELECT name FROM pragma_table_xinfo(?)", arguments: [table])
        return names.map { name in
            var collation: UnsafePointer<CChar>?
            sqlite3_table_column_metadata(
                database.sqliteConnection,
                "main",
                table,
                name,
                nil,
                &collation,
                nil,
                nil,
                nil
            )
            let known = collation.flatMap { Collation(rawValue: String(cString: $0).uppercased()) } ?? .binary
            return "\(name.quotedIdentifier) COLLATE \(known.rawValue)"
        }.joined(separator: ", ")
    }

    /// Runs one statement that may do nothing but make an index on columns.
    ///
    /// - Returns: whether it did.
    private static func run(_ sql: String, _ sandbox: Database) -> Bool {
        guard let connection = sandbox.sqliteConnection else { return false }
        sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0)
        sqlite3_set_authorizer(
            connection,
            { _, action, _, _, _, _ in
                switch action {
                case SQLITE_CREATE_INDEX, SQLITE_REINDEX, SQLITE_READ, SQLITE_SELECT: return SQLITE_OK
                // The schema's own table, where the index is noted.
                case SQLITE_INSERT, SQLITE_UPDATE: return SQLITE_OK
                default: return SQLITE_DENY
                }
            },
            nil
        )
        defer { sqlite3_set_authorizer(connection, nil, nil) }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        return sql.withCString { text in
            var rest: UnsafePointer<CChar>?
            guard sqlite3_prepare_v2(connection, text, -1, &statement, &rest) == SQLITE_OK,
                // No other statement follows.
                let rest, strspn(rest, " \t\r\n;") == strlen(rest)
            else { return false }
            return sqlite3_step(statement) == SQLITE_DONE
        }
    }
}
