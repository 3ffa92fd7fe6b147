import Importer

/// A report as `status --json` prints it: its own keys, the reports of all jobs that are not finished, and all jobs in
/// short.
struct StatusRecord: Encodable {
    let report: ImportReport
    let unfinished: [ImportReport]
    let jobs: [StoreInspection.JobSummary]

    func encode(to encoder: any Encoder) throws {
        try report.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(unfinished, forKey: .unfinished)
        try container.encode(jobs, forKey: .jobs)
    }

    private enum CodingKeys: String, CodingKey {
        case unfinished, jobs
    }
}
