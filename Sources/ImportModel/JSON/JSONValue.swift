/// A JSON value in memory: members in their order, numbers as written.
public enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// The digits as written.
    case number(String)
    case string(String)
    case array([JSONValue])
    /// The members in their order, duplicates included.
    case object([Member])

    /// One member of an object.
    public struct Member: Sendable, Hashable {
        /// The key, without escapes.
        public let key: String
        /// The value under this key.
        public let value: JSONValue

        /// Creates a member.
        public init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }
    }
}
