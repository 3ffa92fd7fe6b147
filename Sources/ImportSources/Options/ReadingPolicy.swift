import ImportModel

/// How JSON is read as other programs write it.
public enum ReadingPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// What is known of other programs' JSON is accepted, and counted in the ledger.
    case found
    /// Only what RFC 8259 has is accepted, and every value as it is written.
    case strict
}

extension JobOptions {
    /// What is taken for JSON besides JSON within records; nil for nothing.
    package var lenientScope: LenientScanner.Scope? {
        if reading == .strict { return nil }
        return isLossless ? .record.subtracting(.notFinite) : .record
    }
}
