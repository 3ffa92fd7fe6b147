/// How the store keeps dates.
public enum DateStorage: String, Sendable, Hashable, Codable, CaseIterable {
    /// TEXT: `YYYY-MM-DDTHH:MM:SS.SSSZ`.
    case iso8601
    /// INTEGER: whole seconds since 1970-01-01T00:00:00Z, milliseconds cut off.
    case unix
    /// INTEGER: milliseconds since 1970-01-01T00:00:00Z.
    case unixMilliseconds
}
