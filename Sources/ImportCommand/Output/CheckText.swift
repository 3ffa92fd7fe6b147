import Importer

/// What `verify` looked at, for people.
enum CheckText {
    /// A line for each check, a note for each of the `unfinished` jobs, and what that comes to.
    static func text(_ checks: [StoreInspection.Check], unfinished: [ImportReport] = []) -> String {
        var text = ""
        for check in checks {
            // SQLite's own word for "it holds".
            let detail = check.detail.isEmpty || check.detail == "ok" ? "" : ": " + grouped(check.detail)
            text += (check.holds ? "ok      " : "FAILED  ") + TerminalText.escaped(check.name + detail) + "\n"
        }
        for job in unfinished { text += "note    job \(job.job) is \(UnfinishedText.standing(job)), not finished\n" }
        let failed = checks.count(where: { !$0.holds })
        let all = NumberText.counted(Int64(checks.count), "check")
        text += failed == 0 ? "All \(all) hold" : "\(failed) of \(all) failed"
        guard !unfinished.isEmpty else { return text + ".\n" }
        return text + "; "
            + NumberText.counted(Int64(unfinished.count), "import is not finished", "imports are not finished") + ".\n"
    }

    /// The figures in groups of three digits.
    private static func grouped(_ detail: String) -> String {
        detail.replacing(/\b[0-9]{4,}\b/) { match in Int64(match.output).map(NumberText.grouped) ?? String(match.output)
        }
    }
}

/// A check, or a note of a job that is not finished, as `verify --json` prints it.
struct CheckRecord: Encodable {
    let name: String
    let holds: Bool
    let detail: String
    /// `true` for a note, else left out.
    let note: Bool?

    init(_ check: StoreInspection.Check) {
        name = check.name
        holds = check.holds
        detail = check.detail
        note = nil
    }

    init(unfinished job: ImportReport) {
        name = "job \(job.job): is not finished"
        holds = true
        detail = UnfinishedText.standing(job)
        note = true
    }
}
