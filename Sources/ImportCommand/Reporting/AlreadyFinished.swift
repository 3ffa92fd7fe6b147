import Importer

/// What is said where the store has everything already.
enum AlreadyFinished {
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

    func text(_ report: ImportReport, store: String) -> String {
        switch self {
        case .imported: ReportText.alreadyFinished(report, store: store)
        case .nothingToResume: ReportText.nothingToResume(report, store: store)
        case .retried: ReportText.alreadyRetried(report, store: store)
        case .nothingToMirror: MirrorText.nothingWithheld(report, store: store)
        case .nothingToRetry: ReportText.nothingToRetry(report, store: store)
        }
    }
}
