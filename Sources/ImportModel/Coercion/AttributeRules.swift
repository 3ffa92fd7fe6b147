/// What the model says of an attribute beyond its type, made ready for many values.
final class AttributeRules: Sendable {
    private let isOptional: Bool
    private let coercion: TypedCoercion
    private let transformers: TransformerChain?
    private let validation: ValueValidation?

    /// True if the attribute needs more than its type.
    static func areNeeded(by attribute: AttributeDescription) -> Bool {
        attribute.type == .bitfield || !attribute.formats.isEmpty || attribute.timeZone != nil || attribute.isWallClock
            || attribute.ownForm != nil || attribute.fraction != 3 || !attribute.transformers.isEmpty
            || !attribute.validation.isEmpty
    }

    /// Makes the rules ready, and notes what is wrong with the description; rules that are wrong are left out.
    ///
    /// The validation is looked at only where all else is right, as it goes by it.
    init(
        _ attribute: AttributeDescription,
        transformers registry: TransformerRegistry,
        _ mistakes: inout [AttributeMistake]
    ) {
        // What has no value gets one that is made for it.
        isOptional = attribute.isOptional || attribute.isGenerated
        coercion = TypedCoercion(attribute, &mistakes)
        transformers = Self.chain(attribute.transformers, registry, &mistakes)
        validation =
            attribute.validation.isEmpty || !mistakes.isEmpty
            ? nil : ValueValidation(attribute.validation, of: coercion, &mistakes)
    }

    /// The rules for dates and bytes of Extended JSON.
    convenience init?(ofExtendedJSONFor attribute: AttributeDescription, transformers registry: TransformerRegistry) {
        let format = DateFormat.mongo.name
        guard attribute.type == .binary || attribute.type == .date && !attribute.formats.contains(format) else {
            return nil
        }
        var (attribute, mistakes) = (attribute, [AttributeMistake]())
        attribute.formats = [attribute.type == .date ? format : BinaryFormat.base64.rawValue]
        attribute.transformers = []
        self.init(attribute, transformers: registry, &mistakes)
    }

    private static func chain(
        _ names: [String],
        _ registry: TransformerRegistry,
        _ mistakes: inout [AttributeMistake]
    ) -> TransformerChain? {
        for (index, name) in names.enumerated() {
            do throws(UnknownTransformer) {
                _ = try TransformerChain([name], registry: registry)
            } catch {
                mistakes.append(AttributeMistake(key: .transform, inner: .index(index), message: "\(error)"))
            }
        }
        guard !names.isEmpty else { return nil }
        return try? TransformerChain(names, registry: registry)
    }

    func coerce(
        _ token: JSONToken,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        if token.kind == .null { return .null }
        var added = CoercionNotes(rawValue: 0)
        let value: CoercedValue
        if let transformers, token.kind == .string {
            value = try transform(token, transformers, scratch: &scratch, notes: &added)
        } else {
            value = try coercion.coerce(token, scratch: &scratch, notes: &added)
        }
        if case .null = value, !isOptional {
            throw CoercionError(code: .unexpectedNull, expected: coercion.type.rawValue, found: "value for null")
        }
        try validation?.check(value, scratch: scratch, kind: token.kind)
        notes.formUnion(added)
        return value
    }

    /// Transforms a string and coerces its result; allocates only where that is another text.
    private func transform(
        _ token: JSONToken,
        _ transformers: TransformerChain,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        guard token.hasEscapes else {
            return try transform(token.bytes, transformers, isBorrowed: true, scratch: &scratch, notes: &notes)
        }
        var text: [UInt8] = []
        if JSONUnescaper.append(token.bytes, to: &text) { notes.insert(.loneSurrogate) }
        return try text.withUnsafeBufferPointer { text throws(CoercionError) in
            try transform(ByteView(text), transformers, isBorrowed: false, scratch: &scratch, notes: &notes)
        }
    }

    /// - Parameter isBorrowed: whether `text` is a part of the record, so that a value may point to it.
    private func transform(
        _ text: ByteView,
        _ transformers: TransformerChain,
        isBorrowed: Bool,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        var changed: [UInt8] = []
        switch transformers.apply(text, to: &changed) {
        case .null:
            notes.insert(.transformed)
            return .null
        case .unchanged:
            let value = try coercion.coerce(JSONToken(kind: .string, bytes: text), scratch: &scratch, notes: &notes)
            return isBorrowed ? value : value.copied(to: &scratch)
        case .changed(let range):
            notes.insert(.transformed)
            return try changed.withUnsafeBufferPointer { changed throws(CoercionError) in
                let token = JSONToken(kind: .string, bytes: ByteView(changed)[range])
                return try coercion.coerce(token, scratch: &scratch, notes: &notes).copied(to: &scratch)
            }
        }
    }
}
