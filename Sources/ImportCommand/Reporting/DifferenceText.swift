import Importer

/// A difference as text for people: counts by entity and attribute, and a line for each change.
final class DifferenceText {
    private enum Color: String {
        case green = "\u{1B}[32m"
        case yellow = "\u{1B}[33m"
        case red = "\u{1B}[31m"
        static let end = "\u{1B}[0m"
    }

    /// Longer values are cut.
    private static let mostCharacters = 80

    private let limit: Int?
    private let usesColors: Bool
    /// The changes, which follow the counts.
    private let spool: TextSpool
    private var count = 0

    /// - Throws: `ImportError` with `.cannotCreate` when there is no room for what follows the counts.
    init(limit: Int?, usesColors: Bool) throws {
        self.limit = limit
        self.usesColors = usesColors
        spool = try TextSpool()
    }

    // MARK: Counts

    /// The counts, a line each.
    static func counts(_ summary: DifferenceSummary) -> [String] {
        var table = ColumnText(
            headers: ["entity", "old", "new", "inserted", "updated", "deleted", "unchanged"],
            numbers: [false, true, true, true, true, true, true]
        )
        var lines: [String] = []
        for entity in summary.entities {
            let counts = entity.counts
            table.addRow(
                [TerminalText.escaped(entity.name)]
                    + [entity.old, entity.new, counts.inserted, counts.updated, counts.deleted, counts.unchanged]
                    .map { NumberText.grouped($0) }
            )
            for attribute in entity.attributes {
                lines.append(
                    "\(TerminalText.escaped(entity.name)).\(TerminalText.escaped(attribute.name)): "
                        + "\(NumberText.grouped(attribute.count)) changed"
                )
            }
            for (names, which) in [(entity.onlyOld, "old"), (entity.onlyNew, "new")] where !names.isEmpty {
                let list = names.map { TerminalText.escaped($0) }.joined(separator: ", ")
                lines.append("\(TerminalText.escaped(entity.name)): only the \(which) store has \(list)")
            }
        }
        return table.lines + lines
    }

    // MARK: Changes

    func append(_ change: ObjectChange) throws {
        count += 1
        if let limit, count > limit { return }
        var text = ""
        Self.append(change, indent: "", usesColors: usesColors, to: &text)
        try spool.append(text)
    }

    /// Writes all changes.
    func write(_ output: ([UInt8]) throws -> Void) throws {
        guard count > 0 else { return }
        try output([UInt8(ascii: "\n")])
        try spool.write(output)
        if let limit, count > limit {
            try output(Array("… and \(NumberText.grouped(Int64(count - limit))) more\n".utf8))
        }
    }

    private static func append(
        _ change: ObjectChange,
        indent: String,
        usesColors: Bool,
        to text: inout String
    ) {
        let (mark, own): (String, Color) =
            switch change.kind {
            case .inserted: ("+", .green)
            case .updated: ("~", .yellow)
            case .deleted: ("-", .red)
            }
        let start = usesColors ? own.rawValue : ""
        text += "\(start)\(indent)\(mark) \(TerminalText.escaped(change.entity)) \(name(change.identifier))"
        if change.kind == .updated {
            for attribute in change.attributes {
                text += "  \(TerminalText.escaped(attribute.name)) "
                if let old = attribute.old { text += value(old) + (attribute.new == nil ? "" : " → ") }
                if let new = attribute.new { text += value(new) }
            }
        }
        for reference in change.references { text += line(reference, change.kind) }
        for order in change.order where change.kind == .updated {
            text += "  \(TerminalText.escaped(order.name)) in another order"
        }
        for owned in change.relationships {
            guard case .values(let old, let new) = owned.content else { continue }
            text += "  \(TerminalText.escaped(owned.name)) \(lists(old ?? [], new ?? []))"
        }
        text += (start.isEmpty ? "" : Color.end) + "\n"
        for owned in change.relationships {
            guard case .objects(let changes) = owned.content else { continue }
            for change in changes { append(change, indent: indent + "  ", usesColors: usesColors, to: &text) }
        }
    }

    /// Lists of more objects than these are said by their counts alone.
    private static let mostObjects = 3

    /// Two lists of objects without identifiers: short ones as they are.
    private static func lists(_ old: [OwnedValue], _ new: [OwnedValue]) -> String {
        let counts = "\(NumberText.grouped(Int64(old.count))) → \(NumberText.grouped(Int64(new.count)))"
        if max(old.count, new.count) <= mostObjects { return "\(list(old)) → \(list(new))" }
        guard old.count == new.count else { return counts }
        return "\(zip(old, new).count { $0 != $1 }) of \(NumberText.counted(Int64(new.count), "object")) differ"
    }

    private static func list(_ objects: [OwnedValue]) -> String {
        let texts = objects.map { object in
            let values = object.attributes.map { "\(TerminalText.escaped($0.name)) \(value($0.value))" }
            let links = object.references.map { "\(TerminalText.escaped($0.name)) \($0.target.map(name) ?? "null")" }
            let owned = object.owned.filter { !$0.values.isEmpty }
                .map { "\(TerminalText.escaped($0.name)): \($0.values.count)" }
            return (values + links + owned).joined(separator: ", ")
        }
        return "[\(texts.joined(separator: "; "))]"
    }

    private static func line(_ reference: ReferenceChange, _ kind: ObjectChange.Kind) -> String {
        func shown(_ target: ReferenceChange.Target) -> String {
            switch target {
            case .null: "null"
            case .object(let object): Self.name(object)
            }
        }
        let name = TerminalText.escaped(reference.name)
        switch reference.content {
        case .toOne(let old, let new):
            guard kind == .updated else { return "" }
            return "  \(name) " + [old, new].compactMap { $0.map(shown) }.joined(separator: " → ")
        case .toMany(let added, let removed):
            let parts = added.map { "+\(Self.name($0))" } + removed.map { "-\(Self.name($0))" }
            return "  \(name) " + parts.prefix(10).joined(separator: ", ") + (parts.count > 10 ? ", …" : "")
        }
    }

    private static func name(_ object: ObjectReference) -> String {
        ValueText.identifier(object, most: mostCharacters)
    }

    static func value(_ value: StoredValue) -> String { ValueText.value(value, most: mostCharacters) }
}
