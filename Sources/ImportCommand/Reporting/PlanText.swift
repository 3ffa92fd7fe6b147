import Importer

/// What an import would do, for people.
enum PlanText {
    /// The plan, with the report of the unfinished job that it is about where there is one.
    static func text(_ plan: ImportPlan, job: ImportReport? = nil) -> String {
        let store = TerminalText.escaped(plan.store)
        let action =
            switch plan.action {
            case .begin: "Would import into \(store)"
            case .resume: "Would resume the interrupted import into \(store)" + place(job)
            case .restart: "Would remove \(committed(job)) in \(store) and restart"
            case .nothing: "Nothing to do: all of it was imported into \(store) before (--again imports it once more)"
            }
        var lines = [action]
        for source in plan.sources {
            let size = source.bytes.map { " (\(NumberText.bytes($0)))" } ?? ""
            let name = source.name == "-" ? "standard input" : TerminalText.escaped(source.name)
            lines.append("  source      \(name)\(size), read as \(layout(source.shape.layout))")
            for (path, entity) in zip(source.shape.paths, source.entities) {
                lines.append("  records     \(TerminalText.escaped(path)) become \(TerminalText.escaped(entity))")
            }
        }
        lines.append("  model       " + (plan.infersModel ? "inferred from all records" : "the given one"))
        lines.append("  workers     \(plan.workers)")
        lines.append(
            "  chunks      \(NumberText.bytes(Int64(plan.chunkSize))) each, in "
                + TerminalText.escaped(plan.chunkDirectory)
        )
        lines.append("  commits     every \(NumberText.counted(Int64(plan.commitEvery), "record"))")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func place(_ job: ImportReport?) -> String {
        guard let job else { return "" }
        return ", after \(NumberText.counted(job.recordsRead, "record")) (\(NumberText.bytes(job.bytes)))"
    }

    private static func committed(_ job: ImportReport?) -> String {
        guard let job else { return "what is committed" }
        return NumberText.counted(job.recordsRead, "committed record")
    }

    private static func layout(_ layout: SourceShape.Layout) -> String {
        switch layout {
        case .lines: "one record per line"
        case .stream: "a stream of JSON values"
        }
    }
}
