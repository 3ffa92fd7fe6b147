/// The type of an attribute (DESIGN §7).
public enum AttributeType: String, Sendable, Hashable, Codable, CaseIterable {
    case string
    case integer16
    case integer32
    case integer64
    case double
    case decimal
    case boolean
    case date
    case uuid
    case json
}
