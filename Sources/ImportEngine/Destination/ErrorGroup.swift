/// Errors of a job that are alike: the same error at the same key path.
public struct ErrorGroup: Sendable, Hashable, Codable {
    /// The position of an error.
    public struct Place: Sendable, Hashable, Codable {
        /// The source's name.
        public let source: String
        /// The offset of the value in the source, in decompressed bytes from 0.
        public let byteOffset: Int64
        /// The record's ordinal in the job, from 1.
        public let record: Int64

        /// Creates a position.
        public init(source: String, byteOffset: Int64, record: Int64) {
            self.source = source
            self.byteOffset = byteOffset
            self.record = record
        }

        package enum CodingKeys: String, CodingKey {
            case source
            case byteOffset = "byte_offset"
            case record
        }
    }

    /// The key path of the group of all errors beyond the first 1,000 groups; its other texts are empty.
    public static let others = "…"

    /// The entity's name.
    public let entity: String
    /// The key path of the values, with array indices as `[]`; empty for whole records.
    public let keyPath: String
    /// The code of the error, as in `CoercionError.Code`.
    public let code: String
    /// The value that the attribute expects, in words.
    public let expected: String
    /// The value that was found, in words.
    public let found: String
    /// The number of errors, in rejects and of values that became null.
    public let count: Int64
    /// The position of the first error, in source order.
    public let first: Place

    /// Creates a group of errors.
    public init(
        entity: String,
        keyPath: String,
        code: String,
        expected: String,
        found: String,
        count: Int64,
        first: Place
    ) {
        self.entity = entity
        self.keyPath = keyPath
        self.code = code
        self.expected = expected
        self.found = found
        self.count = count
        self.first = first
    }

    package enum CodingKeys: String, CodingKey {
        case entity
        case keyPath = "key_path"
        case code, expected, found, count, first
    }
}

extension ErrorCounts.Key {
    /// What the errors of a group have in common.
    package init(_ group: ErrorGroup) {
        self.init(
            entity: group.entity,
            keyPath: group.keyPath,
            code: group.code,
            expected: group.expected,
            found: group.found
        )
    }
}
