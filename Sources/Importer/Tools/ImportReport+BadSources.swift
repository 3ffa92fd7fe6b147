import ImportEngine
import ImportModel
import ImportSources

extension ImportReport {
    /// What is wrong with each source that was not imported to its end (``BadSourcePolicy/skip``), by their names.
    public var badSources: [String] {
        (ledger[""] ?? [:]).filter { $0.value[LedgerKind.badSource.rawValue] != nil }.keys.sorted()
    }
}
