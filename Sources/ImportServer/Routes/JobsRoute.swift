import Importer

/// `/api/jobs`: all jobs of the store, each with its report.
struct JobsRoute: Sendable {
    /// Reports of more jobs than these are left out, those of the first ones.
    private static let mostReports = 20

    let routes: Routes

    func answer() async throws -> Response {
        let hidesValues = routes.options.hidesValues
        let jobs = try await routes.inspect { try $0.jobDetails(reports: Self.mostReports) } ?? []
        return try Response(encoding: Content(jobs: jobs.map { Job(details: $0, hidesValues: hidesValues) }))
    }

    private struct Content: Encodable {
        let jobs: [Job]
    }

    private struct Job: Encodable {
        let details: JobDetails
        let hidesValues: Bool

        private enum CodingKeys: String, CodingKey {
            case options, report
        }

        func encode(to encoder: any Encoder) throws {
            try details.summary.encode(to: encoder)
            let settings = details.settings.filter { !(hidesValues && $0.hasValues) }
            var container = encoder.container(keyedBy: CodingKeys.self)
            if !settings.isEmpty {
                try container.encode(Dictionary(settings.map { ($0.name, $0.text) }) { $1 }, forKey: .options)
            }
            try container.encodeIfPresent(details.report, forKey: .report)
        }
    }
}
