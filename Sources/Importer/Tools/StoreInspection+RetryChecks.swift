import GRDB
import ImportEngine

/// What `verify` looks at where rejects were retried.
extension StoreInspection {
    /// Retries against the rejects that they say they have repaired.
    package func retryChecks(of jobs: [StoredJob], _ database: Database) throws -> [Check] {
        let retries = jobs.filter { $0.retry != nil }
        let repaired = try database.count("_import_reject", where: "state = 'repaired'")
        guard !retries.isEmpty || repaired > 0 else { return [] }
        guard try database.hasTable("_import_retry") else {
            return [
                Check("every repaired reject has its retry", holds: repaired == 0, detail: "\(repaired) and 0")
            ]
        }
        var checks: [Check] = []
        for job in retries {
            let report = try report(of: job, database)
            func count(_ outcome: String) throws -> Int64 {
                try database.count("_import_retry", where: "job = \(job.id) AND outcome = '\(outcome)'")
            }
            checks.append(
                try Check(
                    retry: report,
                    accepted: count("taken"),
                    ignored: count("ignored"),
                    rejected: count("rejected")
                )
            )
        }
        let accepted = try database.count("_import_retry", where: "outcome = 'taken'")
        let matched = try database.count(
            "_import_reject",
            where: """
                state = 'repaired' AND id IN (
                    SELECT reject FROM _import_retry WHERE outcome = 'taken' GROUP BY reject HAVING count(*) = 1
                )
                """
        )
        checks.append(Check(repaired: repaired, accepted: accepted, matched: matched))
        let own = try database.count("_import_reject", where: "state = 'retried'")
        let again = try database.count("_import_retry", where: "outcome = 'rejected'")
        checks.append(Check(retriedInVain: again, kept: own))
        return checks
    }
}

extension StoreInspection.Check {
    /// What has become of a retry's lines.
    package init(retry report: ImportReport, accepted: Int64, ignored: Int64, rejected: Int64) {
        self.init(
            "every line repaired its reject, found it closed, or was rejected again",
            of: "job \(report.job)",
            holds: accepted + ignored + rejected == report.recordsRead && rejected == report.rejected,
            detail: "\(report.recordsRead) = \(accepted) + \(ignored) + \(rejected)"
        )
    }

    /// - Parameter matched: rejects that are repaired and were accepted once.
    package init(repaired: Int64, accepted: Int64, matched: Int64) {
        self.init(
            "every repaired reject was accepted exactly once",
            holds: repaired == accepted && accepted == matched,
            detail: "\(repaired) repaired, \(accepted) accepted, \(matched) of them the same"
        )
    }

    package init(retriedInVain again: Int64, kept own: Int64) {
        self.init("every record that was rejected again is kept", holds: own == again, detail: "\(own) and \(again)")
    }
}
