/// What a chain of transformers makes of a text.
package enum TransformedText {
    /// The text as it was.
    case unchanged
    /// Another text, at this range of the scratch bytes handed in.
    case changed(Range<Int>)
    /// Null.
    case null
}

/// The transformers of one attribute, each of which takes what the one before it gave.
package struct TransformerChain: Sendable {
    private let transformers: [Transformer]

    /// The transformers with these names.
    ///
    /// - Throws: `UnknownTransformer` for the first name that is not in `registry`.
    package init(_ names: [String], registry: TransformerRegistry = .standard) throws(UnknownTransformer) {
        var transformers: [Transformer] = []
        for (index, name) in names.enumerated() {
            guard let transformer = registry.transformers[name] else {
                throw UnknownTransformer(name: name, index: index, known: registry.names)
            }
            transformers.append(transformer)
        }
        self.transformers = transformers
    }

    /// Transforms a text; once it is null the rest of the chain has nothing to do.
    ///
    /// - Parameters:
    ///   - text: valid UTF-8, not in `scratch`.
    ///   - scratch: gets the text if it becomes another; only appended to.
    package func apply(_ text: ByteView, to scratch: inout [UInt8]) -> TransformedText {
        var range = 0..<text.count
        for index in 0..<transformers.count {
            switch transformers[index].effect(on: text[range]) {
            case .none: break
            case .null: return .null
            case .part(let part): range = range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound
            case .bytes(let bytes): return apply(bytes, from: index + 1, original: text, to: &scratch)
            }
        }
        guard range != 0..<text.count else { return .unchanged }
        let start = scratch.count
        scratch.append(contentsOf: text[range].buffer)
        return .changed(start..<scratch.count)
    }

    /// The rest of the chain for a text that has been changed.
    private func apply(
        _ bytes: [UInt8],
        from first: Int,
        original: ByteView,
        to scratch: inout [UInt8]
    ) -> TransformedText {
        var bytes = bytes
        for index in first..<transformers.count {
            switch bytes.withUnsafeBufferPointer({ transformers[index].effect(on: ByteView($0)) }) {
            case .none: break
            case .null: return .null
            case .part(let part): bytes = Array(bytes[part])
            case .bytes(let next): bytes = next
            }
        }
        // One transformer may have undone what another did.
        guard !bytes.elementsEqual(original.buffer) else { return .unchanged }
        let start = scratch.count
        scratch.append(contentsOf: bytes)
        return .changed(start..<scratch.count)
    }
}
