import ImportModel
import ImportSources

extension RecordDecoder {
    /// The cell of a value that needs no more than a look; nil for all that takes longer.
    ///
    /// It is what `cell` comes to as well, which is for values that lose something, or do not fit, too.
    @inline(__always)
    func plainCell(_ token: RecordTape.Token, _ attribute: EntityPlan.Attribute, _ input: Input) -> Cell? {
        switch (attribute.shortcut, token.kind) {
        case (_, .null):
            return attribute.isOptional && !attribute.isGenerated ? .null : nil
        case (.string, .string):
            return token.hasEscapes ? nil : chunkText(token, input)
        case (.uuid, .string):
            return !token.hasEscapes && isLowercaseUUID(token.bytes(in: input.line)) ? chunkText(token, input) : nil
        case (.integer16, .number):
            return token.bytes(in: input.line).shortInteger.flatMap { Int16(exactly: $0) == nil ? nil : .integer($0) }
        case (.integer32, .number):
            return token.bytes(in: input.line).shortInteger.flatMap { Int32(exactly: $0) == nil ? nil : .integer($0) }
        case (.integer64, .number):
            return token.bytes(in: input.line).shortInteger.map { .integer($0) }
        case (.double, .number):
            return token.bytes(in: input.line).shortDecimal.map { .real($0) }
        case (.boolean, .boolean):
            return .integer(token.length == 4 ? 1 : 0)
        default:
            return nil
        }
    }

    @inline(__always)
    private func chunkText(_ token: RecordTape.Token, _ input: Input) -> Cell {
        .text(.chunkText, offset: input.lineOffset &+ Int(token.start), length: Int(token.length))
    }

    /// What the record says of an attribute.
    @inline(never)
    package mutating func cell(
        _ attribute: Int,
        token index: Int,
        slot: Int,
        input: Input,
        batch: inout RowBatch
    ) -> Cell {
        if isLossless, scratch.repeated[slot] == generation {
            let (path, expected) = (plan.slotPaths[slot], plan.attributes[attribute].type.rawValue)
            let error = error(.lossy, at: path, expected: expected, found: Self.repeatedKey, index, input)
            return misfit(error, attribute, input, &batch)
        }
        let token = input.tokens[index]
        if token.kind == .null { return nullCell(attribute, slot: slot, index, input, &batch) }
        let json = token.json(in: input.line)
        if token.kind == .string, !nullTexts.isEmpty,
            NullTexts.contains(nullTexts[attribute], json.bytes, hasEscapes: json.hasEscapes)
        {
            note(.nullText, attribute)
            return nullCell(attribute, slot: slot, index, input, &batch)
        }
        if token.kind == .object || token.kind == .array {
            return cell(attribute, container: json, isInChunk: true, slot: slot, index, input, &batch)
        }
        return cell(attribute, json, isInChunk: true, slot: slot, index, input, &batch)
    }

    /// The cell of an object or array, which may be a value of Extended JSON.
    @inline(never)
    private mutating func cell(
        _ attribute: Int,
        container json: JSONToken,
        isInChunk: Bool,
        slot: Int,
        _ index: Int,
        _ input: Input,
        _ batch: inout RowBatch
    ) -> Cell {
        if json.hasEscapes {
            // Nearly JSON: of what is made of it no byte is in the chunk.
            var bytes: [UInt8] = []
            JSONMinify.appendLenient(json.bytes, to: &bytes)
            return bytes.withUnsafeBufferPointer { buffer in
                let json = JSONToken(kind: json.kind, bytes: ByteView(buffer))
                return cell(attribute, container: json, isInChunk: false, slot: slot, index, input, &batch)
            }
        }
        if unwraps, json.kind == .object, let value = ExtendedJSON(json.bytes), plan.coercions[attribute].takes(value) {
            if value.kind == .null {
                if value.isNotFinite, isLossless {
                    let (path, expected) = (plan.slotPaths[slot], plan.attributes[attribute].type.rawValue)
                    let error = error(.lossy, at: path, expected: expected, found: "no finite number", index, input)
                    return misfit(error, attribute, input, &batch)
                }
                note(value.isNotFinite ? [.unwrapped, .notFinite] : .unwrapped, attribute)
                return nullCell(attribute, slot: slot, index, input, &batch)
            }
            return cell(attribute, value.token, value, isInChunk: isInChunk, slot: slot, index, input, &batch)
        }
        return cell(attribute, json, isInChunk: isInChunk, slot: slot, index, input, &batch)
    }

    /// Counts something that a value has lost or changed, unless its record becomes a reject.
    private mutating func note(_ notes: CoercionNotes, _ attribute: Int) {
        scratch.notes[noteCount] = RecordScratch.Note(notes: notes, attribute: Int32(truncatingIfNeeded: attribute))
        noteCount &+= 1
    }

    /// The cell of an attribute for which the record has a null.
    mutating func nullCell(
        _ attribute: Int,
        slot: Int,
        _ index: Int,
        _ input: Input,
        _ batch: inout RowBatch
    ) -> Cell {
        if plan.attributes[attribute].isGenerated { return generatedCell(attribute, input, &batch.bytes) }
        if !plan.attributes[attribute].isOptional {
            let (path, expected) = (plan.slotPaths[slot], plan.attributes[attribute].type.rawValue)
            // A nested object without identifier has none, whether it says so or not; it may be told by its index.
            let isKey = ownerContext != nil && plan.identifier.contains(attribute)
            if isKey, ownerContext?.isPositional == true { return .null }
            let code: CoercionError.Code = isKey ? .missingValue : .unexpectedNull
            errors.append(error(code, at: path, expected: expected, found: "null", index, input))
        }
        return .null
    }

    /// The cell of an attribute that reads one of `retriedKeys`.
    package mutating func keyCell(
        _ attribute: Int,
        slot: Int,
        input: Input,
        batch: inout RowBatch
    ) -> Cell {
        // As a token it is between its quotes, which are part of the value where that is JSON.
        let level = plan.outerKeySlots.first { $0.slot == slot }?.level ?? 0
        let text = Array(JSONValue.string(retriedKeys[level]).serialized().utf8)
        return text.withUnsafeBufferPointer { buffer in
            let bytes = ByteView(buffer)[1..<text.count - 1]
            let hasEscapes = bytes.buffer.contains(UInt8(ascii: "\\"))
            let token = JSONToken(kind: .string, bytes: bytes, hasEscapes: hasEscapes)
            return cell(attribute, token, isInChunk: false, slot: slot, input.root, input, &batch)
        }
    }

    /// The cell of an attribute that reads the index of the object in its list.
    mutating func indexCell(_ attribute: Int, input: Input, batch: inout RowBatch) -> Cell {
        let text = Array("\(ownerContext?.index ?? 0)".utf8)
        return text.withUnsafeBufferPointer { buffer in
            let token = JSONToken(kind: .number, bytes: ByteView(buffer), hasEscapes: false)
            return cell(attribute, token, isInChunk: false, slot: plan.indexSlot, input.root, input, &batch)
        }
    }

    /// The cell of an attribute that reads one of the object around.
    func parentCell(_ slot: Int) -> Cell { ownerContext?.values[slot] ?? .null }

    /// What a value that is not null comes to.
    ///
    /// - Parameters:
    ///   - extended: what it is in Extended JSON, where it was in an object.
    ///   - isInChunk: whether the token's bytes are those of the record's line, so that a text may stay where it is.
    ///   - index: the token by which an error says where it is.
    @inline(__always)
    private mutating func cell(
        _ attribute: Int,
        _ token: JSONToken,
        _ extended: ExtendedJSON? = nil,
        isInChunk: Bool,
        slot: Int,
        _ index: Int,
        _ input: Input,
        _ batch: inout RowBatch
    ) -> Cell {
        let type = plan.attributes[attribute].type
        var notes: CoercionNotes = []
        do throws(CoercionError) {
            let value =
                if let extended {
                    try plan.coercions[attribute].coerce(extended, scratch: &batch.bytes, notes: &notes)
                } else if plan.attributes[attribute].isPlain {
                    try type.coerce(token, scratch: &batch.bytes, notes: &notes)
                } else {
                    try plan.coercions[attribute].coerce(token, scratch: &batch.bytes, notes: &notes)
                }
            if !notes.isEmpty {
                if !unwraps, notes.contains(.notFinite) {
                    throw CoercionError(code: .wrongForm, expected: type.rawValue, found: token.kind.name)
                }
                // Keys that have lost digits are those of other objects.
                let lost = notes.intersection([.digitsLost, .subMillisecondLost])
                let refused = isLossless ? notes : plan.identifier.contains(attribute) ? lost : []
                if !refused.isEmpty, let loss = refused.ledgerKinds.first(where: \.isLoss) {
                    let found = loss.found(in: token.kind, type)
                    let (path, expected) = (plan.slotPaths[slot], type.rawValue)
                    let error = error(.lossy, at: path, expected: expected, found: found, index, input)
                    return misfit(error, attribute, input, &batch)
                }
                note(notes, attribute)
            }
            switch value {
            case .null: return nullCell(attribute, slot: slot, index, input, &batch)
            case .integer(let number): return .integer(number)
            case .real(let number): return .real(number)
            case .verbatim(let text) where isInChunk:
                return .text(
                    .chunkText,
                    offset: input.lineOffset + (text.base - input.line.base),
                    length: text.count
                )
            case .verbatim(let text):
                batch.bytes += text.buffer
                return .text(.batchText, offset: batch.bytes.count - text.count, length: text.count)
            case .scratch(let range): return .text(.batchText, offset: range.lowerBound, length: range.count)
            case .blob(let range): return .text(.batchBlob, offset: range.lowerBound, length: range.count)
            }
        } catch {
            let cell = misfit(recordError(error, slot, index, input), attribute, input, &batch)
            // A value that becomes null is one error in all counts.
            if onError == .null, plan.attributes[attribute].isOptional { return cell }
            for other in error.others { errors.append(recordError(other, slot, index, input)) }
            return cell
        }
    }

    /// An error of a value, with its key path and byte offset.
    private func recordError(
        _ error: CoercionError,
        _ slot: Int,
        _ index: Int,
        _ input: Input
    ) -> RecordError {
        let path = error.keyPath(at: plan.slotPaths[slot])
        return self.error(error.code, at: path, expected: error.expected, found: error.found, index, input)
    }

    /// Notes that a value does not fit: it is null where that is wanted and may be, and else its record is rejected.
    ///
    /// - Returns: what replaces it, which is made where the attribute is generated.
    private mutating func misfit(
        _ error: RecordError,
        _ attribute: Int,
        _ input: Input,
        _ batch: inout RowBatch
    ) -> Cell {
        errors.append(error)
        guard onError == .null, plan.attributes[attribute].isOptional else { return .null }
        nulled.append(attribute)
        return plan.attributes[attribute].isGenerated ? generatedCell(attribute, input, &batch.bytes) : .null
    }

    /// A UUID for an object whose record has no value for it.
    func generatedCell(
        _ attribute: Int,
        _ input: Input,
        _ bytes: inout [UInt8]
    ) -> Cell {
        let offset = bytes.count
        identifiers.append(
            attribute,
            source: origin?.source ?? input.source,
            byteOffset: origin?.byteOffset ?? position(of: input.root, input),
            record: self.bytes(of: input.root, input),
            to: &bytes
        )
        let length = bytes.count - offset
        return .text(length == 16 ? .generatedBlob : .generatedText, offset: offset, length: length)
    }
}

extension LedgerKind {
    /// What a value was that lost something, in words.
    fileprivate func found(in kind: JSONKind, _ type: AttributeType) -> String {
        switch self {
        case .digitsLost: "\(kind.name) with more digits than \(type == .decimal ? "double" : type.rawValue) holds"
        case .timeZoneLost: "date with an offset"
        case .subMillisecondLost: "date with more digits of a second"
        case .loneSurrogate: "string with a lone surrogate"
        default: kind.name
        }
    }
}
