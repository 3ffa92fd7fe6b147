import Foundation
import ImportModel
import Importer

/// A reject as `rejects --json` prints it.
struct RejectJSON: Encodable {
    let reject: StoreInspection.Reject
    /// True if the record's bytes are in it, as `record` where they are UTF-8 and else as `record_base64`.
    let showsRecord: Bool
    /// The line of its first byte in the source; nil where it was not looked for.
    var line: Int64?

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(reject.number, forKey: .number)
        try container.encode(reject.state, forKey: .state)
        try container.encode(reject.job, forKey: .job)
        try container.encode(reject.ordinal, forKey: .ordinal)
        try container.encode(reject.entity, forKey: .entity)
        try container.encode(reject.source, forKey: .source)
        try container.encodeIfPresent(line, forKey: .line)
        try container.encode(reject.byteOffset, forKey: .byteOffset)
        try container.encode(reject.length, forKey: .length)
        try container.encode(reject.errors.map(ErrorRecord.init), forKey: .errors)
        guard showsRecord else { return }
        if let text = String(validating: reject.record, as: UTF8.self) {
            try container.encode(text, forKey: .record)
        } else {
            try container.encode(Data(reject.record).base64EncodedString(), forKey: .recordBase64)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case number, state, job, ordinal, entity, source, line
        case byteOffset = "byte_offset"
        case length, errors, record
        case recordBase64 = "record_base64"
    }

    private struct ErrorRecord: Encodable {
        let keyPath: String
        let code: String
        let expected: String
        let found: String
        let byteOffset: Int64

        init(_ error: RecordError) {
            keyPath = error.keyPath
            code = error.code.rawValue
            expected = error.expected
            found = error.found
            byteOffset = error.byteOffset
        }

        enum CodingKeys: String, CodingKey {
            case keyPath = "key_path"
            case code, expected, found
            case byteOffset = "byte_offset"
        }
    }
}
