/// A value as the store keeps it.
public enum CoercedJSON: Sendable, Hashable {
    /// NULL.
    case null
    /// INTEGER: integers, booleans and bitfields; dates that are stored as numbers.
    case integer(Int64)
    /// REAL: floats and doubles.
    case real(Double)
    /// TEXT: everything else, in its canonical form.
    case text(String)
    /// BLOB: binaries.
    case blob([UInt8])
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
    /// - Parameter transformers: those that the description may name.
    /// - Throws: `CoercionError` when the value does not fit, also for null where the attribute is not optional; when
    ///   the description has a mistake that a model file may not have (a pattern that is none, say), for every value.
    public func coerce(
        _ value: JSONValue,
        transformers: TransformerRegistry = .standard
    ) throws(CoercionError) -> CoercionResult {
        let coercion: AttributeCoercion
        do throws(AttributeMistakes) {
            coercion = try AttributeCoercion(self, transformers: transformers)
        } catch {
            throw CoercionError(code: .wrongForm, expected: "a description without mistakes", found: "\(error)")
        }
        if value == .null, !isOptional {
            throw CoercionError(code: .unexpectedNull, expected: type.rawValue, found: JSONKind.null.name)
        }
        return try value.withToken(expecting: type) { token throws(CoercionError) in
            var scratch: [UInt8] = []
            var notes: CoercionNotes = []
            let coerced: CoercedJSON
            switch try coercion.coerce(token, scratch: &scratch, notes: &notes) {
            case .null: coerced = .null
            case .integer(let value): coerced = .integer(value)
            case .real(let value): coerced = .real(value)
            case .verbatim(let bytes): coerced = .text(String(decoding: bytes.buffer, as: UTF8.self))
            case .scratch(let range): coerced = .text(String(decoding: scratch[range], as: UTF8.self))
            case .blob(let range): coerced = .blob(Array(scratch[range]))
            }
            return CoercionResult(value: coerced, ledger: notes.ledgerKinds)
        }
    }
}

extension JSONValue {
    /// Calls `body` with the value as it would stand in a record.
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
            case .number where NumberForm(bytes) == nil:
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
