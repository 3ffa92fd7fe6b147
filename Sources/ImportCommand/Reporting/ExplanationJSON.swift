import Foundation
import Importer

/// An explanation as `explain --json` prints it.
struct ExplanationJSON: Encodable {
    private let entity: String
    private let table: String
    private let row: Int64
    private let job: Int64?
    private let records: [Origin]
    private let notes: [String]

    init(_ explanation: RowExplanation) {
        entity = explanation.entity
        table = explanation.table
        row = explanation.rowID
        job = explanation.insertedBy
        records = explanation.origins.map(Origin.init)
        notes = explanation.notes
    }

    private enum CodingKeys: String, CodingKey {
        case entity, table, row
        case job = "inserted_by"
        case records, notes
    }

    private struct Origin: Encodable {
        let origin: RecordOrigin

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(origin.job, forKey: .job)
            try container.encode(origin.ordinal, forKey: .ordinal)
            try container.encode(origin.source, forKey: .source)
            try container.encode(origin.line, forKey: .line)
            try container.encode(origin.bytes.lowerBound, forKey: .byteOffset)
            try container.encode(origin.bytes.count, forKey: .length)
            try container.encodeIfPresent(origin.chunk?.lowerBound, forKey: .chunkOffset)
            try container.encodeIfPresent(origin.chunk?.count, forKey: .chunkLength)
            try container.encode(origin.path, forKey: .path)
            try container.encode(origin.attributes, forKey: .attributes)
            try container.encode(origin.isRejected, forKey: .isRejected)
            guard let record = origin.record else { return }
            if let text = String(validating: record, as: UTF8.self) {
                try container.encode(text, forKey: .record)
            } else {
                try container.encode(Data(record).base64EncodedString(), forKey: .recordBase64)
            }
        }

        enum CodingKeys: String, CodingKey {
            case job, ordinal, source, line
            case byteOffset = "byte_offset"
            case length
            case chunkOffset = "chunk_offset"
            case chunkLength = "chunk_length"
            case path, attributes
            case isRejected = "is_rejected"
            case record
            case recordBase64 = "record_base64"
        }
    }
}
