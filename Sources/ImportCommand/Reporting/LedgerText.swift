import ImportModel

/// What the ledger counts, in words.
enum LedgerText {
    /// The kind in words; one that this program does not know as it is.
    static func words(_ kind: String) -> String { LedgerKind(rawValue: kind)?.words ?? kind }
}
