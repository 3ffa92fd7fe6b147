import ImportModel

/// What is said of records that are not accepted, and where things are.
extension RecordDecoder {
    package func error(
        _ code: CoercionError.Code,
        at path: String,
        expected: String,
        found: String,
        _ token: Int,
        _ input: Input
    ) -> RecordError {
        RecordError(
            entity: plan.entity.name,
            keyPath: path,
            code: code,
            expected: expected,
            found: found,
            byteOffset: position(of: token, input)
        )
    }

    /// The source position of a value's first byte, a string's quote included; of a key that is not there the record's.
    package func position(of index: Int, _ input: Input) -> Int64 {
        let token = input.tokens[index]
        return input.byteOffset + Int64(max(Int(token.start) - (token.kind == .string ? 1 : 0), input.prefix))
    }

    /// A value's own bytes in the record's line, a string's quotes included.
    package func range(of index: Int, _ input: Input) -> Range<Int> {
        let token = input.tokens[index]
        let quotes = token.kind == .string ? 1 : 0
        return Int(token.start) - quotes..<Int(token.start) + Int(token.length) + quotes
    }

    package func bytes(of index: Int, _ input: Input) -> ByteView {
        input.line[range(of: index, input)]
    }

    package func place(_ input: Input) -> RowBatch.RecordLocation {
        let range = range(of: input.root, input)
        let identifier = plan.identifier.first.map { token(of: $0).token } ?? -1
        return RowBatch.RecordLocation(
            chunkOffset: input.lineOffset + range.lowerBound,
            keyedLineOffset: input.keys > 0 ? input.lineOffset : -1,
            prefix: input.prefix,
            byteOffset: position(of: input.root, input),
            length: range.count,
            identifierOffset: position(of: identifier < 0 ? input.root : identifier, input)
        )
    }

    package func reject(
        _ input: Input,
        errors: [RecordError],
        nulled: [String] = []
    ) -> RowBatch.Reject {
        let bytes = self.bytes(of: input.root, input)
        return RowBatch.Reject(
            entity: plan.index,
            ordinal: input.ordinal,
            byteOffset: position(of: input.root, input),
            length: Int64(bytes.count),
            errors: errors,
            nulled: nulled,
            bytes: Array(bytes.buffer),
            key: recordKey(input)
        )
    }

    /// The keys of a record, as `RecordKeys` has them.
    package func recordKey(_ input: Input) -> String? {
        RecordKeys.text(
            of: (0..<input.keys).map { input.tokens[2 * $0 + 1].json(in: input.line).text }
        )
    }
}
