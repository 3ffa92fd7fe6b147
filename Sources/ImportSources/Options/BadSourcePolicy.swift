/// How a source is handled that is not JSON from some byte on, or whose compressed bytes are damaged.
public enum BadSourcePolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// The import stops there; once the source is repaired, the same import resumes.
    case stop
    /// The records before are imported, the source is counted as bad, and the import goes on with the next one.
    case skip
}
