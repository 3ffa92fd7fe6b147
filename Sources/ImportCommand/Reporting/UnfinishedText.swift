import Importer

/// Imports of a store that are not finished, for people and for scripts.
enum UnfinishedText {
    /// A line for each of `jobs` but the one of `report`, and how to resume; `resume` is the command for that.
    static func lines(_ jobs: [ImportReport], besides report: ImportReport, resume: String) -> [String] {
        let others = jobs.filter { $0.job != report.job }
        guard !others.isEmpty else { return [] }
        let isAlone = report.state == .finished
        let rows = others.map { "  job \($0.job)  \(ReportText.sources($0)): \(standing($0))" }
        let advice =
            isAlone
            ? "To resume:  \(resume)" + (others.count > 1 ? "  (one at a time, the newest first)" : "")
            : "`resume` resumes one at a time, the newest first."
        return ["", isAlone ? "Not finished" : "Not finished either"] + rows + ["", advice]
    }

    /// Where an unfinished job is: `interrupted after 12,400 records`.
    static func standing(_ report: ImportReport) -> String {
        let state =
            switch report.state {
            case .running: "running"
            case .interrupted: "interrupted"
            case .failed: "stopped"
            case .finished: "finished"
            }
        return "\(state) after \(NumberText.counted(report.recordsRead, "record"))"
    }
}
