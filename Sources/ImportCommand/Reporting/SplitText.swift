import Importer

/// What a split has done, for people.
enum SplitText {
    static func text(_ summary: SplitSummary) -> String {
        var lines = [
            "\(NumberText.counted(summary.records - summary.passedOver, "record")) in "
                + "\(NumberText.counted(Int64(summary.chunks), "chunk")) of \(TerminalText.escaped(summary.directory)), "
                + "from \(NumberText.bytes(summary.bytes))"
        ]
        if summary.passedOver > 0 {
            lines.append("  skipped      \(NumberText.counted(summary.passedOver, "record")) too large or too deep")
        }
        for (path, count) in summary.outside.sorted(by: { $0.key < $1.key }).prefix(20) {
            lines.append("  outside      \(TerminalText.escaped(path)): \(NumberText.counted(count, "value"))")
        }
        if summary.outside.count > 20 { lines.append("  outside      … and \(summary.outside.count - 20) more paths") }
        return lines.joined(separator: "\n") + "\n"
    }
}
