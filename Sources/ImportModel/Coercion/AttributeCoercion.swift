/// An attribute made ready for coercing many values: its type, and what the model says beyond that.
///
/// Made once, used by any number of workers.
package struct AttributeCoercion: Sendable {
    package let type: AttributeType
    /// True if the type says it all: no transformers, no rules, dates in ISO 8601.
    ///
    /// Callers in a hurry keep this in a table of their own, and then ask the type themselves.
    package let isPlain: Bool
    /// True if a string without escapes is the value as it is.
    package let keepsTexts: Bool
    let isUntyped: Bool
    private let rules: AttributeRules?
    private let replacementOfNUL: TransformerRegistry.ReplacementOfNUL?
    /// Reads the dates and bytes of Extended JSON, whatever the format of other values; nil where the attribute has none of
    /// these, or reads its dates from such objects itself.
    let extended: AttributeRules?

    /// - Parameter transformers: those that the description may name.
    /// - Throws: `AttributeMistakes` with what is wrong, where nothing can be coerced by the description. A stored model
    ///   may have such mistakes too (`ModelDescription.init(stored:)`).
    package init(
        _ attribute: AttributeDescription,
        transformers: TransformerRegistry = .standard
    ) throws(AttributeMistakes) {
        type = attribute.type
        let hasTexts = [.string, .uri].contains(attribute.type)
        let isKept = !hasTexts || transformers.replacementOfNUL == .null && !attribute.isOptional
        replacementOfNUL = isKept ? nil : transformers.replacementOfNUL
        let needsRules = AttributeRules.areNeeded(by: attribute)
        isPlain = !needsRules && replacementOfNUL == nil
        isUntyped = attribute.isUntyped
        var unformatted = attribute
        unformatted.formats = []
        keepsTexts = attribute.type == .string && replacementOfNUL == nil && !AttributeRules.areNeeded(by: unformatted)
        var mistakes: [AttributeMistake] = []
        rules = needsRules ? AttributeRules(attribute, transformers: transformers, &mistakes) : nil
        guard mistakes.isEmpty else { throw AttributeMistakes(mistakes: mistakes) }
        extended = AttributeRules(ofExtendedJSONFor: attribute, transformers: transformers)
    }

    /// Turns a value into the attribute's type, and looks at what the model says beyond that.
    ///
    /// The parameters are those of `AttributeType.coerce(_:scratch:notes:)`.
    ///
    /// - Returns: `.null` also for a value that stands for nothing, where the attribute is optional.
    /// - Throws: `CoercionError` when the value does not fit.
    package func coerce(
        _ token: JSONToken,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        let value =
            if let rules { try rules.coerce(token, scratch: &scratch, notes: &notes) } else {
                try type.coerce(token, scratch: &scratch, notes: &notes)
            }
        // In JSON it is an escape, so that the text is not where it was.
        guard let replacementOfNUL, case .scratch(let range) = value, scratch[range].contains(0) else { return value }
        switch replacementOfNUL {
        case .null: return .null
        case .text:
            let start = scratch.count
            for index in range {
                let byte = scratch[index]
                if byte == 0 { scratch += "\u{FFFD}".utf8 } else { scratch.append(byte) }
            }
            return .scratch(start..<scratch.count)
        }
    }
}
