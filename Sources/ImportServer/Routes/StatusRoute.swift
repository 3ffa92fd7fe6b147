import Foundation
import Importer

/// `/api/status`: the report of the import, how fast it goes, and how fast it has been.
struct StatusRoute: Sendable {
    let routes: Routes

    func answer() async throws -> Response {
        let status = try await routes.inspect { inspection in
            let overview = try inspection.overview(jobs: JobsRoute.limit)
            let report = StatusReport(
                report: overview.report,
                unfinished: overview.unfinished,
                jobs: overview.jobs,
                jobCount: overview.jobCount
            )
            return (report, overview.sources)
        }
        let (findings, store) = (routes.observer.last, routes.options.store)
        return try Response(encoding: Content(status: status, findings: findings, store: store))
    }

    private struct Content: Encodable {
        let status: (report: StatusReport, sources: [StoreInspection.SourceProgress])?
        let findings: StoreObserver.Findings
        let store: String

        private enum CodingKeys: String, CodingKey {
            case state, store, program, position, throughput, error, message
            case totalBytes = "total_bytes"
            case splitBytes = "split_bytes"
            case splitRecords = "split_records"
            case recordsPerSecond = "records_per_second"
            case sourceProgress = "source_progress"
            case bytesPerSecond = "bytes_per_second"
            case secondsLeft = "seconds_left"
        }

        private struct Throughput: Encodable {
            let samples: [ThroughputHistory.Sample]
        }

        func encode(to encoder: any Encoder) throws {
            try status?.report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            if status == nil { try container.encode("waiting", forKey: .state) }
            try container.encode(URL(fileURLWithPath: store).lastPathComponent, forKey: .store)
            try container.encode(ImporterVersion.text, forKey: .program)
            try container.encode(findings.sequence, forKey: .position)
            try container.encode(Throughput(samples: findings.history.samples), forKey: .throughput)
            try container.encodeIfPresent(findings.error?.message, forKey: .error)
            guard let status else { return }
            try container.encode(status.sources, forKey: .sourceProgress)
            let (frame, snapshot) = (findings.frame, findings.frame.snapshot)
            try container.encodeIfPresent(snapshot.totalBytes, forKey: .totalBytes)
            try container.encode(snapshot.splitBytes, forKey: .splitBytes)
            try container.encode(snapshot.splitRecords, forKey: .splitRecords)
            try container.encodeIfPresent(frame.recordsPerSecond, forKey: .recordsPerSecond)
            try container.encodeIfPresent(frame.bytesPerSecond, forKey: .bytesPerSecond)
            try container.encodeIfPresent(frame.secondsLeft, forKey: .secondsLeft)
        }
    }
}
