/// How an import handles a value that cannot be coerced to its attribute's type.
public enum ErrorPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Rejects the record.
    case reject
    /// Stores null and counts the value if the attribute is optional; otherwise rejects the record.
    case null
    /// Stops the import before the record.
    case stop
}
