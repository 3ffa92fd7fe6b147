/// Errors of a job that are alike: the same thing wrong at the same key path.
public struct ErrorGroup: Sendable, Hashable, Codable {
    /// Where the first of them was found.
    public struct Place: Sendable, Hashable, Codable {
        /// The source's name.
        public let source: String
        /// The value's first byte in the source, from 0, in decompressed bytes.
        public let byteOffset: Int64
        /// The record's number in the job, from 1.
        public let record: Int64

        /// The position of an error: source, byte offset and ordinal.
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

    /// The key path of the group that takes all errors beyond the first 1,000 groups; its other texts are empty.
    public static let others = "…"

    /// The entity's name.
    public let entity: String
    /// Where the values are in their records, array indices as `[]`; empty for the records themselves.
    public let keyPath: String
    /// What went wrong, as `CoercionError.Code` spells it.
    public let code: String
    /// What the attribute asks for, in words.
    public let expected: String
    /// What was there, in words.
    public let found: String
    /// How many errors there are, in rejects and of values that became null.
    public let count: Int64
    /// The first of them, in source order.
    public let first: Place

    /// Creates one.
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
