import ImportEngine
import ImportModel
import ImportSources

/// The row of a record that lacks what a new object must have, while nobody knows whether its object came before it, as the
/// store keeps it.
///
/// Merged into that object it is sound; where there is none, the record is a reject. What it lacks is not kept, as its values
/// say that.
enum IncompleteRecord {
    /// The values of a batch's row, and the errors of those that are null instead.
    ///
    /// What the identifier lacks is there as its default: who settles it may not be able to make that.
    static func encode(
        _ row: RowBatch.Row,
        of batch: borrowing RowBatch,
        _ plan: EntityPlan,
        chunk: [UInt8]
    ) -> [UInt8] {
        var numbers = LEB128Buffer()
        var next = row.firstCell
        for attribute in plan.attributes.indices {
            if batch.isPresent(attribute, in: row) {
                numbers.append(batch.cells[next], of: attribute, chunk: chunk, own: batch.bytes)
                next += 1
            } else if plan.identifier.contains(attribute) {
                numbers.append(plan.defaults[attribute], of: attribute, chunk: [], own: plan.defaultBytes)
            }
        }
        let reject = batch.insertRejects[Int(row.insertReject)]
        guard !reject.nulled.isEmpty else { return numbers.bytes }
        numbers.append(UInt64(plan.attributes.count))
        for (attribute, error) in zip(reject.nulled, reject.errors) {
            for text in [attribute, error.keyPath, error.code.rawValue, error.expected, error.found] {
                numbers.append(text.utf8)
            }
            numbers.appendSigned(error.byteOffset)
        }
        return numbers.bytes
    }

    /// Makes the values that were kept the only row of a batch.
    ///
    /// - Returns: false where another program has written something else.
    static func decode(_ content: [UInt8], _ plan: EntityPlan, into batch: inout RowBatch) -> Bool {
        var numbers = LEB128Buffer.Reader(content)
        return numbers.readRow(of: plan, into: &batch)
    }

    /// The errors of values that are null instead, with the names of their attributes, and then of those that are missing.
    ///
    /// - Returns: nil where another program has written something else.
    static func errors(
        _ content: [UInt8],
        _ plan: EntityPlan,
        byteOffset: Int64
    ) -> (nulled: [String], all: [RecordError])? {
        var (numbers, batch) = (LEB128Buffer.Reader(content), RowBatch())
        guard numbers.readRow(of: plan, into: &batch), var errors = numbers.nextErrors(of: plan) else { return nil }
        for attribute in plan.attributes.indices
        where plan.attributes[attribute].isRequired && !batch.isPresent(attribute, in: batch.rows[0]) {
            errors.all.append(plan.missing(attribute, byteOffset: byteOffset))
        }
        return errors
    }
}

extension LEB128Buffer {
    fileprivate mutating func append(_ cell: Cell, of attribute: Int, chunk: [UInt8], own: [UInt8]) {
        append(UInt64(attribute))
        // Where a text was does not matter any more.
        let tag = cell.tag == .chunkText ? Cell.Tag.batchText : cell.tag
        append(UInt64(tag.rawValue))
        switch cell.tag {
        case .null: break
        case .integer: appendSigned(cell.integerValue)
        case .real: append(cell.payload)
        case .chunkText: append(chunk[cell.textOffset..<cell.textOffset + cell.textLength])
        case .batchText, .batchBlob, .generatedText, .generatedBlob:
            append(own[cell.textOffset..<cell.textOffset + cell.textLength])
        }
    }
}

extension LEB128Buffer.Reader {
    /// Reads the cells up to the number that is no attribute's, or the end.
    fileprivate mutating func readRow(of plan: EntityPlan, into batch: inout RowBatch) -> Bool {
        batch.cells.removeAll(keepingCapacity: true)
        batch.bytes.removeAll(keepingCapacity: true)
        batch.rows.removeAll(keepingCapacity: true)
        batch.presence.removeAll(keepingCapacity: true)
        for _ in 0..<(plan.attributes.count + 63) / 64 { batch.presence.append(0) }
        var last = -1
        while bytesLeft > 0 {
            guard let number = next(), let attribute = Int(exactly: number) else { return false }
            if attribute == plan.attributes.count { break }
            guard attribute > last, attribute < plan.attributes.count, let cell = nextCell(into: &batch.bytes) else {
                return false
            }
            batch.cells.append(cell)
            batch.presence[attribute >> 6] |= 1 << UInt64(attribute & 63)
            last = attribute
        }
        let row = RowBatch.Row(
            entity: plan.index,
            parent: -1,
            ordinal: 0,
            firstCell: 0,
            firstPresenceWord: 0,
            insertReject: -1
        )
        batch.rows.append(row)
        // Each of them is looked up by.
        return plan.identifier.allSatisfy { batch.isPresent($0, in: row) }
    }

    /// - Parameter own: gets the bytes of a text or blob.
    private mutating func nextCell(into own: inout [UInt8]) -> Cell? {
        guard let tag = next().flatMap(UInt8.init(exactly:)).flatMap(Cell.Tag.init) else { return nil }
        switch tag {
        case .null: return .null
        case .integer: return nextSigned().map { .integer($0) }
        case .real: return next().map { .real(Double(bitPattern: $0)) }
        case .chunkText: return nil
        case .batchText, .batchBlob, .generatedText, .generatedBlob:
            guard let bytes = nextBytes() else { return nil }
            own += bytes
            return .text(tag, offset: own.count - bytes.count, length: bytes.count)
        }
    }

    fileprivate mutating func nextErrors(of plan: EntityPlan) -> (nulled: [String], all: [RecordError])? {
        var errors: (nulled: [String], all: [RecordError]) = ([], [])
        while bytesLeft > 0 {
            guard let attribute = nextText(), plan.entity.attributes.contains(where: { $0.name == attribute }),
                let keyPath = nextText(), let code = nextText().flatMap(CoercionError.Code.init),
                let expected = nextText(), let found = nextText(), let byteOffset = nextSigned()
            else { return nil }
            errors.nulled.append(attribute)
            errors.all.append(
                RecordError(
                    entity: plan.entity.name,
                    keyPath: keyPath,
                    code: code,
                    expected: expected,
                    found: found,
                    byteOffset: byteOffset
                )
            )
        }
        return errors
    }

    private mutating func nextText() -> String? { nextBytes().map { String(decoding: $0, as: UTF8.self) } }
}
