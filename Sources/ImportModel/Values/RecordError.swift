/// One error of a record: what, at which key path, where in the source.
public struct RecordError: Error, Sendable, Hashable, Codable {
    /// The entity's name.
    public package(set) var entity: String
    /// Where the value is in its record (`address.city`); empty for the record itself.
    public package(set) var keyPath: String
    /// What went wrong.
    public package(set) var code: CoercionError.Code
    /// What the attribute asks for, in words.
    public package(set) var expected: String
    /// What was there, in words.
    public package(set) var found: String
    /// The value's first byte in the source, from 0, in decompressed bytes.
    public package(set) var byteOffset: Int64

    /// An error at a key path.
    public init(
        entity: String,
        keyPath: String,
        code: CoercionError.Code,
        expected: String,
        found: String,
        byteOffset: Int64
    ) {
        self.entity = entity
        self.keyPath = keyPath
        self.code = code
        self.expected = expected
        self.found = found
        self.byteOffset = byteOffset
    }
}
