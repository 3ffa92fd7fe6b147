import GRDB
import ImportEngine
import ImportSQLite

/// All that is said of a store's imports, as one transaction sees it.
package struct StoreOverview: Sendable {
    /// That of the job that `resume` would resume: the last unfinished one, or else the last one.
    package let report: ImportReport
    /// The reports of all jobs that are not finished, in the order in which they were started.
    package let unfinished: [ImportReport]
    /// The newest jobs, in that order.
    package let jobs: [StoreInspection.JobSummary]
    /// How many jobs there are.
    package let jobCount: Int
    /// How far each source of the report's job is, in their order.
    package let sources: [StoreInspection.SourceProgress]
}

/// A job with the options that it was given and its report.
package struct JobDetails: Sendable {
    package let summary: StoreInspection.JobSummary
    /// As far as they are kept, and not what they are without being given.
    package let settings: [JobSetting]
    package let report: ImportReport
}

extension StoreInspection {
    /// What the store's imports have come to.
    ///
    /// - Parameter limit: how many of the newest jobs are listed.
    /// - Throws: `ImportError` as `status` does.
    package func overview(jobs limit: Int) throws -> StoreOverview {
        try read { database in
            let job = try resumable(database)
            let unfinished = try StoredJob.unfinished(database).map { try report(of: $0, database) }
            return StoreOverview(
                report: try unfinished.last ?? report(of: job, database),
                unfinished: unfinished,
                jobs: try StoredJob.newest(limit, database).reversed().map { try summary(of: $0, database) },
                jobCount: Int(try database.count("_import_job", where: "1")),
                sources: try sources(of: job, database)
            )
        }
    }

    /// Jobs of the store with their reports, in the order in which they were started.
    ///
    /// - Parameters:
    ///   - job: the number of a job; those before it are meant.
    ///   - limit: how many of these at most, the newest.
    /// - Returns: the jobs, and whether there are others before them.
    /// - Throws: `ImportError` as `status` does.
    package func jobDetails(before job: Int64, limit: Int) throws -> (jobs: [JobDetails], hasEarlier: Bool) {
        try read { database in
            guard try StoredJob.isAnyThere(database) else { throw noImport }
            let jobs = try StoredJob.newest(limit + 1, before: job, database)
            let details = try jobs.prefix(limit).reversed().map { job in
                JobDetails(
                    summary: try summary(of: job, database),
                    settings: job.settings,
                    report: try report(of: job, database)
                )
            }
            return (details, jobs.count > limit)
        }
    }

    /// The ledger of the job that `status` reports: how often, by entity, attribute and kind.
    ///
    /// - Throws: `ImportError` as `status` does.
    package func ledger() throws -> [String: [String: [String: Int64]]] {
        try read { try ledger(of: resumable($0), $0) }
    }
}
