import Importer

/// `/api/jobs`: all jobs of the store, each with its report.
struct JobsRoute: Sendable {
    /// Reports of more jobs than these are left out, those of the first ones.
    private static let mostReports = 20

    let routes: Routes

    func answer() async throws -> Answer {
        let hidesValues = routes.options.hidesValues
        let jobs = try await routes.inspect { inspection in
            let summaries = try inspection.jobs()
            let settings = try inspection.jobSettings()
            let first = max(summaries.count - Self.mostReports, 0)
            return try summaries.enumerated().map { place, summary in
                Job(
                    summary: summary,
                    settings: (settings[summary.job] ?? []).filter { !(hidesValues && $0.hasValues) },
                    report: place < first ? nil : try inspection.status(of: summary.job)
                )
            }
        }
        return try Answer(encoding: Content(jobs: jobs ?? []))
    }

    private struct Content: Encodable {
        let jobs: [Job]
    }

    private struct Job: Encodable, Sendable {
        let summary: StoreInspection.JobSummary
        let settings: [JobSetting]
        let report: ImportReport?

        private enum CodingKeys: String, CodingKey {
            case options, report
        }

        func encode(to encoder: any Encoder) throws {
            try summary.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            if !settings.isEmpty {
                try container.encode(Dictionary(settings.map { ($0.name, $0.text) }) { $1 }, forKey: .options)
            }
            try container.encodeIfPresent(report, forKey: .report)
        }
    }
}
