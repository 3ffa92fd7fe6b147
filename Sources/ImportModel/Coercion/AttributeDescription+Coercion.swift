/// A value as the store keeps it.
public enum CoercedJSON: Sendable, Hashable {
    /// NULL.
    case null
    /// INTEGER: integers and booleans.
    case integer(Int64)
    /// REAL: doubles.
    case real(Double)
    /// TEXT: everything else, in its canonical form.
    case text(String)
}

/// What became of a value, and what that changed.
public struct CoercionResult: Sendable, Hashable {
    /// The value as the store keeps it.
    public let value: CoercedJSON
    /// What the ledger counts for it.
    public let ledger: [LedgerKind]
}

extension AttributeDescription {
    /// Turns a value into this attribute's type, just as an import does.
    ///
    /// - Throws: `CoercionError` when the value does not fit, also for null where the attribute is not optional.
    public func coerce(_ value: JSONValue) throws(CoercionError) -> CoercionResult {
        let kind = value.kind
        if kind == .null, !isOptional {
            throw CoercionError(code: .unexpectedNull, expected: type.rawValue, found: kind.name)
        }
        let text = Array(value.serialized().utf8)
        var scratch: [UInt8] = []
        var notes: CoercionNotes = []
        let coerced = try text.withUnsafeBufferPointer { buffer throws(CoercionError) -> CoercedJSON in
            var bytes = ByteView(buffer)
            var hasEscapes = false
            switch kind {
            case .number where NumberForm(bytes) == nil:
                // Someone made it from something that is not a number.
                throw CoercionError(code: .malformed, expected: type.rawValue, found: kind.name)
            case .string:
                bytes = bytes[1..<bytes.count - 1]
                hasEscapes = bytes.buffer.contains(UInt8(ascii: "\\"))
            default:
                break
            }
            let token = JSONToken(kind: kind, bytes: bytes, hasEscapes: hasEscapes)
            switch try type.coerce(token, scratch: &scratch, notes: &notes) {
            case .null: return .null
            case .integer(let value): return .integer(value)
            case .real(let value): return .real(value)
            case .verbatim(let bytes): return .text(String(decoding: bytes.buffer, as: UTF8.self))
            case .scratch(let range): return .text(String(decoding: scratch[range], as: UTF8.self))
            }
        }
        return CoercionResult(value: coerced, ledger: notes.ledgerKinds)
    }
}

extension JSONValue {
    /// Which kind of JSON value it is.
    public var kind: JSONKind {
        switch self {
        case .null: .null
        case .boolean: .boolean
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }
}
