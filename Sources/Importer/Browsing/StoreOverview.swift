import GRDB
import ImportEngine
import ImportSQLite

/// All that is said of a store's imports, as one transaction sees it.
package struct StoreOverview: Sendable {
    /// That of the job that `resume` would resume: the last unfinished one, or else the last one.
    package let report: ImportReport
    /// The reports of all jobs that are not finished, in the order in which they were started.
    package let unfinished: [ImportReport]
    /// All jobs in that order.
    package let jobs: [StoreInspection.JobSummary]
    /// How far each source of the report's job is, in their order.
    package let sources: [StoreInspection.SourceProgress]
}

/// A job with the options that it was given and its report.
package struct JobDetails: Sendable {
    package let summary: StoreInspection.JobSummary
    /// As far as they are kept, and not what they are without being given.
    package let settings: [JobSetting]
    /// Nil where it was not asked for.
    package let report: ImportReport?
}

extension StoreInspection {
    /// What the store's imports have come to.
    ///
    /// - Throws: `ImportError` as `status` does.
    package func overview() throws -> StoreOverview {
        try read { database in
            let jobs = try StoredJob.all(database)
            let job = try resumable(jobs)
            let unfinished = try jobs.filter { $0.state != .finished }.map { try report(of: $0, database) }
            return StoreOverview(
                report: try unfinished.last ?? report(of: job, database),
                unfinished: unfinished,
                jobs: try jobs.map { try summary(of: $0, database) },
                sources: try sources(of: job, database)
            )
        }
    }

    /// All jobs of the store, in the order in which they were started.
    ///
    /// - Parameter reports: of how many of the last ones the report is read, too.
    /// - Throws: `ImportError` as `status` does.
    package func jobDetails(reports: Int) throws -> [JobDetails] {
        try read { database in
            let jobs = try StoredJob.all(database)
            guard !jobs.isEmpty else { throw noImport }
            return try jobs.enumerated().map { place, job in
                JobDetails(
                    summary: try summary(of: job, database),
                    settings: job.settings,
                    report: place < jobs.count - reports ? nil : try report(of: job, database)
                )
            }
        }
    }

    /// The ledger of the job that `status` reports: how often, by entity, attribute and kind.
    ///
    /// - Throws: `ImportError` as `status` does.
    package func ledger() throws -> [String: [String: [String: Int64]]] {
        try read { try ledger(of: resumable(StoredJob.all($0)), $0) }
    }
}
