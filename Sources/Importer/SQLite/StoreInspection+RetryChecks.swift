import GRDB

/// What `verify` looks at where rejects were retried.
extension StoreInspection {
    /// Retries against the rejects that they say they have repaired.
    func retryChecks(of jobs: [StoredJob], _ database: Database) throws -> [Check] {
        let retries = jobs.filter { $0.retry != nil }
        let repaired = try count("_import_reject WHERE state = 'repaired'", database)
        guard !retries.isEmpty || repaired > 0 else { return [] }
        guard try database.tableExists("_import_retry") else {
            return [
                Check("every repaired reject has its retry", holds: repaired == 0, detail: "\(repaired) and 0")
            ]
        }
        var checks: [Check] = []
        for job in retries {
            let report = try report(of: job, database)
            let own = "_import_retry WHERE job = \(job.id) AND outcome"
            let (taken, ignored) = (try count("\(own) = 'taken'", database), try count("\(own) = 'ignored'", database))
            let rejected = try count("\(own) = 'rejected'", database)
            checks.append(Check(retry: report, taken: taken, ignored: ignored, rejected: rejected))
        }
        let taken = try count("_import_retry WHERE outcome = 'taken'", database)
        let matched = try count(
            """
            (SELECT reject FROM _import_retry WHERE outcome = 'taken' GROUP BY reject HAVING count(*) = 1) AS taken
            JOIN _import_reject AS reject ON reject.id = taken.reject AND reject.state = 'repaired'
            """,
            database
        )
        checks.append(Check(repaired: repaired, taken: taken, matched: matched))
        let own = try count("_import_reject WHERE state = 'retried'", database)
        let again = try count("_import_retry WHERE outcome = 'rejected'", database)
        checks.append(Check(retriedInVain: again, kept: own))
        return checks
    }

    private func count(_ rows: String, _ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT count(*) FROM \(rows)") ?? 0
    }
}

extension StoreInspection.Check {
    /// What has become of a retry's lines.
    package init(retry report: ImportReport, taken: Int64, ignored: Int64, rejected: Int64) {
        self.init(
            "every line repaired its reject, found it closed, or was rejected again",
            of: "job \(report.job)",
            holds: taken + ignored + rejected == report.recordsRead && rejected == report.rejected,
            detail: "\(report.recordsRead) = \(taken) + \(ignored) + \(rejected)"
        )
    }

    /// - Parameter matched: rejects that are repaired and were accepted once.
    package init(repaired: Int64, taken: Int64, matched: Int64) {
        self.init(
            "every repaired reject was accepted exactly once",
            holds: repaired == taken && taken == matched,
            detail: "\(repaired) repaired, \(taken) accepted, \(matched) of them the same"
        )
    }

    package init(retriedInVain again: Int64, kept own: Int64) {
        self.init("every retry in vain is kept", holds: own == again, detail: "\(own) and \(again)")
    }
}
