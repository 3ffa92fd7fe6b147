import ImportModel
import Importer

/// What must hold of a job, and whether it does.
struct PGVerification {
    let store: PostgreSQLStore
    let job: StoredJob

    func checks(_ connection: PGConnection) throws -> [StoreInspection.Check] {
        let report = try PGReportBuilder(store: store).report(of: job, connection)
        var checks: [StoreInspection.Check] = []
        func check(_ rule: String, _ holds: Bool, _ detail: String) {
            checks.append(StoreInspection.Check(rule, of: "job \(job.id)", holds: holds, detail: detail))
        }
        let outcomes = [
            ("inserted", report.inserted), ("updated", report.updated), ("unchanged", report.unchanged),
            ("ignored", report.ignored), ("rejected", report.rejected),
        ]
        let sum = outcomes.reduce(Int64(0)) { $0.addingReportingOverflow($1.1).partialValue }
        // What is staged is settled at the end.
        let mayWait = job.state != .finished && job.model?.isStagedOnServer == true
        let waiting = mayWait ? max(0, report.recordsRead - sum) : 0
        check(
            "read = " + outcomes.map(\.0).joined(separator: " + "),
            report.recordsRead == sum + waiting,
            "\(report.recordsRead) = " + outcomes.map { "\($0.1)" }.joined(separator: " + ")
                + (waiting > 0 ? " + \(waiting) that are staged" : "")
        )
        func number(_ sql: String) throws -> Int64 {
            try connection.execute(sql, [.integer(job.id)]).first?.integer(0) ?? 0
        }
        let done = try number(
            "SELECT coalesce(sum(records), 0)::bigint FROM _import_chunk WHERE job = $1 AND state = 'done'"
        )
        check(
            "the chunks that are done count every record read",
            done == report.recordsRead,
            "\(done) and \(report.recordsRead)"
        )
        let rejects = try number("SELECT count(*) FROM _import_reject WHERE job = $1")
        check("every reject is kept", rejects == report.rejected, "\(rejects) and \(report.rejected)")
        let gaps = try number(
            """
            SELECT count(*) FROM (
                SELECT first_byte, first_ordinal, records, source, lag(end_byte) OVER sources AS before,
                    lag(first_ordinal + records) OVER (ORDER BY number) AS next
                FROM _import_chunk WHERE job = $1 WINDOW sources AS (PARTITION BY source ORDER BY number)
            ) AS chunks WHERE first_byte <> before OR first_ordinal <> coalesce(next, 1)
            """
        )
        check("the chunks follow one another without a gap", gaps == 0, "\(gaps) gaps")
        let uncounted = try number(
            """
            SELECT count(*) FROM _import_count AS counts WHERE job = $1 AND NOT EXISTS (
                SELECT 1 FROM _import_chunk AS chunk
                WHERE chunk.job = counts.job AND chunk.number = counts.chunk AND state = 'done'
            ) AND chunk > 0
            """
        )
        check("nothing is counted of a chunk that is not done", uncounted == 0, "\(uncounted) counts")
        if job.state == .finished {
            let open = try number("SELECT count(*) FROM _import_chunk WHERE job = $1 AND state <> 'done'")
            check("every chunk is done", open == 0, "\(open) are not")
            let stages =
                try connection.execute(
                    """
                    SELECT count(*) FROM pg_class
                    WHERE relnamespace = current_schema()::regnamespace AND relname ~ '^_import_stage_\(job.id)_'
                    """
                ).first?.integer(0) ?? 0
            check("no staging table is left", stages == 0, "\(stages) are")
        }
        return try checks + relationshipChecks(report, connection)
    }

    /// Rows of tables that were empty before the first of all jobs, against what all of them have inserted.
    static func rowChecks(_ connection: PGConnection) throws -> [StoreInspection.Check] {
        let tables = try connection.execute(
            """
            SELECT entity.table_name, coalesce(sum(inserted + nested_inserted + stubs - deleted), 0)::bigint
            FROM _import_entity AS entity LEFT JOIN _import_count AS counts USING (job, position)
            WHERE entity.table_name <> '' AND position >= 0 GROUP BY entity.table_name
            HAVING (array_agg(was_empty ORDER BY job, position))[1]
            ORDER BY entity.table_name COLLATE "C"
            """
        )
        return try tables.map { row in
            let (table, inserted) = (try row.text(0), try row.integer(1))
            let rows =
                try connection.execute("SELECT count(*) FROM \(PGTables.quoted(table))").first?.integer(0) ?? 0
            return StoreInspection.Check(
                "\(table) has the rows that were inserted",
                holds: rows == inserted,
                detail: "\(rows) and \(inserted)"
            )
        }
    }

    /// Retries against the rejects that they say they have repaired.
    static func retryChecks(
        of jobs: [StoredJob],
        _ reports: PGReportBuilder,
        _ connection: PGConnection
    ) throws -> [StoreInspection.Check] {
        let retries = jobs.filter { $0.retry != nil }
        guard !retries.isEmpty else { return [] }
        func count(_ rows: String) throws -> Int64 {
            try connection.execute("SELECT count(*) FROM \(rows)").first?.integer(0) ?? 0
        }
        var checks: [StoreInspection.Check] = []
        for job in retries {
            let own = "_import_retry WHERE job = \(job.id) AND outcome"
            // What is staged has become nothing yet.
            let waiting = job.state == .finished ? 0 : try count("\(own) IS NULL")
            checks.append(
                StoreInspection.Check(
                    retry: try reports.report(of: job, connection),
                    accepted: try count("\(own) = 'taken'") + waiting,
                    ignored: try count("\(own) = 'ignored'"),
                    rejected: try count("\(own) = 'rejected'")
                )
            )
        }
        let matched = try count(
            """
            (SELECT reject FROM _import_retry WHERE outcome = 'taken' GROUP BY reject HAVING count(*) = 1) AS taken
            JOIN _import_reject AS reject ON reject.id = taken.reject AND reject.state = 'repaired'
            """
        )
        let repaired = try count("_import_reject WHERE state = 'repaired'")
        let accepted = try count("_import_retry WHERE outcome = 'taken'")
        checks.append(StoreInspection.Check(repaired: repaired, accepted: accepted, matched: matched))
        let again = try count("_import_retry WHERE outcome = 'rejected'")
        checks.append(
            StoreInspection.Check(retriedInVain: again, kept: try count("_import_reject WHERE state = 'retried'"))
        )
        return checks
    }
}
