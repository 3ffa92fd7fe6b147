/// What a value does that does not fit its attribute.
public enum ErrorPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Its record is a reject.
    case reject
    /// It becomes null where the attribute is optional, and is counted; elsewhere its record is a reject.
    case null
    /// The import stops before its record.
    case stop
}
