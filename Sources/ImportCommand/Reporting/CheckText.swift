import ImportModel
import Importer

/// What `verify` looked at, for people.
struct CheckText {
    /// How much is printed.
    enum Detail {
        /// The result alone.
        case quiet
        /// A line for each check, over all jobs; of those that failed a line for each job.
        case brief
        /// A line for each check of each job, and for each table.
        case verbose
    }

    let checks: [StoreInspection.Check]
    var tables: [StoreInspection.TableComparison] = []
    var unfinished: [ImportReport] = []

    /// The lines, and what they come to.
    func text(_ detail: Detail = .brief) -> String {
        var lines: [String] = []
        switch detail {
        case .quiet: break
        case .brief: lines = briefChecks + briefTables
        case .verbose: lines = checks.map { Self.line($0) } + tables.map { Self.line($0) }
        }
        if detail != .quiet {
            lines += unfinished.map { "note    job \($0.job) is \(UnfinishedText.standing($0)), not finished" }
        }
        return (lines + [result]).joined(separator: "\n") + "\n"
    }

    private var briefChecks: [String] {
        var rules: [String] = []
        var groups: [String: [StoreInspection.Check]] = [:]
        for check in checks {
            if groups[check.rule] == nil { rules.append(check.rule) }
            groups[check.rule, default: []].append(check)
        }
        return rules.flatMap { rule -> [String] in
            let group = groups[rule] ?? []
            let failed = group.filter { !$0.holds }
            guard failed.isEmpty else { return failed.map { Self.line($0) } }
            let what = group[0].subject?.hasPrefix("table ") == true ? "table" : "job"
            let detail = group.count == 1 ? Self.detail(group[0]) : ": \(NumberText.counted(Int64(group.count), what))"
            return ["ok      " + TerminalText.escaped(rule + detail)]
        }
    }

    private var briefTables: [String] {
        let touched = tables.filter { !$0.isUntouched }
        guard touched.isEmpty, !tables.isEmpty else { return touched.map { Self.line($0) } }
        let rows = tables.reduce(Int64(0)) { $0.addingReportingOverflow($1.rows).partialValue }
        let all = tables.count == 1 ? "" : " in \(tables.count.grouped) tables"
        let compared = tables.reduce(Int64(0)) { $0.addingReportingOverflow($1.compared).partialValue }
        let values = "; the values of \(NumberText.grouped(compared)) of them were compared"
        return [
            "ok      every row that was inserted is there, and no other: \(NumberText.counted(rows, "row"))\(all)"
                + (compared > 0 ? values : "")
        ]
    }

    private var result: String {
        let failed = checks.count(where: { !$0.holds })
        let touched = tables.count { !$0.isUntouched }
        // A table that others have changed is no check that fails, nor one that holds.
        let all = NumberText.counted(Int64(checks.count + tables.count - touched), "check")
        var text = failed == 0 ? "All \(all) hold" : "\(failed) of \(all) failed"
        if touched > 0 {
            text += "; " + NumberText.counted(Int64(touched), "table was", "tables were") + " changed by other programs"
        }
        if !unfinished.isEmpty {
            text += "; "
            text += NumberText.counted(Int64(unfinished.count), "import is not finished", "imports are not finished")
        }
        return text + "."
    }

    private static func line(_ check: StoreInspection.Check) -> String {
        (check.holds ? "ok      " : "FAILED  ") + TerminalText.escaped(check.name + detail(check))
    }

    /// SQLite's own word for "it holds" says nothing more.
    private static func detail(_ check: StoreInspection.Check) -> String {
        check.detail.isEmpty || check.detail == "ok" ? "" : ": " + grouped(check.detail)
    }

    private static func line(_ table: StoreInspection.TableComparison) -> String {
        let name = TerminalText.escaped(table.table)
        return table.isUntouched
            ? "ok      table \(name): has every row that was inserted, and no other: \(facts(table))"
            : "changed table \(name), by other programs: \(facts(table))"
    }

    /// What is known of a table: its rows, or what was done to it.
    static func facts(_ table: StoreInspection.TableComparison) -> String {
        var facts: [String] = []
        if table.isView {
            facts.append("it is a view now")
        } else if !table.isThere {
            facts.append(table.rows == 0 ? "it is gone or has lost columns" : "it has lost columns")
        }
        if table.deleted > 0 { facts.append("\(NumberText.counted(table.deleted, "row")) deleted") }
        if table.added > 0 { facts.append("\(NumberText.counted(table.added, "row")) added") }
        if table.changed > 0 {
            let compared = NumberText.counted(table.compared, "compared row")
            facts.append("\(NumberText.grouped(table.changed)) of \(compared) with other values")
        }
        guard facts.isEmpty else { return facts.joined(separator: ", ") }
        let compared = table.compared > 0 ? ", \(NumberText.grouped(table.compared)) of them compared" : ""
        return NumberText.counted(table.rows, "row") + compared
    }

    /// The figures in groups of three digits.
    private static func grouped(_ detail: String) -> String {
        // Names and values come behind the counts, and stay as they are.
        let end = detail.firstIndex(of: ";") ?? detail.endIndex
        let counts = detail[..<end].replacing(/\b[0-9]{4,}\b/) { match in
            Int64(match.output).map(NumberText.grouped) ?? String(match.output)
        }
        return String(counts + detail[end...])
    }
}
