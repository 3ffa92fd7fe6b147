import ImportEngine
import ImportSQLite

/// A report for programs: its own keys, the reports of all jobs that are not finished, and all jobs in
/// short.
package struct StatusReport: Encodable, Sendable {
    package let report: ImportReport
    package let unfinished: [ImportReport]
    package let jobs: [StoreInspection.JobSummary]
    package let jobCount: Int

    /// The report of one job, those that are not finished, and the newest jobs of all.
    package init(
        report: ImportReport,
        unfinished: [ImportReport],
        jobs: [StoreInspection.JobSummary],
        jobCount: Int
    ) {
        self.report = report
        self.unfinished = unfinished
        self.jobs = jobs
        self.jobCount = jobCount
    }

    package func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(unfinished, forKey: .unfinished)
        try container.encode(jobs, forKey: .jobs)
        try container.encode(jobCount, forKey: .jobCount)
    }

    private enum CodingKeys: String, CodingKey {
        case unfinished, jobs
        case jobCount = "job_count"
    }
}
