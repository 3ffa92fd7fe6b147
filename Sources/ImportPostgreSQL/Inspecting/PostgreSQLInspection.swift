import ImportModel
import Importer

/// Reads jobs, reports and rejects of a server's schema without importing.
///
/// Its connection is kept open between calls, until the inspection and its copies are gone.
public struct PostgreSQLInspection: Sendable {
    let store: PostgreSQLStore
    private let sessions: IdlePool<PGLockingSession>

    /// Prepares to inspect a schema; nothing is opened before the first call.
    ///
    /// - Parameter store: the schema.
    public init(_ store: PostgreSQLStore) {
        self.store = store
        sessions = IdlePool { PGLockingSession(store, Interruption(), writes: false) }
    }

    var label: String { store.label }

    var noImport: ImportError {
        ImportError(.storeEmpty, at: label, "holds no import", advice: "Check the address and the schema.")
    }

    func read<Result>(_ body: (PGConnection) throws -> Result) throws -> Result {
        try sessions.use { session in
            session.renew()
            return try session.snapshot(body)
        }
    }

    /// The report of the job that `resume` would resume: the last unfinished one, or else the last one.
    ///
    /// - Throws: `ImportError`: with `.storeEmpty` when the schema has no import.
    public func status() throws -> ImportReport {
        try read { connection in
            let open = try StoredJob.unfinished(connection, label: label).last
            guard let job = try open ?? StoredJob.last(connection, label: label) else { throw noImport }
            return try PGReportBuilder(store: store).report(of: job, connection)
        }
    }

    /// The report of a job, by its number in the schema, from 1.
    ///
    /// - Throws: `ImportError` as `status` does; with `.jobNotFound` when there is no such job.
    public func status(of job: Int64) throws -> ImportReport {
        try read { try PGReportBuilder(store: store).report(of: job, $0) }
    }

    /// The reports of all jobs that are not finished, in the order in which they were started.
    ///
    /// - Throws: `ImportError` as `status` does.
    public func unfinished() throws -> [ImportReport] {
        try read { connection in
            try StoredJob.unfinished(connection, label: label).map {
                try PGReportBuilder(store: store).report(of: $0, connection)
            }
        }
    }

    /// How many jobs the schema has.
    ///
    /// - Throws: `ImportError` as `status` does.
    public func jobCount() throws -> Int {
        try read { Int(try $0.execute("SELECT count(*) FROM _import_job").first?.integer(0) ?? 0) }
    }

    /// Jobs of the schema, in the order in which they were started.
    ///
    /// - Parameter limit: how many of the newest; nil for all.
    /// - Throws: `ImportError` as `status` does.
    public func jobs(newest limit: Int? = nil) throws -> [StoreInspection.JobSummary] {
        try read { connection in
            let times = try connection.execute(
                """
                SELECT id, to_char(started AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
                    to_char(finished AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                FROM _import_job ORDER BY id DESC LIMIT $1
                """,
                [limit.map { .integer(Int64($0)) } ?? .null]
            )
            guard !times.isEmpty else { throw noImport }
            return try times.reversed().compactMap { row in
                guard let job = try StoredJob.find(row.integer(0), connection, label: label) else { return nil }
                let report = try PGReportBuilder(store: store).report(of: job, connection)
                return StoreInspection.JobSummary(
                    report,
                    isRetry: job.retry != nil,
                    started: try row.text(1),
                    finished: try row.optionalText(2)
                )
            }
        }
    }

    /// The work of a host on a job.
    public struct Host: Sendable, Hashable, Codable {
        /// The host's name, as the host reports it.
        public let host: String
        /// The number of chunks that it has committed.
        public let chunks: Int64
        /// The number of their records.
        public let records: Int64
        /// The number of chunks that it is importing.
        public let leased: Int64
        /// The number of records per second that it has committed in the last 10 seconds.
        public let rate: Double
    }

    /// The hosts that have worked on a job, in the order of their names.
    ///
    /// - Parameter job: the job's number in the schema.
    /// - Throws: `ImportError` as `status` does.
    public func hosts(of job: Int64) throws -> [Host] {
        try read { connection in
            try connection.execute(
                """
                SELECT host, count(*) FILTER (WHERE state = 'done'),
                    coalesce(sum(records) FILTER (WHERE state = 'done'), 0)::bigint,
                    count(*) FILTER (WHERE state = 'sealed' AND lease_until > clock_timestamp()),
                    coalesce(sum(records) FILTER (
                        WHERE state = 'done' AND done > clock_timestamp() - interval '10 s'
                    ), 0) / 10.0
                FROM _import_chunk WHERE job = $1 AND host <> '' GROUP BY host ORDER BY host COLLATE "C"
                """,
                [.integer(job)]
            ).map { row in
                Host(
                    host: try row.text(0),
                    chunks: try row.integer(1),
                    records: try row.integer(2),
                    leased: try row.integer(3),
                    rate: try row.double(4)
                )
            }
        }
    }

    /// Calls `body` with each open reject, job by job in source order.
    ///
    /// - Parameters:
    ///   - selection: the rejects to read; by default all open ones.
    ///   - body: called while the server sends the rejects.
    /// - Throws: `ImportError` as `status` does, and what `body` throws.
    public func forEachReject(
        _ selection: RejectSelection = RejectSelection(),
        _ body: (StoreInspection.Reject) throws -> Void
    ) throws {
        try read { connection in
            guard try StoredJob.last(connection, label: label) != nil else { throw noImport }
            try PGRejects(store: store).forEach(selection, connection, body)
        }
    }

    /// Verifies from the schema alone that every record is accounted for.
    ///
    /// - Returns: the checks, job by job.
    /// - Throws: `ImportError` as `status` does.
    public func verify() throws -> [StoreInspection.Check] {
        try read { connection in
            let jobs = try StoredJob.all(connection, label: label)
            guard !jobs.isEmpty else { throw noImport }
            var checks: [StoreInspection.Check] = []
            for job in jobs { checks += try PGVerification(store: store, job: job).checks(connection) }
            checks += try PGVerification.rowChecks(connection)
            return try checks + PGVerification.retryChecks(of: jobs, PGReportBuilder(store: store), connection)
        }
    }
}
