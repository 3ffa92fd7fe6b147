/// How an inferred model stores objects and arrays within records.
public enum NestedPolicy: String, Sendable, Hashable, Codable, CaseIterable {
    /// Objects become columns (`address_city`), arrays stay JSON.
    case flatten
    /// Objects and arrays stay JSON.
    case json
    /// Objects become columns, and arrays of objects become tables of their own, with a relationship from the record's entity.
    case tables
}
