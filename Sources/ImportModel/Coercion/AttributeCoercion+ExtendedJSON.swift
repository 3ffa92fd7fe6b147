/// Values of MongoDB's Extended JSON for an attribute.
extension AttributeCoercion {
    /// True if the attribute takes the value out of its object; otherwise the object is a value as any other.
    package func takes(_ value: ExtendedJSON) -> Bool {
        switch (value.kind, type) {
        case (_, .json), (_, .bitfield): false
        case (.null, _): true
        case (.date, .date): extended != nil
        case (.date, _): type == .string || isUntyped
        case (.uuidData, .uuid), (.uuidData, .string): true
        case (.data, .uuid): ExtendedJSON.bytes(of: value.token)?.count == 16
        case (.data, _), (.uuidData, _): type == .binary
        case (.text, _), (.uuid, _), (.integer, _), (.double, _), (.decimal, _):
            type != .binary || isUntyped
        }
    }

    /// Turns a value that the attribute takes into its type, as `coerce(_:scratch:notes:)` does, and notes `unwrapped`.
    package func coerce(
        _ value: ExtendedJSON,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        let coerced: CoercedValue
        switch value.kind {
        case .date where type == .date, .data where type == .binary, .uuidData where type == .binary:
            coerced =
                if let extended { try extended.coerce(value.token, scratch: &scratch, notes: &notes) } else {
                    try coerce(value.token, scratch: &scratch, notes: &notes)
                }
        case .date:
            coerced = try DateCoercion.mongo.coerce(value.token, scratch: &scratch, notes: &notes)
        case .data, .uuidData:
            coerced = try coerce(uuid: ExtendedJSON.bytes(of: value.token) ?? [], scratch: &scratch, notes: &notes)
        case .null, .text, .uuid, .integer, .double, .decimal:
            coerced = try coerce(value.token, scratch: &scratch, notes: &notes)
        }
        // The spelling is that of its object.
        if value.kind == .date { notes.remove(.respelled) }
        notes.insert(.unwrapped)
        return coerced
    }

    private func coerce(
        uuid bytes: [UInt8],
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        var text: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text += (byte < 16 ? "0" : "").utf8
            text += String(byte, radix: 16).utf8
        }
        return try text.withUnsafeBufferPointer { buffer throws(CoercionError) in
            let token = JSONToken(kind: .string, bytes: ByteView(buffer))
            return try coerce(token, scratch: &scratch, notes: &notes).copied(to: &scratch)
        }
    }
}
