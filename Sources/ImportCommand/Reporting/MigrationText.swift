import Importer

/// The plan of a migration, for people.
enum MigrationText {
    /// A line for each step, with what stands against it.
    static func text(_ plan: ModelMigration.Plan, store: String) -> String {
        guard !plan.isEmpty else { return "Nothing to do: \(TerminalText.escaped(store)) has this model already\n" }
        return plan.steps.flatMap(lines).map { $0 + "\n" }.joined()
    }

    private static func lines(_ step: ModelMigration.Step) -> [String] {
        let rows = step.rows.map { " (\(NumberText.counted($0, "row")))" } ?? ""
        let mark = step.isRefused ? "refused: " : ""
        var lines = [TerminalText.escaped("\(mark)\(step.subject) \(step.text)") + rows]
        guard let obstacle = step.obstacle else { return lines }
        let isAllowed = step.isRefused ? "" : ", which is allowed"
        lines.append(TerminalText.escaped("  \(NumberText.grouped(obstacle.count)): \(obstacle.reason)\(isAllowed)"))
        for row in obstacle.rows {
            let number = row.rowID.map { "row \($0)" }
            let identifier = row.identifier.isEmpty ? nil : row.identifier.joined(separator: ", ")
            let parts = [number, identifier].compactMap(\.self)
            lines.append(TerminalText.escaped("    " + parts.joined(separator: ": ")))
        }
        if step.isRefused, let advice = obstacle.advice { lines.append(TerminalText.escaped("  " + advice)) }
        return lines
    }
}
