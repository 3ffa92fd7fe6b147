import Foundation
import Importer

/// `/metrics`: how far the import is, as Prometheus reads it
/// (<https://prometheus.io/docs/instrumenting/exposition_formats/>).
struct MetricsRoute: Sendable {
    let routes: Routes

    func answer() async throws -> Response {
        let findings = routes.observer.last
        let look = findings.statistics.look
        var metrics = Metrics()
        metrics.begin("importer_records_total", "counter", "Records of the import, by outcome.")
        for entity in look.entities {
            let counts = entity.counts
            for (outcome, count) in [
                ("inserted", counts.inserted), ("updated", counts.updated), ("unchanged", counts.unchanged),
                ("ignored", counts.ignored), ("rejected", counts.rejected),
            ] {
                metrics.add("importer_records_total", ["entity": entity.name, "outcome": outcome], Double(count))
            }
        }
        metrics.begin("importer_bytes_total", "counter", "Bytes of the sources whose records are committed.")
        metrics.add("importer_bytes_total", [:], Double(look.bytes))
        metrics.begin("importer_rejects_total", "counter", "Errors of records, by their kind.")
        var codes: [String: Int64] = [:]
        for group in look.errors where !group.code.isEmpty { codes[group.code, default: 0] &+= group.count }
        for (code, count) in codes.sorted(by: { $0.key < $1.key }) {
            metrics.add("importer_rejects_total", ["code": code], Double(count))
        }
        metrics.begin("importer_job_state", "gauge", "1 for the state that the import is in.")
        let state = look.job == nil ? "waiting" : look.state.rawValue
        for name in ["waiting", "running", "interrupted", "finished", "failed"] {
            metrics.add("importer_job_state", ["state": name], name == state ? 1 : 0)
        }
        if let time = findings.lastCommit {
            metrics.begin("importer_last_commit_timestamp_seconds", "gauge", "When a commit was last seen.")
            metrics.add("importer_last_commit_timestamp_seconds", [:], time)
        }
        return Response(Array(metrics.text.utf8), type: "text/plain; version=0.0.4; charset=utf-8")
    }
}

/// Text that Prometheus reads.
private struct Metrics {
    private(set) var text = ""

    mutating func begin(_ name: String, _ type: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
    }

    mutating func add(_ name: String, _ labels: KeyValuePairs<String, String>, _ value: Double) {
        let labels = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
        let number = value == value.rounded() && value.magnitude < 1e15 ? String(Int64(value)) : "\(value)"
        text += name + (labels.isEmpty ? "" : "{\(labels)}") + " \(number)\n"
    }

    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
