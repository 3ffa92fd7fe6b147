/// What a record does whose identifier a stored object has already.
public enum ConflictPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// It sets what it mentions; missing is not null.
    case merge
    /// It sets all attributes, those that it lacks to their defaults.
    case replace
    /// It is left out, and counted.
    case ignore
    /// It is a reject.
    case error
}
