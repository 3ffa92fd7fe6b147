/// How an import handles a record whose identifier is already in the store.
public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Sets the attributes that the record has; a missing one is not a null.
    case merge
    /// Sets all attributes; those that the record lacks get their defaults.
    case replace
    /// Leaves the record out, and counts it.
    case ignore
    /// Rejects the record.
    case error
}
