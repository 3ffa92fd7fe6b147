import ImportModel
import Importer

/// Jobs of a store, a line each.
enum JobListText {
    /// A table of the jobs, and how to see the others, to see one in full and to resume.
    ///
    /// - Parameters:
    ///   - count: how many jobs there are.
    ///   - unfinished: the reports of those that are not finished.
    ///   - command: how the importer is called.
    static func text(
        _ jobs: [StoreInspection.JobSummary],
        of count: Int,
        unfinished: [ImportReport],
        store: String,
        command: String
    ) -> String {
        let quoted = store.storeWords()
        var table = ColumnText(headers: ["job", "state", "started (UTC)"], numbers: [true, false, false])
        let counts = columns.filter { column in column.isAlways || jobs.contains { $0[keyPath: column.count] != 0 } }
        for column in counts { table.addColumn(column.name, isNumber: true) }
        table.addColumn("sources", isNumber: false)
        for job in jobs {
            var cells = ["\(job.job)", state(job), begun(job)]
            cells += counts.map { NumberText.grouped(job[keyPath: $0.count]) }
            table.addRow(cells + [sources(job)])
        }
        var lines = table.lines + [""]
        if count > jobs.count {
            lines.append("To list all \(NumberText.grouped(Int64(count))):  \(command) status \(quoted) --all")
        }
        lines.append("To show one in full:  \(command) status \(quoted) --job N")
        let unfinished = unfinished.filter { $0.state == .interrupted || $0.state == .failed }
        if let last = unfinished.last {
            let pipe = last.sources.contains("-") ? "pipe the same stream in again:  … | " : " "
            let order = unfinished.count > 1 ? "  (one at a time, the newest first)" : ""
            lines.append("To resume: \(pipe)\(command) resume \(quoted)\(order)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private struct Column {
        let name: String
        let count: KeyPath<StoreInspection.JobSummary, Int64>
        var isAlways = false
    }

    /// As in a report, zeros are left out where no job has more, but what was read, inserted and rejected stays.
    private static var columns: [Column] {
        [
            Column(name: "read", count: \.recordsRead, isAlways: true),
            Column(name: "inserted", count: \.inserted, isAlways: true), Column(name: "updated", count: \.updated),
            Column(name: "deleted", count: \.deletedOrNone),
            Column(name: "unchanged", count: \.unchanged), Column(name: "ignored", count: \.ignored),
            Column(name: "rejected", count: \.rejected, isAlways: true), Column(name: "repaired", count: \.repaired),
        ]
    }

    private static func state(_ job: StoreInspection.JobSummary) -> String {
        job.undoneBy != nil ? "undone" : job.state == .failed ? "stopped" : job.state.rawValue
    }

    /// The day and the time up to seconds: `2026-03-01 14:05:09`.
    private static func begun(_ job: StoreInspection.JobSummary) -> String {
        TerminalText.escaped(String(job.started.prefix(19))).replacing("T", with: " ")
    }

    private static func sources(_ job: StoreInspection.JobSummary) -> String {
        let names = ReportText.sources(job.sources)
        switch job.change {
        case .patch: return names + " (patch)"
        case .undo: return names + " (undo)"
        case nil: return job.isRetry ? names + " (retry)" : names
        }
    }
}

extension StoreInspection.JobSummary {
    fileprivate var deletedOrNone: Int64 { deleted ?? 0 }
}
