import ImportModel
import Importer

/// Reports of a schema's jobs, put together from rows that are each a chunk's.
struct PGReportBuilder {
    /// At most this many groups of errors, and names of a ledger, are counted one by one, as in a SQLite store.
    private static let named = 1_000

    let store: PostgreSQLStore

    private var label: String { store.label }

    /// What the report of most jobs asks.
    static func questions(of job: Int64) -> [PGStatement] {
        [
            StoredJob.question("WHERE job.id = $1", [.integer(job)]), PGCounts.totalsQuestion(of: job),
            ChunkTable(job: job).doneQuestion, secondsQuestion(of: job), RetryTable.repairedQuestion(of: job),
            ledgerQuestion(of: job), errorsQuestion(of: job),
        ]
    }

    private static func secondsQuestion(of job: Int64) -> PGStatement {
        PGStatement("SELECT seconds FROM _import_job WHERE id = $1", [.integer(job)])
    }

    func report(of number: Int64, _ connection: PGConnection) throws -> ImportReport {
        guard let job = try StoredJob.find(number, connection, label: label) else {
            throw ImportError(.jobNotFound, at: label, "has no job \(number)", advice: "\(call: .status) lists them.")
        }
        return try report(of: job, connection)
    }

    func report(of job: StoredJob, _ connection: PGConnection) throws -> ImportReport {
        let hasNested = job.model?.isFlat == false
        var entities: [String: ImportReport.Counts] = [:]
        for totals in try PGCounts.totals(of: job, connection) {
            entities[totals.entity] = ImportReport.Counts(totals, hasNested: hasNested)
        }
        let chunks = ChunkTable(job: job.id)
        let done = try chunks.done(connection)
        let row = try connection.ask(Self.secondsQuestion(of: job.id)).first
        return ImportReport(
            of: job,
            try state(of: job, connection),
            repaired: try RetryTable.repaired(by: job, connection),
            entities: entities,
            chunks: Int(done.all),
            chunksDone: Int(done.chunks),
            bytes: done.bytes,
            seconds: try row?.double(0) ?? 0,
            ledger: try ledger(of: job, connection),
            unresolved: try hasNested ? unresolved(of: job, connection) : nil,
            errors: try errors(of: job, connection)
        )
    }

    /// How many references lead to nothing, by relationship.
    private func unresolved(of job: StoredJob, _ connection: PGConnection) throws -> [String: Int64] {
        try connection.execute(
            "SELECT relationship, count FROM _import_unresolved WHERE job = $1",
            [.integer(job.id)]
        ).reduce(into: [:]) { try $0[$1.text(0)] = $1.integer(1) }
    }

    /// A job's state; one that is called running without an importing process was interrupted.
    func state(of job: StoredJob, _ connection: PGConnection) throws -> ImportReport.State {
        guard job.state == .running else { return job.state }
        return try PGLockingSession.isLockHeld(connection, store.lockName) ? .running : .interrupted
    }

    private func ledger(
        of job: StoredJob,
        _ connection: PGConnection
    ) throws -> [String: [String: [String: Int64]]] {
        var ledger: [String: [String: [String: Int64]]] = [:]
        var names: [String: Int] = [:]
        // Names of unknown keys are bounded in the order in which they first came.
        let rows = try connection.ask(Self.ledgerQuestion(of: job.id))
        for row in rows {
            let (entity, kind) = (try row.text(0), try row.text(2))
            var attribute = try row.text(1)
            if kind == LedgerKind.unknownKey.rawValue, attribute != "…" {
                let count = names[entity, default: 0]
                if count >= Self.named { attribute = "…" } else { names[entity] = count + 1 }
            }
            ledger[entity, default: [:]][attribute, default: [:]][kind, default: 0] += try row.integer(3)
        }
        return ledger
    }

    private static func ledgerQuestion(of job: Int64) -> PGStatement {
        PGStatement(
            """
            SELECT entity, attribute, kind, sum(count)::bigint FROM _import_ledger
            WHERE job = $1 AND NOT is_error
            GROUP BY entity, attribute, kind ORDER BY min(chunk), entity COLLATE "C", attribute COLLATE "C"
            """,
            [.integer(job)]
        )
    }

    private static func errorsQuestion(of job: Int64) -> PGStatement {
        PGStatement(
            """
            SELECT entity, attribute, kind, expected, found, sum(count)::bigint, min(first_ordinal),
                (array_agg(first_byte_offset ORDER BY first_ordinal))[1],
                (array_agg(first_source ORDER BY first_ordinal))[1]
            FROM _import_ledger WHERE job = $1 AND is_error GROUP BY entity, attribute, kind, expected, found
            ORDER BY min(first_ordinal), min(place)
            """,
            [.integer(job)]
        )
    }

    private func errors(of job: StoredJob, _ connection: PGConnection) throws -> [ErrorGroup] {
        let rows = try connection.ask(Self.errorsQuestion(of: job.id))
        let names = job.sources.map(\.description.displayName)
        let groups = try rows.map { row in
            let source = Int(try row.integer(8))
            return ErrorGroup(
                entity: try row.text(0),
                keyPath: try row.text(1),
                code: try row.text(2),
                expected: try row.text(3),
                found: try row.text(4),
                count: try row.integer(5),
                first: ErrorGroup.Place(
                    source: names.indices.contains(source) ? names[source] : "",
                    byteOffset: try row.integer(7),
                    record: try row.integer(6)
                )
            )
        }
        guard groups.count > Self.named else { return groups }
        let others = groups[Self.named...]
        return groups[..<Self.named] + [
            ErrorGroup(
                entity: "",
                keyPath: ErrorGroup.others,
                code: "",
                expected: "",
                found: "",
                count: others.reduce(0) { $0 + $1.count },
                first: others[Self.named].first
            )
        ]
    }
}
