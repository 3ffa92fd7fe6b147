/// The result of a split.
public struct SplitSummary: Sendable, Hashable, Codable {
    /// The path of the directory with the chunks.
    public let directory: String
    /// The number of chunks.
    public let chunks: Int
    /// The number of records, including those that were passed over.
    public let records: Int64
    /// The number of records that were passed over, as they are too large or nested too deeply.
    public let passedOver: Int64
    /// The size of the sources in bytes, decompressed.
    public let bytes: Int64
    /// The number of values outside the record paths, by key path.
    public let outside: [String: Int64]
    /// The record paths at which no source has anything, not even an empty collection.
    public let notFound: [String]

    enum CodingKeys: String, CodingKey {
        case directory, chunks, records
        case passedOver = "passed_over"
        case bytes, outside
        case notFound = "not_found"
    }
}
