import ImportModel
import Importer

/// What a mirror has deleted or withheld, for people.
enum MirrorText {
    /// The first objects that are gone, or would be; a line each.
    static func lines(_ report: ImportReport) -> [String] {
        guard report.deletedList?.isEmpty == false else { return [] }
        let isWithheld = report.withheldReason != nil
        return list(
            report,
            isWithheld ? "Not deleted, though no longer in the sources" : "Deleted, as no longer in the sources"
        )
    }

    /// What a mirror would delete, by entity, and the first objects of that.
    static func forecast(_ report: ImportReport) -> [String] {
        guard let objects = report.deletedList, !objects.isEmpty else { return ["", "Nothing would be deleted"] }
        if let reason = report.withheldReason {
            return list(report, "Would be withheld (\(reason.rawValue))")
        }
        let entities = report.entities.filter { ($0.value.deleted ?? 0) > 0 }.sorted { $0.key < $1.key }
        let counts = entities.map { "\(NumberText.grouped($0.value.deleted ?? 0)) \(TerminalText.escaped($0.key))" }
        return list(report, "Would be deleted: \(counts.joined(separator: ", "))")
    }

    private static func list(_ report: ImportReport, _ head: String) -> [String] {
        let objects = report.deletedList ?? []
        let all = report.withheldReason == nil ? report.deleted ?? 0 : report.withheld ?? 0
        let rest = all - Int64(objects.count)
        let more = rest > 0 ? ["  … and \(NumberText.grouped(rest)) more"] : []
        return ["", head] + objects.map { "  " + text($0) } + more
    }

    private static func text(_ object: MirroredObject) -> String {
        "\(TerminalText.escaped(object.entity)) \(ValueText.identifier(object.identifier, most: 80))"
    }

    /// What the command ends with where a mirror has deleted nothing though something was to be; nil elsewhere.
    static func withheld(_ report: ImportReport, store: String) -> ImportError? {
        guard let reason = report.withheldReason, let count = report.withheld else { return nil }
        let objects = NumberText.counted(count, "object")
        let (why, option): (MessageText, MessageText) =
            switch reason {
            case .empty: ("the sources have no record of an entity that has objects", "\(.allowsEmpty)")
            case .rejects: ("the identifiers of some rejects cannot be read", "\(.despiteRejects)")
            case .limit: ("more objects of one entity would be deleted than is allowed", "\(anyOf: .maxDelete)")
            }
        return ImportError(
            .deletionsWithheld,
            at: store,
            "\(objects) that the sources no longer have \(count == 1 ? "is" : "are") kept: \(why)",
            advice:
                "Everything else is imported. To delete them: \(call: .mirroring(store: store, job: report.job)), with \(option)."
        )
    }

    /// The answer where nothing is withheld.
    static func nothingWithheld(_ report: ImportReport, store: String) -> String {
        "\(TerminalText.escaped(store)): job \(report.job) has withheld no deletions: nothing was changed.\n"
    }
}
