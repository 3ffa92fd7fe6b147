import Importer

/// `/api/jobs`: the newest jobs of the store, or those before one, each with its report.
struct JobsRoute: Sendable {
    /// How many are on a page.
    static let limit = 20

    let routes: Routes

    func answer(_ request: Request) async throws -> Response {
        let hidesValues = routes.options.hidesValues
        let before = request.parameter("before").flatMap { Int64($0) } ?? .max
        let page = try await routes.inspect { try $0.jobDetails(before: before, limit: Self.limit) }
        let jobs = page?.jobs.map { Job(details: $0, hidesValues: hidesValues) } ?? []
        return try Response(encoding: Content(jobs: jobs, hasEarlier: page?.hasEarlier ?? false))
    }

    private struct Content: Encodable {
        let jobs: [Job]
        let hasEarlier: Bool

        private enum CodingKeys: String, CodingKey {
            case jobs
            case hasEarlier = "has_earlier"
        }
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
            try container.encode(details.report, forKey: .report)
        }
    }
}
