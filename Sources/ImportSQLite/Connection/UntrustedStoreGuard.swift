import CSQLite
import GRDB

/// What keeps a store that somebody else may have written from being more than data.
package enum UntrustedStoreGuard {
    /// Protects a connection, before it reads its first page.
    ///
    /// - Throws: `DatabaseError` when SQLite does not know one of the settings.
    package static func apply(to database: Database) throws {
        guard let connection = database.sqliteConnection else { return }
        // Views, triggers, CHECKs and generated columns call no function with side effects (PRAGMA trusted_schema).
        try check(csqlite_set_trusted_schema(connection, 0))
        // SQL can neither write the schema's own table nor the shadow tables of virtual ones.
        try check(csqlite_set_defensive(connection, 1))
        sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0)
        try database.execute(sql: "PRAGMA cell_size_check = ON")
        try setTidiesUp(false, database)
    }

    /// Reads the schema, whose expressions may call SQLite's JSON functions: before 3.41, it does not count them as harmless.
    ///
    /// Nothing else that the settings refuse may be in such a schema then.
    package static func readSchema(_ database: Database) throws {
        do {
            _ = try Int.fetchOne(database, sql: "SELECT 1 FROM sqlite_master LIMIT 1")
        } catch let error as DatabaseError where error.message?.contains("unsafe use of") == true {
            try trust(database)
            guard try !usesUnsafeFunctions(database) else {
                try check(csqlite_set_trusted_schema(database.sqliteConnection, 0))
                throw error
            }
        }
    }

    /// True if the schema may call a function that is neither harmless (`SQLITE_INNOCUOUS`) nor one of those for JSON.
    private static func usesUnsafeFunctions(_ database: Database) throws -> Bool {
        // The arguments of virtual tables are no expressions.
        let schema = try String.fetchAll(
            database,
            sql: "SELECT lower(sql) FROM sqlite_master WHERE sql IS NOT NULL AND sql NOT LIKE 'create virtual table%'"
        )
        let isInnocuous = 0x20_0000
        let names = try String.fetchAll(
            database,
            sql: """
                SELECT DISTINCT lower(name) FROM pragma_function_list
                WHERE flags & ? = 0 AND name NOT LIKE 'json%' AND name NOT LIKE '->%'
                """,
            arguments: [isInnocuous]
        )
        let calls = schema.flatMap { sql in sql.matches(of: /([a-z_][a-z0-9_]*)"?\s*\(/).map { String($0.output.1) } }
        return !Set(calls).isDisjoint(with: names)
    }

    /// Takes texts in double quotes for texts in triggers, as SQLite does where nothing else is said.
    static func readTriggersAsSQLiteDoes(_ database: Database) throws {
        guard try database.hasTriggers() else { return }
        try check(csqlite_set_double_quoted_texts(database.sqliteConnection, 1))
    }

    /// Calls `body`, which may attach one database.
    package static func attachingOne<Result>(_ database: Database, _ body: () throws -> Result) rethrows -> Result {
        sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_ATTACHED, 1)
        defer { sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_ATTACHED, 0) }
        return try body()
    }

    /// Calls `body`, which may write the schema's own table, and has SQLite read the schema again, on all connections.
    static func editingSchema(_ database: Database, _ body: () throws -> Void) throws {
        let version = try Int64.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
        try check(csqlite_set_defensive(database.sqliteConnection, 0))
        defer { _ = csqlite_set_defensive(database.sqliteConnection, 1) }
        try database.execute(sql: "PRAGMA writable_schema = ON")
        defer { try? database.execute(sql: "PRAGMA writable_schema = OFF") }
        try body()
        try database.execute(sql: "PRAGMA writable_schema = RESET; PRAGMA schema_version = \(version + 1)")
        database.clearSchemaCache()
    }

    /// Lets the store's triggers, views and expressions use all that SQLite has, where a job says so.
    static func trust(_ database: Database) throws {
        try check(csqlite_set_trusted_schema(database.sqliteConnection, 1))
    }

    /// True if the store's own triggers run; those of the connection do, from SQLite 3.35 on.
    package static func setTriggers(_ run: Bool, _ database: Database) throws {
        guard let connection = database.sqliteConnection else { return }
        try check(csqlite_set_triggers(connection, run ? 1 : 0))
    }

    /// True if a connection, when it is the last to close, moves the WAL into the store and removes it.
    ///
    /// It goes by the path for that: where another file has taken the store's name, the WAL there is not the store's.
    static func setTidiesUp(_ tidiesUp: Bool, _ database: Database) throws {
        guard let connection = database.sqliteConnection else { return }
        try check(csqlite_set_no_checkpoint_on_close(connection, tidiesUp ? 0 : 1))
    }

    /// True if a connection's file is no longer the one at the path that it was opened with.
    package static func hasMoved(_ database: Database) -> Bool {
        var hasMoved: Int32 = 0
        let code = sqlite3_file_control(database.sqliteConnection, nil, SQLITE_FCNTL_HAS_MOVED, &hasMoved)
        return code == SQLITE_OK && hasMoved != 0
    }

    /// The path of a connection's file.
    package static func path(of database: Database) -> String {
        sqlite3_db_filename(database.sqliteConnection, nil).map { String(cString: $0) } ?? ""
    }

    private static func check(_ code: Int32) throws {
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}
