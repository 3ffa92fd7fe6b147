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
        var error = error
        error.byteOffset = byteOffset
        return error
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

extension PGError {
    /// True if it says that a row cannot be in its table: data exceptions, integrity constraints, limits of the server, and
    /// what a trigger raises (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
    var isAboutRow: Bool { ["22", "23", "P0"].contains(stateClass) || sqlState == "54000" }

    /// True if it is about the size of an entry of an index.
    ///
    /// The messages are `index row size 2712 exceeds btree version 4 maximum 2704 for index "a"`
    /// (`src/backend/access/nbtree/nbtutils.c`), `index row requires 8200 bytes, maximum size is 8191`
    /// (`src/backend/access/common/indextuple.c`); the server may have them in another language.
    private var isAboutIndex: Bool { message.contains("btree") || message.hasPrefix("index row") }

    /// What is wrong with the record of a row that was refused so, without a byte offset.
    func error(of entity: String, keyPath: String) -> ImportModel.RecordError {
        func error(_ code: CoercionError.Code, at keyPath: String, expected: String, found: String) -> RecordError {
            RecordError(
                entity: entity,
                keyPath: keyPath,
                code: code,
                expected: expected,
                found: found,
                byteOffset: 0
            )
        }
        guard sqlState == "54000" else {
            return error(
                .constraintViolation,
                at: keyPath,
                expected: RecordError.acceptedRow,
                found: messageWithoutValues
            )
        }
        guard isAboutIndex else {
            return error(.rowTooLarge, at: "", expected: "at most 8,160 bytes without long values", found: "row")
        }
        return error(.identifierTooLong, at: "", expected: "at most 2,704 bytes", found: "value")
    }
}
