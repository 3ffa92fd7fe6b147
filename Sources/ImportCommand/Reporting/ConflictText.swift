import Importer

/// Conflicts of a patch for people.
enum ConflictText {
    /// At most this many are printed.
    private static let mostLines = 100

    static func text(_ report: ImportReport) -> String {
        guard let list = report.conflictList, !list.isEmpty else { return "" }
        var lines = list.prefix(mostLines).map(line)
        let rest = (report.conflicts ?? 0) - Int64(lines.count)
        if rest > 0 { lines.append("… and \(NumberText.grouped(rest)) more") }
        return "Conflicts\n" + lines.map { "  \($0)\n" }.joined()
    }

    /// The answer to a change set that the store has already.
    static func alreadyApplied(_ report: ImportReport, store: String) -> String {
        "\(TerminalText.escaped(store)) has all of \(ReportText.sources(report)) already "
            + "(\(NumberText.counted(report.recordsRead, "change"))): nothing was changed. --again applies it once more.\n"
    }

    private static func line(_ conflict: PatchConflict) -> String {
        var text = "\(conflict.kind.rawValue): \(TerminalText.escaped(conflict.entity)) \(name(conflict.identifier))"
        guard let attribute = conflict.attribute else { return text }
        text += "  \(TerminalText.escaped(attribute))"
        if let stored = conflict.stored, let new = conflict.new {
            let old = conflict.old.map { "\(value($0)) → " } ?? ""
            text += " is \(value(stored)), and the change is \(old)\(value(new))"
        }
        return text
    }

    private static func name(_ object: ObjectReference) -> String {
        object.values.map { "\(TerminalText.escaped($0.name)) \(ValueText.value($0.value, most: 80))" }
            .joined(separator: " ")
    }

    private static func value(_ value: PatchConflict.Value) -> String {
        switch value {
        case .stored(let value): ValueText.value(value, most: 80)
        case .object(let object): name(object)
        }
    }
}
