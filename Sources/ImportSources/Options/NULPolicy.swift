/// How an import handles text that contains U+0000, which PostgreSQL cannot store.
public enum NULPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Handles the text as a value that does not fit, by the ``ErrorPolicy``.
    case error
    /// Replaces each U+0000 with U+FFFD, which the ledger counts (`nulReplaced`).
    case replace
}
