import ImportEngine
import ImportModel
import ImportSources

extension RepairedRecord {
    /// The JSON that is to be imported in place of a reject's record.
    ///
    /// - Parameters:
    ///   - record: the record; of a source with record paths, what is at the path, not the document around it.
    ///   - reject: what it repairs.
    public init(_ record: JSONValue, of reject: StoreInspection.Reject) {
        self.init(json: record.serialized(), of: reject)
    }

    /// The value that is to be imported in place of a reject's record, encoded as an import of a program's own records does it.
    ///
    /// - Parameters:
    ///   - record: the record.
    ///   - reject: what it repairs.
    /// - Throws: `EncodingError` for numbers that are not finite and dates outside of the years 1 to 9999; what the value's
    ///   own encoding throws.
    public init(_ record: some Encodable, of reject: StoreInspection.Reject) throws {
        var line: [UInt8] = []
        try RecordEncoder.append(record, to: &line)
        self.init(json: String(decoding: line.dropLast(), as: UTF8.self), of: reject)
    }

    private init(json: String, of reject: StoreInspection.Reject) {
        self.init(json, reject: reject.number, job: reject.job, ordinal: reject.ordinal, key: reject.key)
    }
}
