/// What a text with U+0000 does where the store's texts cannot have it, as those of a server cannot.
public enum NULPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// It does not fit; ``ErrorPolicy`` says what then.
    case error
    /// Each U+0000 becomes U+FFFD, which the ledger counts (`nulReplaced`).
    case replace
}
