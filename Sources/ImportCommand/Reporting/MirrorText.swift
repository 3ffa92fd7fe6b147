import ImportModel
import Importer

/// What a mirror has deleted or withheld, for people.
enum MirrorText {
    /// The first objects that are gone, or would be; a line each.
    static func lines(_ report: ImportReport) -> [String] {
        guard let objects = report.deletedList, !objects.isEmpty else { return [] }
        let isWithheld = report.withheldReason != nil
        let all = isWithheld ? report.withheld ?? 0 : report.deleted ?? 0
        let head = isWithheld ? "Withheld, though no longer in the sources" : "Deleted, as no longer in the sources"
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
        let (why, option): (ImportText, ImportText) =
            switch reason {
            case .empty: ("the sources have no record of an entity that has objects", "\(.allowsEmpty)")
            case .rejects: ("of some rejects nobody can tell which objects they are", "\(.despiteRejects)")
            case .limit: ("more objects of one entity would go than may", "\(anyOf: .maxDelete)")
            }
        return ImportError(
            .deletionsWithheld,
            at: store,
            "\(objects) that the sources no longer have \(count == 1 ? "is" : "are") kept: \(why)",
            advice: "All else is imported. To delete them nevertheless: \(call: .mirroring(store: store, job: report.job)), with \(option)."
        )
    }

    /// The answer where nothing is withheld.
    static func nothingWithheld(_ report: ImportReport, store: String) -> String {
        "\(TerminalText.escaped(store)): job \(report.job) has withheld nothing: nothing was changed.\n"
    }
}
