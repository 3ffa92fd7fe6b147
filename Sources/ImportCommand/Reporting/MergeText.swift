import Importer

/// A merge for people: counts, and a line for each conflict.
final class MergeText {
    /// At most this many conflicts are printed.
    private static let mostLines = 100
    /// Longer values are cut.
    private static let mostCharacters = 80

    private let usesColors: Bool
    private var lines: [String] = []

    init(usesColors: Bool) { self.usesColors = usesColors }

    func append(_ conflict: MergeConflict) {
        if lines.count < Self.mostLines { lines.append(Self.line(conflict, usesColors: usesColors)) }
    }

    /// The counts, then the conflicts.
    func text(_ summary: MergeSummary) -> String {
        var table = ColumnText(
            headers: ["entity", "inserted", "updated", "deleted", "unchanged"],
            numbers: [false, true, true, true, true]
        )
        for entity in summary.entities {
            let counts = entity.counts
            table.addRow(
                [TerminalText.escaped(entity.name)]
                    + [counts.inserted, counts.updated, counts.deleted, counts.unchanged].map { NumberText.grouped($0) }
            )
        }
        return (table.lines + ["\(NumberText.counted(summary.conflicts, "conflict"))"]).joined(separator: "\n") + "\n"
            + list(of: summary.conflicts)
    }

    /// The conflicts, of which there are this many.
    func list(of count: Int64) -> String {
        let rest = count - Int64(lines.count)
        let more = rest > 0 ? ["… and \(NumberText.grouped(rest)) more"] : []
        return (lines + more).map { "\($0)\n" }.joined()
    }

    /// A conflict: `! person guid 7  city: ours 'Rome', theirs 'Pune', base 'Oslo'  (bothChanged, 1)`.
    static func line(_ conflict: MergeConflict, usesColors: Bool) -> String {
        let object =
            "\(TerminalText.escaped(conflict.entity)) \(ValueText.identifier(conflict.identifier, most: mostCharacters))"
        var text = "! \(object)"
        let isWhole = conflict.ours == nil || conflict.theirs == nil
        if isWhole {
            text += "  ours \(what(conflict.ours, conflict.base)), theirs \(what(conflict.theirs, conflict.base))"
        } else {
            for property in (conflict.theirs ?? []).prefix(10) {
                func side(_ name: String, _ side: [MergeConflict.Property]?) -> String? {
                    side?.first { $0.name == property.name }.map { "\(name) \(value($0.value))" }
                }
                let sides = [
                    side("ours", conflict.ours), side("theirs", conflict.theirs), side("base", conflict.base),
                ]
                text += "  \(TerminalText.escaped(property.name)): "
                text += sides.compactMap(\.self).joined(separator: ", ")
            }
        }
        text += "  (\(conflict.kind.rawValue), \(conflict.number))"
        return usesColors ? "\u{1B}[35m\(text)\u{1B}[0m" : text
    }

    private static func what(_ side: [MergeConflict.Property]?, _ base: [MergeConflict.Property]?) -> String {
        guard let side else { return base == nil ? "has no such object" : "deleted it" }
        guard let base else { return "inserted it" }
        let changed = side.filter { !base.contains($0) }
        if changed.isEmpty { return "changed its owned objects" }
        return "changed "
            + changed.prefix(10).map { "\(TerminalText.escaped($0.name)) to \(value($0.value))" }.joined(
                separator: ", "
            )
    }

    private static func value(_ value: MergeConflict.Value) -> String {
        switch value {
        case .stored(let value): ValueText.value(value, most: mostCharacters)
        case .object(let object): ValueText.identifier(object, most: mostCharacters)
        case .objects(let objects): "\(NumberText.counted(Int64(objects.count), "object")) in an order"
        case .values(let values): NumberText.counted(Int64(values.count), "object")
        case .links(let added, let removed): "+\(added.count) -\(removed.count)"
        }
    }
}
