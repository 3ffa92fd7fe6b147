/// An error of a record, with its key path and its position in the source.
public struct RecordError: Error, Sendable, Hashable, Codable {
    /// The entity's name.
    public package(set) var entity: String
    /// The key path of the value in its record (`address.city`); empty for the record itself.
    public package(set) var keyPath: String
    /// The code of the error.
    public package(set) var code: CoercionError.Code
    /// The value that the attribute expects, in words.
    public package(set) var expected: String
    /// The value that was found, in words.
    public package(set) var found: String
    /// The offset of the value in the source, in decompressed bytes from 0.
    public package(set) var byteOffset: Int64

    /// Creates an error at a key path.
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
