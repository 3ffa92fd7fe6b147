import Importer

/// What is said where the store has everything already.
enum AlreadyFinishedText {
    /// The sources are imported.
    case imported
    /// No import of the store is interrupted.
    case nothingToResume
    /// The repair file is retried.
    case retried
    /// No stored reject is left that was not tried.
    case nothingToRetry
    /// Nothing is withheld that a mirror was to delete.
    case nothingToMirror

    /// - Parameters:
    ///   - isPartial: whether some of what was imported is gone since.
    ///   - isOfSeveralJobs: whether other jobs have imported some of the sources.
    ///   - built: the indexes that were built nevertheless.
    func text(
        _ report: ImportReport,
        store: String,
        isPartial: Bool = false,
        isOfSeveralJobs: Bool = false,
        built: [String] = []
    ) -> String {
        let changes = Self.changes(built)
        return switch self {
        case .imported where isOfSeveralJobs: ReportText.inAlready(store: store, changes, isPartial: isPartial)
        case .imported: ReportText.alreadyFinished(report, store: store, changes, isPartial: isPartial)
        case .nothingToResume: ReportText.nothingToResume(report, store: store, built.isEmpty ? "" : "; \(changes)")
        case .retried: ReportText.alreadyRetried(report, store: store, changes)
        case .nothingToMirror: MirrorText.nothingWithheld(report, store: store)
        case .nothingToRetry: ReportText.nothingToRetry(store: store, changes)
        }
    }

    private static func changes(_ built: [String]) -> String {
        let names = built.map { TerminalText.escaped($0) }.joined(separator: ", ")
        return switch built.count {
        case 0: ReportText.unchanged
        case 1: "the index \(names) was built, and no row changed"
        default: "the indexes \(names) were built, and no row changed"
        }
    }
}
