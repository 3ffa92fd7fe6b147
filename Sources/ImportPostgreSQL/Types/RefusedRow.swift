import ImportModel

/// A row that the server has refused, so that its record is a reject.
struct RefusedRow: Error, Sendable, Hashable {
    /// The record's number in the job, from 1.
    let ordinal: Int64
    /// The attribute that it is about, by its index in the entity; nil where the server names none.
    var attribute: Int?
    /// Without a byte offset: see `error(at:)`.
    let error: ImportModel.RecordError

    /// What is wrong, and where in the source.
    func error(at byteOffset: Int64) -> ImportModel.RecordError {
        RecordError(
            entity: error.entity,
            keyPath: error.keyPath,
            code: error.code,
            expected: error.expected,
            found: error.found,
            byteOffset: byteOffset
        )
    }
}

/// The rows of a chunk that the server has refused.
struct RefusedRows: Sendable {
    private var rows: [Int64: RefusedRow] = [:]

    mutating func add(_ row: RefusedRow) {
        rows[row.ordinal] = row
    }

    /// The row of a record; nil where it was not refused.
    subscript(ordinal: Int64) -> RefusedRow? { rows.isEmpty ? nil : rows[ordinal] }
}
