/// What coercion makes of a JSON value: a number, or where its text is.
@usableFromInline
package enum CoercedValue {
    case null
    case integer(Int64)
    case real(Double)
    /// Text that is a part of the token's own bytes, unchanged.
    case verbatim(ByteView)
    /// Text that had to be rewritten, at this range of the scratch bytes handed in.
    case scratch(Range<Int>)
    /// Bytes that are no text, at this range of the scratch bytes handed in.
    case blob(Range<Int>)

    /// The value with its text in `scratch`, for where the bytes that it is a part of do not last.
    func copied(to scratch: inout [UInt8]) -> CoercedValue {
        guard case .verbatim(let bytes) = self else { return self }
        let start = scratch.count
        scratch.append(contentsOf: bytes.buffer)
        return .scratch(start..<scratch.count)
    }
}
