/// The type of an attribute.
public enum AttributeType: String, Sendable, Hashable, Codable, CaseIterable {
    case string
    case integer16
    case integer32
    case integer64
    case float
    case double
    case decimal
    case boolean
    case date
    case uuid
    case uri
    case binary
    case bitfield
    case json

    /// True for numbers.
    package var isNumber: Bool {
        [.integer16, .integer32, .integer64, .float, .double, .decimal].contains(self)
    }
}
