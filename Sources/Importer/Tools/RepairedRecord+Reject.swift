import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

extension RepairedRecord {
    /// Creates a repaired record from JSON.
    ///
    /// - Parameters:
    ///   - record: the record; for a source with record paths, the value at the path, not the document around it.
    ///   - reject: the reject that it repairs.
    public init(_ record: JSONValue, of reject: StoreInspection.Reject) {
        self.init(json: record.serialized(), of: reject)
    }

    /// Creates a repaired record from a value, which is encoded as in an import of a program's own records.
    ///
    /// - Parameters:
    ///   - record: the record.
    ///   - reject: the reject that it repairs.
    /// - Throws: `EncodingError` for numbers that are not finite and dates outside of the years 1 to 9999; the errors of the value's own
    ///   encoding.
    public init(_ record: some Encodable, of reject: StoreInspection.Reject) throws {
        var line: [UInt8] = []
        try RecordEncoder.append(record, to: &line)
        self.init(json: String(decoding: line.dropLast(), as: UTF8.self), of: reject)
    }

    private init(json: String, of reject: StoreInspection.Reject) {
        self.init(json, reject: reject.number, job: reject.job, ordinal: reject.ordinal, key: reject.key)
    }
}
