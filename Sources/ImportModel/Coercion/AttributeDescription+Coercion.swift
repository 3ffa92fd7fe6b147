extension AttributeDescription {
    /// Coerces a value to this attribute's type, as an import does.
    ///
    /// - Parameters:
    ///   - value: the value of a record.
    ///   - transformers: the transformers that the description may name.
    /// - Throws: `CoercionError` when the value does not fit, also for null if the attribute is not optional; for every value, if the
    ///   description has a mistake that a model file may not have, such as an invalid pattern.
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
            let result: CoercedValue
            if token.kind == .object, let value = ExtendedJSON(token.bytes), coercion.takes(value) {
                result = try coercion.coerce(value, scratch: &scratch, notes: &notes)
            } else {
                result = try coercion.coerce(token, scratch: &scratch, notes: &notes)
            }
            if case .null = result, !isOptional {
                throw CoercionError(code: .unexpectedNull, expected: type.rawValue, found: JSONKind.null.name)
            }
            let coerced: CoercedJSON
            switch result {
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
