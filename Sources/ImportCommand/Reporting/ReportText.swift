import ImportModel
import Importer

/// A job's report for people.
enum ReportText {
    /// The result of a job, or how far it is; `command` is how the importer is called.
    ///
    /// `unfinished` are the store's jobs that are not finished; the report's own may be among them.
    static func text(
        _ report: ImportReport,
        unfinished: [ImportReport] = [],
        store: String,
        command: String
    ) -> String {
        let quoted = store.storeWords()
        var lines = [headline(report, store: store)]
        lines += table(counts(of: report))
        lines += entities(report)
        lines += errors(report)
        lines += ledger(report)
        lines += unresolved(report, store: quoted, command: command)
        lines += MirrorText.lines(report)
        // That it was interrupted is said in the first line.
        if let message = report.message, report.state == .failed {
            lines += ["", TerminalText.escaped(message)]
        }
        var advice: [String] = []
        if report.rejected > 0 { advice.append("To list the rejects:  \(command) rejects \(quoted)") }
        if let outside = report.ledger[""], outside.values.contains(where: { $0[LedgerKind.kept.rawValue] != nil }) {
            advice.append("To print what is kept:  \(command) sources \(quoted) --outside")
        }
        if report.state == .interrupted || report.state == .failed {
            let pipe = report.sources.contains("-") ? "pipe the same stream in again:  … | " : " "
            advice.append("To resume: \(pipe)\(command) resume \(quoted)")
        }
        if !advice.isEmpty { lines += [""] + advice }
        lines += UnfinishedText.lines(unfinished, besides: report, resume: "\(command) resume \(quoted)")
        return lines.joined(separator: "\n") + "\n"
    }

    static let unchanged = "nothing was changed"

    /// The answer to an import of what is there already.
    ///
    /// `changes` says what was changed nevertheless; `isPartial` whether some of what was imported is gone since.
    static func alreadyFinished(
        _ report: ImportReport,
        store: String,
        _ changes: String = unchanged,
        isPartial: Bool = false
    )
        -> String
    {
        let store = TerminalText.escaped(store)
        let all = report.sources == ["-"] ? "this stream" : sources(report)
        guard !isPartial else {
            return "All of \(all) was imported into \(store) (\(records(report))), but some was deleted since: "
                + "\(changes). --again imports it once more.\n"
        }
        return "\(store) has all of \(all) already (\(records(report))): "
            + "\(changes). --again imports it once more.\n"
    }

    /// The answer where several imports have brought the sources.
    static func inAlready(store: String, _ changes: String = unchanged, isPartial: Bool = false) -> String {
        let store = TerminalText.escaped(store)
        let what =
            isPartial
            ? "All of it was imported into \(store), but some was deleted since" : "\(store) has all of it already"
        return "\(what): \(changes). --again imports it once more.\n"
    }

    /// How many records there are, and how many of them were not accepted.
    private static func records(_ report: ImportReport) -> String {
        let rejected = report.rejected > 0 ? ", \(NumberText.grouped(report.rejected)) rejected" : ""
        return NumberText.counted(report.recordsRead, "record") + rejected
    }

    /// The answer to a resume where nothing is interrupted.
    static func nothingToResume(_ report: ImportReport, store: String, _ changes: String = "") -> String {
        let store = TerminalText.escaped(store)
        if let job = report.undoes {
            return "\(store): job \(job) was undone, by job \(report.job): there is nothing to resume\(changes).\n"
        }
        return
            "All of \(sources(report)) was imported into \(store) (\(records(report))): there is nothing to resume\(changes).\n"
    }

    /// The answer to a retry of a file that was retried already.
    static func alreadyRetried(_ report: ImportReport, store: String, _ changes: String = unchanged) -> String {
        let store = TerminalText.escaped(store)
        return "\(store) has all of \(sources(report)) already (\(records(report))): "
            + "\(changes).\n"
    }

    /// The answer to a retry of the stored rejects where there is none that was not tried yet.
    static func nothingToRetry(store: String, _ changes: String = unchanged) -> String {
        "\(TerminalText.escaped(store)) has no open rejects that were not tried with this model already: "
            + "\(changes).\n"
    }

    /// What the command ends with where nothing was accepted though something was to be; nil elsewhere.
    static func nothingTaken(_ report: ImportReport, store: String, command: String, hasModel: Bool) -> ImportError? {
        guard report.tookNothing, let message = report.message else { return nil }
        let rejects = "\(command) rejects \(store.storeWords())"
        let duplicate = CoercionError.Code.duplicateIdentifier.rawValue
        let (reason, advice): (ImportError.Reason, MessageText) =
            if report.recordsRead == 0 || report.rejected < report.recordsRead {
                (.recordsNotFound, ImportError.adviceForRecordPaths)
            } else if !report.errors.isEmpty, report.errors.allSatisfy({ $0.code == duplicate }) {
                (.allRejected, "Their identifiers exist already.")
            } else {
                (.allRejected, "\(hasModel ? "Is this the right model? " : "")To see their errors:  \(rejects)")
            }
        return ImportError(reason, "\(sources(report)): \(message)", advice: advice)
    }

    /// What the command ends with where sources were bad; nil elsewhere.
    static func badSources(_ bad: [String]) -> ImportError? {
        guard let first = bad.first else { return nil }
        return ImportError(
            .sourcesBad,
            bad.count == 1 ? "\(first)" : "\(bad.count.grouped) sources are bad",
            advice: (bad.count == 1 ? "" : bad.map { "  \($0)" }.joined(separator: "\n") + "\n")
                + "The records before that, and all other sources, are imported."
        )
    }

    private static func headline(_ report: ImportReport, store: String) -> String {
        let store = TerminalText.escaped(store)
        let time = "in \(NumberText.seconds(report.seconds))"
        let verb = report.sources.count > 1 ? "are" : "is"
        if let undo = report.undoneBy {
            if let job = report.undoes { return "Job \(job) was undone in \(store), which job \(undo) has undone" }
            return
                "\(sources(report)) \(report.sources.count > 1 ? "were" : "was") imported into \(store), and undone by job \(undo)"
        }
        if report.conflicts != nil { return changeHeadline(report, store: store, time: time) }
        switch report.state {
        case .finished where report.tookNothing:
            let why = TerminalText.escaped(report.message ?? "")
            return report.rejected == report.recordsRead
                ? "No record of \(sources(report)) was imported into \(store): \(why)"
                : "Imported \(sources(report)) into \(store) \(time), but \(why)"
        case .finished:
            return "Imported \(sources(report)) into \(store) \(time)" + speed(report)
        case .running:
            return "\(sources(report)) \(verb) being imported into \(store), \(progress(report))"
        case .interrupted:
            return "The import of \(sources(report)) into \(store) was interrupted \(progress(report))"
        case .failed:
            return "The import of \(sources(report)) into \(store) stopped \(progress(report))"
        }
    }

    private static func changeHeadline(_ report: ImportReport, store: String, time: String) -> String {
        let what = sources(report)
        if let job = report.undoes {
            switch report.state {
            case .finished: return "Undid job \(job) in \(store) \(time)"
            case .running: return "Undoing job \(job) in \(store)"
            case .interrupted: return "Undoing job \(job) in \(store) was interrupted"
            case .failed: return "Undoing job \(job) in \(store) stopped"
            }
        }
        switch report.state {
        case .finished where report.job == 0: return "Applying \(what) to \(store) would do this"
        case .finished: return "Applied \(what) to \(store) \(time)" + speed(report)
        case .running: return "Applying \(what) to \(store), \(progress(report))"
        case .interrupted: return "Applying \(what) to \(store) was interrupted \(progress(report))"
        case .failed: return "Applying \(what) to \(store) stopped \(progress(report))"
        }
    }

    /// How far it is; how many chunks there will be is not known before the source is read.
    private static func progress(_ report: ImportReport) -> String {
        let hasBegun = report.bytes > 0 || report.recordsRead > 0
        let read = "after \(NumberText.counted(report.recordsRead, "record")) (\(NumberText.bytes(report.bytes)))"
        let place = hasBegun ? read : "before the first commit"
        let text = "\(place), in \(NumberText.seconds(report.seconds))"
        let ahead = Int64(report.chunks - report.chunksDone)
        return ahead > 0
            ? text + "; " + NumberText.counted(ahead, "more chunk is ready", "more chunks are ready") : text
    }

    private static func speed(_ report: ImportReport) -> String {
        // Less than a hundredth of a second says nothing about speed.
        guard report.seconds >= 0.01 else { return "" }
        let records = NumberText.grouped(whole: Double(report.recordsRead) / report.seconds)
        let bytes = NumberText.bytes(Double(report.bytes) / report.seconds)
        return " (\(records) records/s, \(bytes)/s)"
    }

    static func sources(_ report: ImportReport) -> String { sources(report.sources) }

    /// The names of sources, or the first of many.
    static func sources(_ names: [String]) -> String {
        switch names.count {
        case 0: "the input"
        case 1...3: names.map { $0 == "-" ? "standard input" : TerminalText.escaped($0) }.joined(separator: ", ")
        default: "\(TerminalText.escaped(names[0])) and \((names.count - 1).grouped) more sources"
        }
    }

    /// Zeros are left out, but never so that the sum could be doubted: what was read, inserted and rejected stays.
    static func counts(of report: ImportReport) -> [(String, Int64)] {
        let all: [(name: String, count: Int64, isOptional: Bool)] = [
            ("read", report.recordsRead, false), ("inserted", report.inserted, false),
            ("updated", report.updated, true), ("deleted", report.deleted ?? 0, true),
            ("unchanged", report.unchanged, true), ("ignored", report.ignored, true),
            ("rejected", report.rejected, false), ("withheld", report.withheld ?? 0, true),
            ("repaired", report.repaired, true),
            ("conflicts", report.conflicts ?? 0, true),
        ]
        return all.filter { !$0.isOptional || $0.count != 0 }.map { ($0.name, $0.count) }
    }

    private static func entities(_ report: ImportReport) -> [String] {
        guard report.entities.count > 1 else { return [] }
        let rows = report.entities.sorted { $0.key < $1.key }.map { name, counts in
            func list(_ parts: [(Int64?, String)]) -> String {
                parts.filter { ($0.0 ?? 0) != 0 }.map { "\(NumberText.grouped($0.0 ?? 0)) \($0.1)" }.joined(
                    separator: ", "
                )
            }
            let records = list([
                (counts.inserted, "inserted"), (counts.updated, "updated"), (counts.unchanged, "unchanged"),
                (counts.ignored, "ignored"), (counts.rejected, "rejected"),
            ])
            let nested = list([
                (counts.nestedInserted, "inserted"), (counts.nestedUpdated, "updated"),
                (counts.nestedUnchanged, "unchanged"), (counts.nestedIgnored, "ignored"), (counts.linked, "linked"),
                (counts.stubs, "created for references"),
            ])
            // Of these it is not kept which had a line of their own.
            let deleted = list([(counts.deleted, "deleted")])
            let parts = [records, nested.isEmpty ? "" : "nested: \(nested)", deleted].filter { !$0.isEmpty }
            return (TerminalText.escaped(name), parts.isEmpty ? "no records" : parts.joined(separator: "; "))
        }
        return ["", "Entities"] + aligned(rows)
    }

    static func errors(_ report: ImportReport) -> [String] {
        guard !report.errors.isEmpty else { return [] }
        let lines = ErrorGroupText.lines(report.errors, namesEntity: report.entities.count > 1)
        return ["", "Errors"] + lines.map { "  " + $0 }
    }

    private static func unresolved(_ report: ImportReport, store: String, command: String) -> [String] {
        guard let unresolved = report.unresolved, !unresolved.isEmpty else { return [] }
        let rows = unresolved.sorted { $0.key < $1.key }.map { name, count in
            (TerminalText.escaped(name), NumberText.counted(count, "reference"))
        }
        return ["", "References to missing objects (\(command) status \(store) --unresolved lists them)"]
            + aligned(rows)
    }

    static func ledger(_ report: ImportReport) -> [String] {
        var rows: [(String, String)] = []
        for (entity, attributes) in report.ledger.sorted(by: { $0.key < $1.key }) {
            for (attribute, kinds) in attributes.sorted(by: { $0.key < $1.key }) {
                let name = report.entities.count > 1 && !entity.isEmpty ? "\(entity).\(attribute)" : attribute
                let text = kinds.sorted { $0.key < $1.key }
                    .map { "\(NumberText.grouped($0.value)) × \(TerminalText.escaped(LedgerText.words($0.key)))" }
                rows.append((TerminalText.escaped(name.isEmpty ? "$" : name), text.joined(separator: ", ")))
            }
        }
        guard !rows.isEmpty else { return [] }
        // An odd source can have thousands of unknown keys; --json and --report have them all.
        let shown = rows.prefix(40)
        let more =
            rows.count > shown.count ? ["  … and \((rows.count - shown.count).grouped) more (--json has all)"] : []
        return ["", "Changed or left out"] + aligned(Array(shown)) + more
    }

    static func table(_ rows: [(String, Int64)]) -> [String] {
        let numbers = rows.map { NumberText.grouped($0.1) }
        let width = numbers.map(\.count).max() ?? 0
        return zip(rows, numbers).map { row, number in
            "  " + row.0 + String(repeating: " ", count: max(10 - row.0.count, 1) + width - number.count) + number
        }
    }

    private static func aligned(_ rows: [(String, String)]) -> [String] {
        let width = min(rows.map(\.0.count).max() ?? 0, 40)
        return rows.map { "  " + $0.0 + String(repeating: " ", count: max(width - $0.0.count, 0) + 2) + $0.1 }
    }
}
