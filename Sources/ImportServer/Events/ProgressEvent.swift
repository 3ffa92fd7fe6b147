import Importer

/// How far an import is: the keys of `watch --json`, and what a page needs beside them.
struct ProgressEvent: Encodable {
    private let record: ProgressJSON
    private let time: Double?
    private let job: Int64?
    private let commits: Int64
    private let source: StoreSnapshot.Source?
    private let error: String?

    /// - Parameter time: seconds since 1970; nil to compare what it says.
    init(_ findings: StoreObserver.Findings, time: Double?) {
        let statistics = findings.statistics
        let counts = statistics.look.entities.map { ($0.name, $0.counts) }
        record = ProgressJSON(
            findings.frame,
            state: statistics.stateText,
            entities: Dictionary(counts) { first, _ in first }
        )
        self.time = time.map { ($0 * 1000).rounded() / 1000 }
        job = statistics.look.job
        commits = statistics.look.commits
        source = statistics.look.source
        error = findings.error?.message
    }

    private enum CodingKeys: String, CodingKey {
        case time, job, commits, source, error
    }

    func encode(to encoder: any Encoder) throws {
        try record.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(time, forKey: .time)
        try container.encodeIfPresent(job, forKey: .job)
        try container.encode(commits, forKey: .commits)
        try container.encodeIfPresent(source, forKey: .source)
        try container.encodeIfPresent(error, forKey: .error)
    }
}
