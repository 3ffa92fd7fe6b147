extension AttributeDescription {
    /// Turns a value into this attribute's type, just as an import does.
    ///
    /// - Parameters:
    ///   - value: as a record has it.
    ///   - transformers: those that the description may name.
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
