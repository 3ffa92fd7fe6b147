import ImportModel
import Importer

/// What an import would make of its first records, for people.
enum PreviewText {
    /// More columns of an entity than these are only counted.
    private static let mostColumns = 100
    /// No value is shown wider.
    private static let widest = 28

    static func text(_ preview: ImportPreview, job: ImportReport? = nil) -> String {
        var lines = [PlanText.text(preview.plan, job: job)]
        if let sample = preview.sample { lines.append(text(sample, infersModel: preview.plan.infersModel)) }
        if let mirror = preview.mirror { lines.append(text(mirror)) }
        return lines.joined(separator: "\n")
    }

    private static func text(_ mirror: ImportPreview.Mirror) -> String {
        var lines = ["All of it, imported into a copy of the store"]
        if let report = mirror.report { lines += ReportText.table(ReportText.counts(of: report)) }
        if let message = mirror.message {
            lines += [
                "", "It would stop, and delete nothing: " + TerminalText.escaped(CommandLineTerms().text(message)),
            ]
        } else if let report = mirror.report {
            lines += MirrorText.forecast(report)
            lines += ReportText.errors(report)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func text(_ sample: ImportPreview.Sample, infersModel: Bool) -> String {
        let bytes = NumberText.bytes(sample.bytes)
        var lines = [sample.isWhole ? "All \(bytes) of it" : "The first \(bytes) of it"]
        if infersModel, !sample.isWhole {
            lines[0] += "; the import infers the model from all records, and may widen types and add columns"
        }
        if sample.isMerged == true { lines[0] += ", merged with what a copy of the store has" }
        if let report = sample.report { lines += ReportText.table(ReportText.counts(of: report)) }
        if sample.isMerged == false {
            lines.append("Identifiers were not looked up in the store: objects that are there count as inserted.")
        }
        for entity in sample.entities { lines += [""] + self.lines(entity) }
        if let report = sample.report { lines += ReportText.errors(report) + ReportText.ledger(report) }
        if let message = sample.message {
            lines += ["", "It would stop: " + TerminalText.escaped(CommandLineTerms().text(message))]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The entity's columns, a line each: name, type, and the values of the first rows.
    private static func lines(_ entity: ImportPreview.Entity) -> [String] {
        let name = TerminalText.escaped(entity.description.table)
        let identifier = entity.description.identifier.map { TerminalText.escaped($0) }.joined(separator: ", ")
        let headline = "Table \(name)" + (identifier.isEmpty ? "" : ", identifier \(identifier)")
        let headers = ["column", "type"] + entity.rows.indices.map { "row \($0 + 1)" }
        var table = ColumnText(headers: headers, numbers: headers.map { _ in false })
        for (index, attribute) in entity.description.attributes.prefix(mostColumns).enumerated() {
            let type = attribute.type.rawValue + (attribute.isOptional ? "?" : "")
            let values = entity.rows.map { value($0.values[index], of: attribute) }
            table.addRow(([attribute.column, type] + values).map(cell))
        }
        let rest = entity.description.attributes.count - mostColumns
        let more = rest > 0 ? ["  … and \(rest.grouped) more columns (--json has all)"] : []
        return [headline] + table.lines.map { "  " + $0 } + more
    }

    private static func value(_ value: Record.Value, of attribute: AttributeDescription) -> String {
        if case .null = value { return "NULL" }
        return attribute.text(of: value)
    }

    /// A text on one line, its end cut off where it is wide.
    private static func cell(_ text: String) -> String {
        // What is cut off need not be escaped.
        TextWidth.cut(TerminalText.escaped(String(text.unicodeScalars.prefix(4 * widest))), to: widest)
    }
}
