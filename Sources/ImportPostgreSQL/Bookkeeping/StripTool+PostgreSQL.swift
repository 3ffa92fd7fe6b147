import ImportModel
import Importer

extension StripTool {
    /// Takes the bookkeeping out of a server's schema, in one transaction; blocks this thread as long.
    ///
    /// - Parameters:
    ///   - store: the schema.
    ///   - allowsLoss: whether open rejects may go.
    /// - Throws: `ImportError`: `.noInput` where the schema has no import; `.usage` where a job is unfinished, or rejects are open that
    ///   may not go; `.inUse` where another process imports into it.
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
            let open = try StoredJob.all(connection, label: store.label).first { $0.state != .finished }?.id
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
