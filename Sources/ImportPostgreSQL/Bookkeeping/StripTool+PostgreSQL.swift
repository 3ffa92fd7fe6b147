import ImportModel
import Importer

extension StripTool {
    /// Removes the bookkeeping from a server's schema, in one transaction; blocks the calling thread.
    ///
    /// - Parameters:
    ///   - store: the schema.
    ///   - allowsLoss: true if open rejects may be removed.
    /// - Throws: `ImportError`: `.noInput` when the schema has no import; `.usage` when a job is unfinished, or rejects are open
    ///   that may not be removed; `.inUse` when another process imports into it.
    public static func run(on store: PostgreSQLStore, allowsLoss: Bool = false) throws -> Outcome {
        let session = PGLockingSession(store, Interruption())
        defer { session.close() }
        // There is an import.
        try session.snapshot { _ in }
        try session.lock()
        try PGJournal(session).removeLeftFiles()
        return try session.write { connection in
            let rejects = try connection.execute("SELECT count(*) FROM _import_reject WHERE state = 'open'").first
            let count = try rejects?.integer(0) ?? 0
            let open = try StoredJob.unfinished(connection, label: store.label).first?.id
            try check(open, count, at: store.label, allowsLoss: allowsLoss)
            let tables = try connection.execute(
                """
                SELECT format('%I', relname) FROM pg_class
                WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^_import_'
                """
            ).map { try $0.text(0) }
            _ = try connection.execute("DROP TABLE \(tables.joined(separator: ", "))")
            return Outcome(tables: tables.count, rejects: count)
        }
    }
}
