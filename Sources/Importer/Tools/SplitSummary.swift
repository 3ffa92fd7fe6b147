/// What a split has done.
public struct SplitSummary: Sendable, Hashable, Codable {
    /// Where the chunks are.
    public let directory: String
    /// How many there are.
    public let chunks: Int
    /// Records in the chunks, passed-over ones included.
    public let records: Int64
    /// Records that were passed over: too large, or nested too deeply.
    public let passedOver: Int64
    /// Bytes of the sources, decompressed.
    public let bytes: Int64
    /// Values that are outside the record paths, counted by where they are.
    public let outside: [String: Int64]
    /// The record paths at which nothing is in any source, not even an empty collection.
    public let notFound: [String]

    enum CodingKeys: String, CodingKey {
        case directory, chunks, records
        case passedOver = "passed_over"
        case bytes, outside
        case notFound = "not_found"
    }
}
