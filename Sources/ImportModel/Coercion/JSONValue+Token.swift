extension JSONValue {
    /// Calls `body` with the value as it would be in a record.
    ///
    /// - Throws: `CoercionError` also where a number holds something that is none.
    func withToken<Result>(
        expecting type: AttributeType,
        _ body: (JSONToken) throws(CoercionError) -> Result
    ) throws(CoercionError) -> Result {
        let kind = kind
        return try Array(serialized().utf8).withUnsafeBufferPointer { buffer throws(CoercionError) in
            var bytes = ByteView(buffer)
            var hasEscapes = false
            switch kind {
            case .number where JSONNumber(bytes) == nil:
                // Someone made it from something that is not a number.
                throw CoercionError(code: .malformed, expected: type.rawValue, found: kind.name)
            case .string:
                bytes = bytes[1..<bytes.count - 1]
                hasEscapes = bytes.buffer.contains(UInt8(ascii: "\\"))
            default:
                break
            }
            return try body(JSONToken(kind: kind, bytes: bytes, hasEscapes: hasEscapes))
        }
    }
}
