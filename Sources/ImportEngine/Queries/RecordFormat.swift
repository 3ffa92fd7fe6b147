/// The forms in which records are written out.
public enum RecordFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// One array, an object on each line.
    case json
    /// An object per line.
    case ndjson
    /// Comma-separated values with a header (RFC 4180, lines end with LF).
    ///
    /// A null is an empty field, an empty text is `""`.
    case csv
    /// A table as GitHub's Markdown has it.
    case markdown
}

/// The forms in which dates are written out.
public enum DateStyle: String, Sendable, Hashable, Codable, CaseIterable {
    /// `2024-02-29T12:30:00.000Z`.
    case iso8601
    /// `/Date(1709209800000)/`.
    case dotnet
    /// Seconds since 1970-01-01T00:00:00Z, as a number; a fraction for milliseconds.
    case unix
}
