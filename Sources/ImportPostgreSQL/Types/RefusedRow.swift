import ImportModel

/// A row that the server has refused, so that its record is a reject.
struct RefusedRow: Error, Sendable, Hashable {
    /// The record's number in the job, from 1.
    let ordinal: Int64
    /// Without a byte offset, which is the record's: see `RefusedRows.error(of:byteOffset:)`.
    let error: ImportModel.RecordError
}

/// The rows of a chunk that the server has refused.
struct RefusedRows: Sendable {
    private var errors: [Int64: ImportModel.RecordError] = [:]

    var isEmpty: Bool { errors.isEmpty }

    mutating func add(_ row: RefusedRow) {
        errors[row.ordinal] = row.error
    }

    /// What is wrong with a record; nil for nothing.
    subscript(ordinal: Int64) -> ImportModel.RecordError? { errors.isEmpty ? nil : errors[ordinal] }

    /// What is wrong with a record that begins at a byte of the source; nil for nothing.
    func error(of ordinal: Int64, byteOffset: Int64) -> ImportModel.RecordError? {
        self[ordinal].map {
            RecordError(
                entity: $0.entity,
                keyPath: $0.keyPath,
                code: $0.code,
                expected: $0.expected,
                found: $0.found,
                byteOffset: byteOffset
            )
        }
    }
}
