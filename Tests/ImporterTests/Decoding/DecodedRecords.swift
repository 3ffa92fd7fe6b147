import ImportModel
import Importer

/// Records that a decoder has turned into rows, beside the bytes of their chunk: a line each, which is the source as well.
struct DecodedRecords {
    let chunk: [UInt8]
    private(set) var batch = RowBatch()

    init(_ records: [String], by decoder: inout RecordDecoder) {
        var bytes: [UInt8] = []
        let starts = records.map { record in
            defer { bytes += Array((record + "\n").utf8) }
            return bytes.count
        }
        chunk = bytes
        batch.reset(entities: Int(decoder.plan.index) + 1)
        let reader = RecordReader(maxDepth: 100)
        for (index, start) in starts.enumerated() {
            bytes.withUnsafeBufferPointer { buffer in
                let line = ByteView(buffer)[start..<start + records[index].utf8.count + 1]
                precondition(reader.read(line: line) == .record, "\(records[index]) is no JSON")
                reader.withTokens { tokens in
                    let input = RecordDecoder.Input(
                        line: line,
                        tokens: tokens,
                        lineOffset: start,
                        source: 0,
                        byteOffset: Int64(start),
                        ordinal: Int64(index + 1)
                    )
                    decoder.decode(input, into: &batch, laidOutIn: nil)
                }
            }
            batch.recordsRead[Int(decoder.plan.index)] += 1
        }
        decoder.flush(into: &batch)
    }

    /// The values of each row: of each attribute, nil where its record does not mention it.
    func rows(of plan: EntityPlan) -> [[String?]] {
        batch.rows.map { row in
            var next = row.firstCell
            return plan.attributes.indices.map { attribute in
                guard batch.isPresent(attribute, in: row) else { return nil }
                defer { next += 1 }
                return text(batch.cells[next])
            }
        }
    }

    private func text(_ cell: Cell) -> String {
        func slice(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
            bytes[cell.textOffset..<cell.textOffset + cell.textLength]
        }
        return switch cell.tag {
        case .null: "null"
        case .integer: "\(cell.integerValue)"
        case .real: "\(cell.realValue)"
        case .chunkText: "'" + String(decoding: slice(chunk), as: UTF8.self) + "'"
        case .batchText: "'" + String(decoding: slice(batch.bytes), as: UTF8.self) + "'"
        case .generatedText, .generatedBlob: "made"
        case .batchBlob: "\(Array(slice(batch.bytes)))"
        }
    }
}

extension EntityPlan {
    /// The plan of an entity `item` with these attributes, given as JSON.
    convenience init(
        attributes: String,
        identifier: [String] = [],
        onConflict: ConflictPolicy = .merge
    ) throws {
        let parts =
            identifier.isEmpty ? "" : "\"identifier\": [\(identifier.map { "\"\($0)\"" }.joined(separator: ", "))],"
        let model = "{\"entities\": {\"item\": {\"records\": \"$[*]\", \(parts) \"attributes\": {\(attributes)}}}}"
        let entity = try ModelDescription(parsing: Array(model.utf8)).entities[0]
        try self.init(entity: entity, index: 0, onConflict: onConflict)
    }
}
