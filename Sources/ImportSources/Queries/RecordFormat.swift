/// The formats in which records are written.
public enum RecordFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// One array, an object on each line.
    case json
    /// An object per line.
    case ndjson
    /// Comma-separated values with a header (RFC 4180, lines end with LF).
    ///
    /// A null is an empty field, an empty text is `""`.
    case csv
    /// A table in GitHub's Markdown.
    case markdown
}

/// The formats in which dates are written.
public enum DateStyle: String, Sendable, Hashable, Codable, CaseIterable {
    /// `2024-02-29T12:30:00.000Z`.
    case iso8601
    /// `/Date(1709209800000)/`.
    case dotnet
    /// Seconds since 1970-01-01T00:00:00Z, as a number; a fraction for milliseconds.
    case unix
}
